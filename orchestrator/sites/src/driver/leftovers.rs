//! What of an episode stays in a container beside its state: temporary files, and processes that
//! were started meanwhile.
//!
//! What there was when the instance became ready is remembered. A restore puts the temporary files
//! back as they were then. A process of a program that did not run then is drift, unless it ends
//! within a moment; one of a program that did run may be the application's own worker, and stays.
//!
//! Both are seen through the container's first process, `/proc/PID/root` and its control group,
//! which takes root or the container's own user. Where they are not seen, nothing is put back.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::time::{Instant, interval};

use crate::Error;
use crate::content::blocking;
use crate::owner::start_of;
use crate::state::{Access, Temporary};

/// Folders in memory that every container of ours has.
const FOLDERS: [&str; 2] = ["tmp", "run"];
/// How long a process may take to end that was on its way when the state was put back.
const ENDS_WITHIN: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(10);

/// A container as it was when it became ready.
#[derive(Debug, Clone)]
pub(super) struct Leftovers {
    /// The container's first process, and when that was started: another process may get its
    /// number.
    first: (u32, u64),
    group: Utf8PathBuf,
    programs: BTreeSet<String>,
    temporary: Vec<Temporary>,
}

impl Leftovers {
    /// Remembers what there is. `kept` is a folder for copies of temporary files. None where it is
    /// not to be seen.
    pub(super) fn remember(pid: u32, kept: &Utf8Path, access: Access) -> Option<Leftovers> {
        let first = (pid, start_of(pid)?);
        let group = group_of(pid)?;
        let programs = processes(&group).into_iter().map(|(_, program)| program).collect();
        let root = Utf8PathBuf::from(format!("/proc/{pid}/root"));
        let remember =
            |name: &&str| Temporary::remember(&root, name, &kept.join(name), access).ok().flatten();
        let temporary = FOLDERS.iter().filter_map(remember).collect();
        // Whatever was opened above was this container's if it still runs.
        (start_of(pid)? == first.1).then_some(Leftovers { first, group, programs, temporary })
    }

    /// Puts temporary files back; the process that is left over, if there is one.
    pub(super) async fn put_back(&self) -> Result<Option<String>, Error> {
        let own = self.clone();
        blocking(move || own.temporary.iter().try_for_each(|folder| Ok(folder.restore()?))).await?;
        let deadline = Instant::now() + ENDS_WITHIN;
        let mut look = interval(LOOK);
        loop {
            look.tick().await;
            match self.left_over() {
                Some(process) if Instant::now() > deadline => return Ok(Some(process)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    fn left_over(&self) -> Option<String> {
        // A container that has ended is somebody else's to tell of.
        (start_of(self.first.0)? == self.first.1).then_some(())?;
        let new = |(_, program): &(u32, String)| !self.programs.contains(program);
        let (pid, program) = processes(&self.group).into_iter().find(new)?;
        Some(format!("the process {pid} ({program}) was left running"))
    }
}

/// The file that lists the processes of a process's control group.
fn group_of(pid: u32) -> Option<Utf8PathBuf> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let file = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let folder = match controllers {
            "" => Utf8PathBuf::from("/sys/fs/cgroup"),
            "pids" => Utf8PathBuf::from("/sys/fs/cgroup/pids"),
            _ => return None,
        };
        // A group of its own, not one that it shares with others of this machine.
        let path = path.trim_start_matches('/');
        (!path.is_empty()).then(|| folder.join(path).join("cgroup.procs")).filter(|file| file.is_file())
    };
    groups.lines().find_map(file)
}

/// The processes of a group, with their programs: the file where it can be seen, its name
/// otherwise.
fn processes(group: &Utf8Path) -> Vec<(u32, String)> {
    let listed = fs::read_to_string(group).unwrap_or_default();
    let program = |pid: u32| {
        let file = fs::read_link(format!("/proc/{pid}/exe")).map(|path| path.to_string_lossy().into_owned());
        let name = || fs::read_to_string(format!("/proc/{pid}/comm")).map(|name| name.trim().to_owned());
        file.or_else(|_| name()).ok()
    };
    // What has ended meanwhile has no program.
    let process = |pid: u32| Some((pid, program(pid)?));
    listed.lines().filter_map(|line| process(line.parse().ok()?)).collect()
}
