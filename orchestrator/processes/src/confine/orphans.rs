//! Ending all that a program has left behind, where there is no namespace of processes.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// How long processes may take to end that were killed.
const WITHIN: Duration = Duration::from_secs(10);

/// Kills everything below this process, which is their reaper, and waits until nothing is left.
pub(super) fn end() {
    let end = Instant::now() + WITHIN;
    while Instant::now() < end {
        let below = below(getpid());
        for process in &below {
            // It may have ended since.
            let _ = kill_process(*process, Signal::KILL);
        }
        match wait(if below.is_empty() { WaitOptions::NOHANG } else { WaitOptions::empty() }) {
            Ok(Some(_)) => {}
            Ok(None) if !below.is_empty() => {}
            // There is no child any more.
            Ok(None) | Err(_) => return,
        }
    }
}

/// The processes below one, by the parents of all.
fn below(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // `id (name) state parent ...`; the name may hold anything.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some(rest) = stat.rsplit_once(')').map(|(_, rest)| rest) else { continue };
        let Some(parent) = rest.split_whitespace().nth(1).and_then(|parent| parent.parse().ok()) else {
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
