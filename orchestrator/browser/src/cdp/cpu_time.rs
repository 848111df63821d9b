//! The CPU time of processes and threads, as the machine's kernel counts it.

use std::fs;
use std::path::Path;

/// The CPU time of a process, in nanoseconds; 0 for one that has ended.
pub(crate) fn of_process(id: u64) -> u64 {
    let threads = fs::read_dir(format!("/proc/{id}/task"));
    threads.into_iter().flatten().flatten().map(|thread| of_thread(&thread.path())).sum()
}

/// The CPU time of a thread by its folder in `/proc`, in nanoseconds; 0 for one that has ended.
pub(crate) fn of_thread(thread: &Path) -> u64 {
    let times = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    times.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or_default()
}
