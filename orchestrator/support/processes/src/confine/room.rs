//! The first process in the namespaces: it makes the room, starts the program in it, and reaps what
//! is orphaned there.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::SigSet;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, geteuid, set_dumpable_behavior,
    set_parent_process_death_signal, setsid, wait,
};

use super::messages::{self, Ended, Order, Ready};
use super::{Confinement, cover, devices, doors, landlock, network, rights};
use crate::NOT_STARTED;
use crate::network::proxies;

/// What is started by [`super::KEEPER`] with its socket as standard input. Gives its exit code,
/// which nobody looks at.
pub fn inside() -> u8 {
    let socket = rustix::stdio::stdin().try_clone_to_owned().map(UnixStream::from);
    let Ok(socket) = socket else { return NOT_STARTED };
    match start(&socket) {
        Ok(child) => {
            let program = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let ended = program.and_then(|program| ended(program, WaitOptions::empty()));
            // The keeper that does not hear it is gone.
            let _ = messages::send(&socket, &ended.unwrap_or(Ended::Exited(NOT_STARTED)), &[]);
            0
        }
        Err(error) => {
            let _ = messages::send(&socket, &Ready { failed: Some(error.to_string()) }, &[]);
            NOT_STARTED
        }
    }
}

fn start(socket: &UnixStream) -> io::Result<Child> {
    // Nobody in the room looks into this process, which knows what is hidden.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Without a terminal that the program could type into, and in no group with the keeper, which
    // a signal to the program's own group would stop.
    setsid()?;
    // The keeper waits for signals that it has blocked, which programs inherit.
    SigSet::all().thread_unblock()?;
    let (order, streams) = messages::receive::<Order>(socket)?;
    let [input, output, errors] =
        <[_; 3]>::try_from(streams).map_err(|_| io::ErrorKind::InvalidData)?;
    let Order { mut plan, words, folder } = order;
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let network = plan.network.as_ref().map(network::listen).transpose();
    let network = network
        .map_err(|error| io::Error::new(error.kind(), format!("make a network: {error}")))?;
    let is_strict = plan.level == Some(Confinement::Strict);
    plan.hidden.extend(devices::hidden());
    plan.hidden.extend(doors::of_machine());
    devices::own_proc()?;
    cover::apply(&plan, &doors::kept(&plan, is_strict))?;
    // The folder that this process is in may be covered; its path leads to what is there now.
    let folder = if folder.is_dir() { folder.as_path() } else { std::path::Path::new("/") };
    std::env::set_current_dir(folder).map_err(|error| cover::naming("enter", folder, &error))?;
    rights::give_up(geteuid().is_root() && !is_strict)?;
    landlock::keep_from_sockets()?;
    if is_strict {
        landlock::allow_only(&plan)?;
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors));
    if let Some((inside, _)) = &network {
        let proxy = plan.network.as_ref().and_then(|network| network.proxy.as_ref());
        command.envs(proxies(
            &proxy.map_or_else(|| format!("http://{inside}"), |proxy| proxy.url_at(*inside)),
        ));
    }
    let child = command.spawn();
    let child = child.map_err(|error| cover::naming("start", program.as_ref(), &error))?;
    // Else the program's streams would not end before this process does.
    drop(command);
    close_streams()?;
    let listeners = network.map(|(_, listeners)| listeners).unwrap_or_default();
    let listeners: Vec<BorrowedFd<'_>> =
        listeners.iter().map(|listener| listener.as_fd()).collect();
    messages::send(socket, &Ready { failed: None }, &listeners)?;
    Ok(child)
}

/// Gives up the standard streams of this process, which are another program's.
pub(super) fn close_streams() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// Waits for the end of the program, and for that of all others that have nobody else to. Without
/// waiting ([`WaitOptions::NOHANG`]) it gives nothing where the program has not ended.
pub(super) fn ended(program: Pid, options: WaitOptions) -> Option<Ended> {
    loop {
        let (process, status) = match wait(options) {
            Ok(Some(ended)) => ended,
            Ok(None) => return None,
            // There is no child, and so no program.
            Err(_) => return Some(Ended::Exited(NOT_STARTED)),
        };
        match (status.exit_status(), status.terminating_signal()) {
            _ if process != program => {}
            (Some(code), _) => {
                return Some(Ended::Exited(u8::try_from(code).unwrap_or(NOT_STARTED)));
            }
            (None, Some(signal)) => return Some(Ended::Killed(signal)),
            (None, None) => {}
        }
    }
}
