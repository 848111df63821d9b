//! A bound on the memory of a browser by the kernel: a control group, where the system has given us
//! a part of its tree.
//!
//! ```text
//! version 2   the group that we are in is delegated to us (its attribute `delegate` says so), and
//!             nobody else is in it
//! version 1   we may make groups below the one of the memory controller that we are in
//! ```
//!
//! It is above the limit of the [watcher](super::memory), which chooses what is ended better than
//! the kernel does, and stops what takes memory faster than the watcher looks.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io};

use rustix::process::{Pid, test_kill_process};

const TREE: &str = "/sys/fs/cgroup";
/// The beginning of the names of our groups; the process that made one and a number follow.
const NAME: &str = "sandbox-";
/// The group in which we are ourselves, beside those of browsers.
const LEAF: &str = "sandbox";
/// The memory of a group besides what the watcher counts, in bytes: files in memory, and the
/// kernel's own.
const SLACK: u64 = 256 << 20;

/// The group of one browser.
#[derive(Debug)]
pub(super) struct ControlGroup {
    path: PathBuf,
    files: Files,
    /// How many processes the kernel has ended in it so far.
    ended: u64,
}

/// The names of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Files {
    limit: &'static str,
    /// Has a line `oom_kill N`.
    events: &'static str,
}

const FIRST: Files = Files { limit: "memory.limit_in_bytes", events: "memory.oom_control" };
const SECOND: Files = Files { limit: "memory.max", events: "memory.events" };

impl ControlGroup {
    /// A group for a browser whose processes may take so many bytes. `None` where there is none to
    /// be had.
    pub(super) fn new(limit: u64) -> Option<ControlGroup> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let (above, files) = place(Path::new(TREE), &own)?;
        remove_stale(&above);
        ControlGroup::below(&above, files, limit)
            .inspect_err(|error| tracing::debug!(%error, "no control group for a browser"))
            .ok()
    }

    fn below(above: &Path, files: Files, limit: u64) -> io::Result<ControlGroup> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = above.join(format!("{NAME}{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        let group = ControlGroup { path, files, ended: 0 };
        let limit = limit.saturating_add(limit / 4).saturating_add(SLACK);
        // Without its limit it is of no use.
        match fs::write(group.path.join(files.limit), limit.to_string()) {
            Ok(()) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    /// Takes processes in. What they start from then on is in it, too.
    pub(super) fn take_in(&self, processes: impl IntoIterator<Item = u32>) {
        let procs = self.path.join("cgroup.procs");
        for process in processes {
            // One that has just ended cannot be taken in.
            if let Err(error) = fs::write(&procs, process.to_string()) {
                tracing::debug!(process, %error, "a process is in no control group");
            }
        }
    }

    /// Whether the kernel has ended a process since the last call.
    pub(super) fn has_ended_one(&mut self) -> bool {
        let events = fs::read_to_string(self.path.join(self.files.events)).unwrap_or_default();
        let count =
            events.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok());
        let ended = count.unwrap_or(self.ended);
        ended > std::mem::replace(&mut self.ended, ended)
    }

    /// Removes it. That fails while a process is in it.
    pub(super) fn remove(&self) -> bool {
        fs::remove_dir(&self.path).is_ok()
    }
}

/// Finds the place for groups in this tree, by the groups that the kernel reports for this process.
fn place(tree: &Path, own: &str) -> Option<(PathBuf, Files)> {
    let lines = own.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?.trim_start_matches('/')))
    });
    for (controllers, path) in lines {
        if controllers.split(',').any(|name| name == "memory") {
            return Some((tree.join("memory").join(path), FIRST));
        }
        let group = tree.join(path);
        // From the first browser on, we are in a leaf of the group that was given to us.
        let above = group.parent().filter(|_| group.ends_with(LEAF));
        let delegated =
            [Some(group.as_path()), above].into_iter().flatten().find(|group| is_delegated(group));
        if controllers.is_empty()
            && let Some(group) = delegated
        {
            return share(group).ok().map(|()| (group.to_owned(), SECOND));
        }
    }
    None
}

fn is_delegated(group: &Path) -> bool {
    let says_so = |name: &str| {
        let mut value = [0; 1];
        rustix::fs::getxattr(group, name, &mut value[..])
            .is_ok_and(|length| value[..length] == *b"1")
    };
    says_so("user.delegate") || says_so("trusted.delegate")
}

