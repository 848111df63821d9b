//! A program with all that it starts: a process group that is killed at its end.

use std::collections::BTreeSet;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal, kill_process_group};

/// The groups that have not been killed yet, for [`end_all`].
static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A process group. Dropping it kills whatever is left of it.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// That of the program with this id, which was started as the leader of one
    /// (`process_group(0)`).
    pub fn of(id: Option<u32>) -> Group {
        let leader = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        live().extend(leader.map(Pid::as_raw_pid));
        Group(leader)
    }

    /// Kills it, once.
    pub fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            live().remove(&group.as_raw_pid());
            kill(group);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills all groups at once, for a program that is about to end in the midst of what it does.
pub fn end_all() {
    std::mem::take(&mut *live()).into_iter().filter_map(Pid::from_raw).for_each(kill);
}

fn kill(group: Pid) {
    // Where it is gone already there is nothing to kill.
    let _ = kill_process_group(group, Signal::KILL);
}

fn live() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVE.lock()
}
