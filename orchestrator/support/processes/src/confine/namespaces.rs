//! Namespaces of users, mounts, processes, and of what processes share.

use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_change};

use super::rights;
use crate::users;

/// Puts this process into namespaces of mounts, of System V's and POSIX's memory and queues, and of
/// users, and its children into one of processes. It stays the user that it is.
pub(super) fn enter() -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if !(rights::may_mount() && unshare(own).is_ok()) {
        users::enter(own)?;
    }
    // What is mounted from now on is seen by nobody else, and what others mount is not seen here.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    rights::pass_on()
}

/// Puts this process into a network of its own, in which nothing is up.
pub(super) fn leave_network() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(Into::into)
}
