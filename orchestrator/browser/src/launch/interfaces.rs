//! Hides changes of the machine's network interfaces from the browser.
//!
//! Chromium fails every pending request with `ERR_NETWORK_CHANGED` when an address of any interface
//! comes or goes. On a machine where containers start and stop, that happens all the time. It
//! learns of such changes through a `NETLINK_ROUTE` socket. Without one it assumes that the network
//! is always up. So a seccomp filter denies this socket to the browser and its children. They reach
//! only the gateway on the loopback anyway.

use std::process::{Child, Command};
use std::{fs, io, thread};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Starts a program that cannot open a `NETLINK_ROUTE` socket.
pub(crate) fn spawn_without_netlink(command: &mut Command) -> io::Result<Child> {
    // A filter applies to a thread and its children, and cannot be removed.
    thread::scope(|scope| {
        let spawning = scope.spawn(|| {
            if needs_privileges() {
                tracing::debug!("the browser sees changes of network interfaces: its own sandbox rules out a filter");
            } else if let Err(error) = deny_netlink() {
                tracing::warn!(%error, "the browser sees changes of network interfaces, which may fail requests");
            }
            command.spawn()
        });
        spawning
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    })
}

/// Keeps this thread, and what it becomes or starts, from opening such a socket.
///
/// # Errors
/// If the kernel does not take the filter.
pub fn deny_netlink() -> io::Result<()> {
    filter().and_then(|filter| seccompiler::apply_filter(&filter)).map_err(io::Error::other)
}

/// A filter removes the right to gain privileges. Chromium's sandbox needs that right where users
/// may not create namespaces.
fn needs_privileges() -> bool {
    let says = |setting: &str, value: &str| {
        fs::read_to_string(format!("/proc/sys/kernel/{setting}"))
            .is_ok_and(|text| text.trim() == value)
    };
    let closed = says("unprivileged_userns_clone", "0")
        || says("apparmor_restrict_unprivileged_userns", "1");
    closed && !rustix::process::geteuid().is_root()
}

fn filter() -> Result<BpfProgram, seccompiler::Error> {
    let argument = |number: u8, value: i32| {
        SeccompCondition::new(
            number,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            value.unsigned_abs().into(),
        )
    };
    let (family, protocol) = (argument(0, libc::AF_NETLINK)?, argument(2, libc::NETLINK_ROUTE)?);
    let rules = vec![SeccompRule::new(vec![family, protocol])?];
    let refused = SeccompAction::Errno(libc::EAFNOSUPPORT.unsigned_abs());
    let filter = SeccompFilter::new(
        [(libc::SYS_socket, rules)].into(),
        SeccompAction::Allow,
        refused,
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}
