//! Namespaces of users, mounts and processes.

use std::{fs, io};

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};

use super::rights;

/// Puts this process into namespaces of mounts and of users, and its children into one of
/// processes. It stays the user that it is.
pub(super) fn enter() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
    if !(rights::may_mount() && unshare(own).is_ok()) {
        unshare(CloneFlags::CLONE_NEWUSER | own)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What is mounted from now on is seen by nobody else, and what others mount is not seen here.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    rights::pass_on()
}

/// Puts this process into a network of its own, in which nothing is up.
pub(super) fn leave_network() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(Into::into)
}
