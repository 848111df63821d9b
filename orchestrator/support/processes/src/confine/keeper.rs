//! The process that keeps a program: it makes the namespaces, and ends after all that is in them.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, io};

use nix::sys::signal::{SigSet, Signal as Caught};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, pidfd_open, pidfd_send_signal,
    set_child_subreaper,
};

use super::messages::{self, Ended, Order, Ready};
use super::{Plan, RELAY, ROOM, namespaces, orphans, room};
use crate::NOT_STARTED;

/// The variable that holds the plan, or [`PLAN_HANDED`]. The program does not see it.
pub(super) const PLAN: &str = "SANDBOX_PLAN";
/// The plan is in the file with this descriptor.
pub(super) const PLAN_DESCRIPTOR: i32 = 3;
/// What the variable says then.
pub(super) const PLAN_HANDED: &str = "handed";

/// How long the first process in the namespaces may take to take what it is sent, or to go on with
/// what it has begun to say.
const TALKS_WITHIN: Duration = Duration::from_secs(30);

/// Runs a program by the plan that it is told, until it ends or this process is told to end
/// (`SIGTERM`), or whoever started it has ended. Then ends all that the program has started. Gives
/// the program's exit code, and [`NOT_STARTED`] where it has none. What ends the program by a
/// signal ends this process, too.
pub fn keep(words: Vec<OsString>) -> u8 {
    match kept(words) {
        Ok(Some(Ended::Exited(code))) => code,
        Ok(Some(Ended::Killed(signal))) => {
            if let Some(signal) = Signal::from_named_raw(signal) {
                let _ = SigSet::all().thread_unblock();
                let _ = rustix::process::kill_process(getpid(), signal);
            }
            NOT_STARTED
        }
        // It was told to end.
        Ok(None) => NOT_STARTED,
        Err(error) => {
            eprintln!("failed to start the program confined: {error}");
            NOT_STARTED
        }
    }
}

fn kept(words: Vec<OsString>) -> io::Result<Option<Ended>> {
    let plan = plan()?;
    close_inherited()?;
    let watch = Watch::begin()?;
    if plan.hides() { in_a_room(plan, words, &watch) } else { in_the_open(&words, &watch) }
}

fn plan() -> io::Result<Plan> {
    let mut plan = env::var(PLAN).map_err(|_| io::Error::other("there is no plan"))?;
    if plan == PLAN_HANDED {
        plan = std::fs::read_to_string(format!("/proc/self/fd/{PLAN_DESCRIPTOR}"))?;
    }
    Ok(serde_json::from_str(&plan)?)
}

