//! A program with all that it starts: a process group that is killed at its end.

use rustix::process::{Pid, Signal, kill_process_group};

/// A process group. Dropping it kills whatever is left of it.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// That of the program with this id, which was started as the leader of one
    /// (`process_group(0)`).
    pub fn of(id: Option<u32>) -> Group {
        Group(id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// Kills it, once.
    pub fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            // Where it is gone already there is nothing to kill.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
