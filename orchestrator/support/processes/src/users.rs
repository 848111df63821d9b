//! A namespace of users, in which an ordinary user may make others.

use std::{fs, io};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};

/// Puts this process into one, and into these others. It stays the user that it is, so that it
/// finds its files as its own.
pub(crate) fn enter(others: CloneFlags) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | others)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))
}
