//! A program with all that it starts: a process group that is killed at its end.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
    test_kill_process,
};

/// The groups that have not been killed yet, by their leaders, for [`end_all`].
static LIVE: Mutex<BTreeMap<i32, End>> = Mutex::new(BTreeMap::new());

/// A process group. Dropping it kills whatever is left of it.
#[derive(Debug)]
pub struct Group(Option<(Pid, End)>);

/// How a group is ended.
#[derive(Debug, Clone)]
enum End {
    /// All its processes are killed.
    Killed,
    /// Its leader is a keeper, which ends all others when it is asked to. By this handle no other
    /// process is asked that has its id by then. It is absent where there was none to be had.
    Asked(Option<Arc<OwnedFd>>),
}

impl Group {
    /// That of the program with this id, which was started as the leader of one
    /// (`process_group(0)`).
    pub fn of(id: Option<u32>) -> Group {
        Group::ending(id, |_| End::Killed)
    }

    /// That of a keeper ([`crate::confine`]), which is the leader of one.
    pub(crate) fn of_keeper(id: Option<u32>) -> Group {
        Group::ending(id, |keeper| {
            End::Asked(pidfd_open(keeper, PidfdFlags::empty()).ok().map(Arc::new))
        })
    }

    fn ending(id: Option<u32>, end: impl FnOnce(Pid) -> End) -> Group {
        let leader = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let leader = leader.map(|leader| (leader, end(leader)));
        live().extend(leader.iter().map(|(leader, end)| (leader.as_raw_pid(), end.clone())));
        Group(leader)
    }

    /// Kills it, once.
    pub fn kill(&mut self) {
        if let Some((group, end)) = self.0.take() {
            live().remove(&group.as_raw_pid());
            kill(group, &end);
        }
    }

    /// Kills what is left of it, once, where its leader has been reaped.
    pub(crate) fn kill_rest(&mut self) {
        if let Some((leader, _)) = self.0.take() {
            live().remove(&leader.as_raw_pid());
            kill_rest_of(leader);
        }
    }
}

/// Kills what is left of a group whose leader has been reaped. Its id names the group for as long
/// as a process is in it, but may have become that of another program, which is left alone.
pub(crate) fn kill_rest_of(leader: Pid) {
    if test_kill_process(leader) == Err(rustix::io::Errno::SRCH) {
        // Mostly there is nothing left.
        let _ = kill_process_group(leader, Signal::KILL);
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
        Pid::from_raw(group).into_iter().for_each(|group| kill(group, &end));
    }
}

fn kill(group: Pid, end: &End) {
    // Where it is gone already there is nothing to end.
    let _ = match end {
        End::Killed => kill_process_group(group, Signal::KILL),
        End::Asked(Some(keeper)) => pidfd_send_signal(keeper, Signal::TERM),
        End::Asked(None) => kill_process(group, Signal::TERM),
    };
}

fn live() -> MutexGuard<'static, BTreeMap<i32, End>> {
    LIVE.lock()
}
