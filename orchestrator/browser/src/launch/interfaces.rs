//! Keeps news of the machine's network interfaces from the browser.
//!
//! Chromium fails every request under way with `ERR_NETWORK_CHANGED` when an address comes or goes on any interface, and on a machine where
//! containers start and stop that is all the time. It hears of it by a socket of the kind `NETLINK_ROUTE`; where it cannot have one it takes the
//! network for up, always. So the browser and what it starts are not given one, by a seccomp filter: it reaches nothing but the gateway on the
//! loopback anyway.

use std::{
    fs, io,
    process::{Child, Command},
    thread,
};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Starts a program that is not told of changes of the interfaces.
pub(crate) fn spawn_without_netlink(command: &mut Command) -> io::Result<Child> {
    // A filter holds for a thread and what that starts, and can never be taken off.
    thread::scope(|scope| {
        let spawning = scope.spawn(|| {
            if needs_privileges() {
                tracing::debug!("the browser hears of changes of network interfaces: its own sandbox rules out a filter");
            } else if let Err(error) = filter().and_then(|filter| seccompiler::apply_filter(&filter)) {
                tracing::warn!(%error, "the browser hears of changes of network interfaces, which may fail requests");
            }
            command.spawn()
        });
        spawning.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    })
}

/// A filter takes away the right to gain privileges. Chromium's sandbox needs that right where users may not make namespaces.
fn needs_privileges() -> bool {
    let says = |setting: &str, value: &str| {
        fs::read_to_string(format!("/proc/sys/kernel/{setting}")).is_ok_and(|text| text.trim() == value)
    };
    let closed = says("unprivileged_userns_clone", "0") || says("apparmor_restrict_unprivileged_userns", "1");
    closed && !rustix::process::geteuid().is_root()
}

fn filter() -> Result<BpfProgram, seccompiler::Error> {
    let argument = |number: u8, value: i32| {
        SeccompCondition::new(number, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value.unsigned_abs().into())
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
