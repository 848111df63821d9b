//! A program with all that it starts: a process group that is killed at its end.

use std::collections::BTreeSet;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::confine::ask_to_end;

/// The groups that have not been killed yet, for [`end_all`].
static LIVE: Mutex<BTreeSet<(i32, End)>> = Mutex::new(BTreeSet::new());

/// A process group. Dropping it kills whatever is left of it.
#[derive(Debug)]
pub struct Group(Option<(Pid, End)>);

/// How a group is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// All its processes are killed.
    Killed,
    /// Its leader is a keeper, which ends all others when it is asked to.
    Asked,
}

impl Group {
    /// That of the program with this id, which was started as the leader of one
    /// (`process_group(0)`).
    pub fn of(id: Option<u32>) -> Group {
        Group::ending(id, End::Killed)
    }

    /// That of a keeper ([`crate::confine`]), which is the leader of one.
    pub(crate) fn of_keeper(id: Option<u32>) -> Group {
        Group::ending(id, End::Asked)
    }

    fn ending(id: Option<u32>, end: End) -> Group {
        let leader = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        live().extend(leader.map(|leader| (leader.as_raw_pid(), end)));
        Group(leader.map(|leader| (leader, end)))
    }

    /// Kills it, once.
    pub fn kill(&mut self) {
        if let Some((group, end)) = self.0.take() {
            live().remove(&(group.as_raw_pid(), end));
            kill(group, end);
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
    for (group, end) in std::mem::take(&mut *live()) {
        Pid::from_raw(group).into_iter().for_each(|group| kill(group, end));
    }
}

fn kill(group: Pid, end: End) {
    match end {
        // Where it is gone already there is nothing to kill.
        End::Killed => drop(kill_process_group(group, Signal::KILL)),
        End::Asked => ask_to_end(group),
    }
}

fn live() -> MutexGuard<'static, BTreeSet<(i32, End)>> {
    LIVE.lock()
}
