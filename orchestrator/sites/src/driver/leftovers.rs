//! Detects and removes what an episode leaves in a container outside its state: temporary files and
//! new processes.
//!
//! When the instance becomes ready, a snapshot records both. A restore puts the temporary files
//! back. A process of a program that did not run at the snapshot is drift, unless it ends within a
//! moment. A process of a program that did run may be a worker of the application, and is allowed.
//!
//! Both are accessed through the container's first process: `/proc/PID/root`, and its control group
//! or PID namespace. This needs root or the container's own user. Without access, nothing is
//! restored.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::time::{Instant, interval};

use super::members::Members;
use crate::Error;
use crate::content::blocking;
use crate::owner::start_of;
use crate::state::{Access, Temporary};

/// In-memory folders that every container of ours has.
const FOLDERS: [&str; 2] = ["tmp", "run"];
/// How long an ending process may take to exit after the restore.
const ENDS_WITHIN: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A snapshot of a container, taken when it became ready.
#[derive(Debug, Clone)]
pub(super) struct Leftovers {
    /// The container's first process and its start time, because the process id may be reused.
    first: (u32, u64),
    members: Members,
    programs: BTreeSet<String>,
    temporary: Vec<Temporary>,
}

impl Leftovers {
    /// Takes the snapshot. `kept` is a folder for copies of temporary files. Returns `None` without
    /// access.
    pub(super) fn remember(pid: u32, kept: &Utf8Path, access: Access) -> Option<Leftovers> {
        let first = (pid, start_of(pid)?);
        let members = Members::of(pid)?;
        let programs = members.processes().into_iter().map(|(_, program)| program).collect();
        let root = Utf8PathBuf::from(format!("/proc/{pid}/root"));
        let remember =
            |name: &&str| Temporary::remember(&root, name, &kept.join(name), access).ok().flatten();
        let temporary = FOLDERS.iter().filter_map(remember).collect();
        // If the process still runs, everything opened above belongs to this container.
        (start_of(pid)? == first.1).then_some(Leftovers { first, members, programs, temporary })
    }

    /// Restores temporary files. Returns the leftover process, if there is one.
    pub(super) async fn put_back(&self) -> Result<Option<String>, Error> {
        let own = self.clone();
        blocking(move || own.temporary.iter().try_for_each(|folder| Ok(folder.restore()?))).await?;
        let deadline = Instant::now() + ENDS_WITHIN;
        let mut polls = interval(POLL_INTERVAL);
        loop {
            polls.tick().await;
            match self.left_over() {
                Some(process) if Instant::now() > deadline => return Ok(Some(process)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    fn left_over(&self) -> Option<String> {
        // The end of a container is reported elsewhere.
        (start_of(self.first.0)? == self.first.1).then_some(())?;
        let new = |(_, program): &(u32, String)| !self.programs.contains(program);
        let (pid, program) = self.members.processes().into_iter().find(new)?;
        Some(format!("the process {pid} ({program}) was left running"))
    }
}