/// Closes all descriptors but the standard streams: whoever started us may have left some open.
fn close_inherited() -> io::Result<()> {
    let open: Vec<OsString> =
        std::fs::read_dir("/proc/self/fd")?.flatten().map(|entry| entry.file_name()).collect();
    for number in open
        .iter()
        .filter_map(|name| name.to_str()?.parse::<i32>().ok())
        .filter(|number| *number > 2)
    {
        // That of the folder itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// What a keeper waits for besides its program.
struct Watch {
    told: SignalFd,
    owner: Option<OwnedFd>,
}

impl Watch {
    fn signals() -> SigSet {
        [Caught::SIGTERM, Caught::SIGCHLD].into_iter().collect()
    }

    fn begin() -> io::Result<Watch> {
        let signals = Watch::signals();
        signals.thread_block()?;
        let told = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let owner = getppid().map(|owner| pidfd_open(owner, PidfdFlags::empty())).transpose()?;
        Ok(Watch { told, owner })
    }

    /// Waits; whether it is time to end. Otherwise `other` has something to say, or a child has
    /// ended.
    fn wait(&self, other: Option<&OwnedFd>) -> io::Result<bool> {
        let mut polled = vec![PollFd::new(&self.told, PollFlags::IN)];
        polled.extend(self.owner.iter().chain(other).map(|file| PollFd::new(file, PollFlags::IN)));
        poll(&mut polled, None)?;
        let owner_ended = self.owner.is_some() && !polled[1].revents().is_empty();
        Ok(self.is_told()? || owner_ended)
    }

    /// Waits until a child has ended, for so long at most.
    fn wait_for_child(&self, within: Duration) -> io::Result<()> {
        let within = Timespec::try_from(within).map_err(io::Error::other)?;
        poll(&mut [PollFd::new(&self.told, PollFlags::IN)], Some(&within))?;
        self.is_told().map(drop)
    }

    /// Whether it was told to end since the last call.
    fn is_told(&self) -> io::Result<bool> {
        let mut told = false;
        while let Some(signal) = self.told.read_signal()? {
            told |= signal.ssi_signo == Caught::SIGTERM as u32;
        }
        Ok(told)
    }
}

/// In namespaces: what is in them ends with their first process.
fn in_a_room(plan: Plan, words: Vec<OsString>, watch: &Watch) -> io::Result<Option<Ended>> {
    let relay = plan.network.as_ref().map(|_| Relay::start()).transpose()?;
    namespaces::enter()
        .map_err(|error| io::Error::new(error.kind(), format!("make namespaces: {error}")))?;
    let (here, there) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg(ROOM).env_remove(PLAN).stdin(Stdio::from(OwnedFd::from(there)));
    let mut child = command.spawn()?;
    drop(command);
    let first = pidfd_open(id_of(&child)?, PidfdFlags::empty())?;
    let ended = directed(&here, plan, words, relay.as_ref(), &first, watch);
    // It may have ended.
    let _ = pidfd_send_signal(&first, Signal::KILL);
    // The kernel lets it go after all others of its namespace.
    child.wait()?;
    ended
}

/// The process that leads the connections of a network outside. Dropping it ends it.
struct Relay {
    socket: UnixStream,
    process: Child,
}

impl Relay {
    fn start() -> io::Result<Relay> {
        let (socket, there) = UnixStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(RELAY).env_remove(PLAN).stdin(Stdio::from(OwnedFd::from(there)));
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Relay { socket, process })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn directed(
    socket: &UnixStream,
    plan: Plan,
    words: Vec<OsString>,
    relay: Option<&Relay>,
    first: &OwnedFd,
    watch: &Watch,
) -> io::Result<Option<Ended>> {
    let wanted = plan.network.clone();
    let order = Order { plan, words, folder: env::current_dir()? };
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    socket.set_write_timeout(Some(TALKS_WITHIN))?;
    socket.set_read_timeout(Some(TALKS_WITHIN))?;
    messages::send(socket, &order, &streams)?;
    let said = socket.as_fd().try_clone_to_owned()?;
    while !has_something(socket)? {
        if watch.wait(Some(&said))? {
            return Ok(None);
        }
    }
    let lost = |_| io::Error::other("the first process in its namespaces has ended");
    let (ready, listeners) = messages::receive::<Ready>(socket).map_err(lost)?;
    if let Some(why) = ready.failed {
        return Err(io::Error::other(why));
    }
    room::close_streams()?;
    if let (Some(wanted), Some(relay)) = (wanted, relay) {
        let listeners: Vec<_> = listeners.iter().map(|listener| listener.as_fd()).collect();
        messages::send(&relay.socket, &wanted, &listeners)?;
    }
    while !watch.wait(Some(&said))? {
        if has_something(socket)? {
            let ended = messages::receive::<Ended>(socket).map(|(ended, _)| ended);
            // Somebody has killed it; what was in it is gone.
            return Ok(Some(ended.unwrap_or(Ended::Killed(Signal::KILL.as_raw()))));
        }
        if has_something(first)? {
            return Ok(Some(Ended::Killed(Signal::KILL.as_raw())));
        }
    }
    Ok(None)
}

/// Whether there is something to read, or the end.
fn has_something(file: &impl AsFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default()))?;
    Ok(!polled[0].revents().is_empty())
}

/// Without namespaces: this process is the reaper of what is orphaned.
fn in_the_open(words: &[OsString], watch: &Watch) -> io::Result<Option<Ended>> {
    set_child_subreaper(Some(getpid()))?;
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).env_remove(PLAN);
    // It inherits what is blocked. A keeper that is ended meanwhile leaves its group to its owner.
    SigSet::all().thread_unblock()?;
    let child = command.spawn();
    Watch::signals().thread_block()?;
    let child = child.map_err(|error| failed_to_start(program, &error))?;
    room::close_streams()?;
    let id = id_of(&child)?;
    // Asked first: it may have ended while no signal was kept.
    let mut ended = room::ended(id, WaitOptions::NOHANG);
    // The end of any child wakes it.
    while ended.is_none() && !watch.wait(None)? {
        ended = room::ended(id, WaitOptions::NOHANG);
    }
    orphans::end(|within| watch.wait_for_child(within));
    Ok(ended)
}

fn id_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn failed_to_start(program: &OsStr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("start {}: {error}", program.display()))
}