/// Lets groups below have the memory controller. There may be no process beside them, so we go into
/// one ourselves. What somebody else has in the group stays where it is, and there is no sharing.
fn share(group: &Path) -> io::Result<()> {
    let control = group.join("cgroup.subtree_control");
    if fs::read_to_string(&control)?.split_whitespace().any(|name| name == "memory") {
        return Ok(());
    }
    let listed = fs::read_to_string(group.join("cgroup.procs"))?;
    let processes: Vec<u32> = listed.lines().filter_map(|process| process.parse().ok()).collect();
    if !processes.iter().all(|process| is_ours(*process)) {
        return Err(io::Error::other("processes of others are in the group"));
    }
    let leaf = group.join(LEAF);
    match fs::create_dir(&leaf) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for process in processes {
        fs::write(leaf.join("cgroup.procs"), process.to_string())?;
    }
    fs::write(control, "+memory")
}

/// Whether a process is this one, or below it.
fn is_ours(process: u32) -> bool {
    let parent = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name in parentheses may hold anything.
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    std::iter::successors(Some(process), |process| parent(*process))
        .any(|process| process == std::process::id())
}

/// Removes the groups of processes that have gone.
fn remove_stale(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|name| name.strip_prefix(NAME)?.split_once('-')?.0.parse().ok());
        let is_gone = |owner| test_kill_process(owner) == Err(rustix::io::Errno::SRCH);
        if owner.and_then(Pid::from_raw).is_some_and(is_gone) {
            // Its processes may still be ending.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_place_follows_from_the_groups_that_we_are_in() {
        let first = "3:cpuset:/a\n4:memory,x:/jobs/1\n0::/\n";
        let tree = Path::new("/sys/fs/cgroup");
        assert_eq!(
            place(tree, first),
            Some((PathBuf::from("/sys/fs/cgroup/memory/jobs/1"), FIRST))
        );
        assert_eq!(place(tree, "0::/no/such/group\n"), None);
        assert_eq!(place(tree, ""), None);
    }

    /// In a folder that stands for the tree: its files take what is written to them.
    #[test]
    fn a_group_that_was_given_to_us_is_shared_with_every_browser() {
        let tree = tempfile::tempdir().unwrap();
        let group = tree.path().join("given");
        fs::create_dir(&group).unwrap();
        let file = |path: &str, text: &str| fs::write(group.join(path), text).unwrap();
        file("cgroup.subtree_control", "");
        file("cgroup.procs", "1\n");
        assert_eq!(place(tree.path(), "0::/given\n"), None, "it is not delegated");
        let is_marked =
            rustix::fs::setxattr(&group, "user.delegate", b"1", rustix::fs::XattrFlags::empty());
        if is_marked.is_err() {
            // This file system has no attributes.
            return;
        }
        assert_eq!(place(tree.path(), "0::/given\n"), None, "the first process is in it");
        let own = std::process::id().to_string();
        file("cgroup.procs", &own);
        let shared = Some((group.clone(), SECOND));
        assert_eq!(place(tree.path(), "0::/given\n"), shared);
        let read = |path: &str| fs::read_to_string(group.join(path)).unwrap();
        assert_eq!(
            (read("sandbox/cgroup.procs"), read("cgroup.subtree_control")),
            (own, "+memory".to_owned())
        );
        // The kernel says it in its own way, and where we are now.
        file("cgroup.subtree_control", "memory pids");
        assert_eq!(place(tree.path(), "0::/given/sandbox\n"), shared);
    }

    /// On a machine where a group can be made, its limit holds.
    #[test]
    fn what_takes_more_is_ended_by_the_kernel() {
        let Some(mut group) = ControlGroup::new(16 << 20) else { return };
        let script = "import sys; sys.stdin.read(1); a = b'x' * (1 << 30); print(len(a))";
        let mut child = std::process::Command::new("python3");
        child
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null());
        let mut child = child.spawn().unwrap();
        group.take_in([child.id()]);
        drop(child.stdin.take());
        let ended = child.wait().unwrap();
        assert!(!ended.success() && group.has_ended_one() && !group.has_ended_one(), "{ended}");
        assert!(group.remove());
    }
}
