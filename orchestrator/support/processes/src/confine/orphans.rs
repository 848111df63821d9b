//! Ending all that a program has left behind, where there is no namespace of processes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// How long processes may take to end that were killed.
const WITHIN: Duration = Duration::from_secs(10);

/// Kills everything below this process, which is their reaper, and waits until nothing is left, or
/// for [`WITHIN`]: a process that waits for a device does not end. `wait_for_child` waits until a
/// child has ended, for so long at most.
pub(super) fn end(wait_for_child: impl Fn(Duration) -> io::Result<()>) {
    let deadline = Instant::now() + WITHIN;
    loop {
        for process in below(getpid()) {
            // It may have ended since.
            let _ = kill_process(process, Signal::KILL);
        }
        // What is below one that has ended is now ours.
        while let Some(left) = wait(WaitOptions::NOHANG).transpose() {
            if left.is_err() {
                // There is no child any more.
                return;
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || wait_for_child(left).is_err() {
            return;
        }
    }
}

/// The processes below one, by the parents of all.
fn below(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        // `id (name) state parent ...`; the name may hold anything.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some(rest) = stat.rsplit_once(')').map(|(_, rest)| rest) else { continue };
        let Some(parent) = rest.split_whitespace().nth(1).and_then(|parent| parent.parse().ok())
        else {
            continue;
        };
        children.entry(parent).or_default().push(id);
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.extend(Pid::from_raw(child));
            open.push(child);
        }
    }
    found
}
