//! Leads connections into a network namespace that has no way out: that of a container without
//! network, or of a site that is a command.
//!
//! ```text
//!  our process                     |  the namespaces of the application
//!  client -> Unix socket  <--------|--- relay -> 127.0.0.1:port - the application
//!            (listener, inherited) |
//! ```
//!
//! The relay is a process of its own. It inherits a listening socket that only its owner reaches,
//! enters the user and network namespaces of the application, gives up every right there, and leads
//! each connection to one port. The application has no way out by it: only connections of ours go
//! through. The relay ends with us, and we see when it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use camino::Utf8Path;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{CapabilitySet, CapabilitySets, ThreadNameSpaceType};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::owner::Owner;
use crate::{Error, SiteTarget};

/// The hidden command by which a program that starts sites is its own relay.
pub const COMMAND: &str = "relay";
/// The hidden command that waits for a relay and then becomes a site.
pub const BEGIN: &str = "begin-site";
/// The timeout for a relay to be where it belongs.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);
/// The message of a relay that is ready.
const READY: &str = "ready";
/// The longest text of an error that is read.
const LONGEST: usize = 4096;
/// The exit code of a command that could not be started.
const NOT_STARTED: u8 = 127;

/// A relay, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Relay {
    ended: watch::Receiver<bool>,
    task: AbortHandle,
}

/// Starts a relay to each of these ports of the application with this first process. Their sockets
/// are in this folder. `helper` is a program that has the command [`COMMAND`].
pub(crate) async fn start(
    helper: &Utf8Path,
    folder: &Utf8Path,
    first: &Owner,
    ports: BTreeSet<u16>,
) -> Result<(BTreeMap<u16, SiteTarget>, Vec<Relay>), Error> {
    let (mut led, mut started) = (BTreeMap::new(), Vec::new());
    for port in ports {
        let socket = folder.join(format!("{port}.sock"));
        started.push(Relay::start(helper, &socket, first, port).await?);
        led.insert(port, SiteTarget::Socket(socket));
    }
    Ok((led, started))
}

impl Relay {
    async fn start(
        helper: &Utf8Path,
        socket: &Utf8Path,
        first: &Owner,
        port: u16,
    ) -> Result<Relay, Error> {
        let failed = Error::of_file("run", helper);
        match tokio::time::timeout(BEGINS_WITHIN, begin_relay(helper, socket, first, port)).await {
            Ok(Ok(Ok(relay))) => Ok(relay),
            Ok(Ok(Err(why))) => {
                Err(Error::Refused { doing: format!("reach port {port} of a site"), why })
            }
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => {
                let condition = format!("a relay to port {port} of a site");
                Err(Error::Deadline { within: BEGINS_WITHIN, condition })
            }
        }
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&self) {
        // If the sender is gone, so is the relay.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The inner error is what the relay itself says.
async fn begin_relay(
    helper: &Utf8Path,
    socket: &Utf8Path,
    first: &Owner,
    port: u16,
) -> io::Result<Result<Relay, String>> {
    let listener = doors::unix::bind(socket.as_std_path())?;
    let (mut ours, theirs) = UnixStream::pair()?;
    let theirs = theirs.into_std()?;
    // It waits on this end in the ordinary way.
    theirs.set_nonblocking(false)?;
    let mut command = Command::new(helper);
    command
        .args([COMMAND, &first.to_string(), &port.to_string()])
        .env_clear()
        .envs(processes::minimal());
    command.stdin(Stdio::from(OwnedFd::from(listener))).stdout(Stdio::from(OwnedFd::from(theirs)));
    let mut child = command.stderr(Stdio::null()).kill_on_drop(true).spawn()?;
    // Only the relay has the other end now, so that its end is seen here.
    drop(command);
    let mut said = String::new();
    let mut byte = [0_u8; 1];
    while said.len() < LONGEST && ours.read(&mut byte).await? > 0 && byte[0] != b'\n' {
        said.push(byte[0].into());
    }
    if said != READY {
        let ended = child.wait().await?;
        return Ok(Err(if said.is_empty() {
            format!("the relay ended with {ended}")
        } else {
            said
        }));
    }
    let (tell, ended) = watch::channel(false);
    let task = tokio::spawn(async move {
        let _ = child.wait().await;
        // The relay lives as long as this end is open.
        drop(ours);
        tell.send_replace(true);
    });
    Ok(Ok(Relay { ended, task: task.abort_handle() }))
}

/// Is a relay: what the command [`COMMAND`] does with its two arguments. The process must have one
/// thread. Returns when the process that started it has ended.
pub fn run(first: &str, port: u16) -> ExitCode {
    let served = enter(first).and_then(|()| serve(port));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Whoever started it may be gone.
            let _ = writeln!(io::stdout(), "{why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command [`BEGIN`]: reports on standard input that it is in its namespace, waits until
/// that is closed at its other end, and becomes the program of these words. Returns only if that
/// fails.
pub fn begin(words: &[String]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else {
        return ExitCode::from(NOT_STARTED);
    };
    let error = match wait_for_relay() {
        Ok(()) => std::process::Command::new(program).args(arguments).stdin(Stdio::null()).exec(),
        Err(error) => error,
    };
    eprintln!("failed to start {program}: {error}");
    ExitCode::from(NOT_STARTED)
}

fn wait_for_relay() -> io::Result<()> {
    let mut gate = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    gate.write_all(b".")?;
    gate.read_to_end(&mut Vec::new()).map(drop)
}

/// Enters the namespaces of the application with this first process, without any right in them.
fn enter(first: &str) -> Result<(), String> {
    let first: Owner = first.parse().map_err(|()| format!("{first:?} names no process"))?;
    let gone = || "its first process has ended".to_owned();
    let pid = i32::try_from(first.pid()).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).map_err(|_| gone())?;
    // From here on the id cannot become another process's.
    if !first.is_alive() {
        return Err(gone());
    }
    let users = |of: &str| std::fs::read_link(format!("/proc/{of}/ns/user")).ok();
    let mut spaces = ThreadNameSpaceType::NETWORK;
    // An engine of root may leave its containers in the namespace that this process is in.
    if users(&first.pid().to_string()) != users("self") {
        spaces |= ThreadNameSpaceType::USER;
    }
    rustix::thread::move_into_thread_name_spaces(process.as_fd(), spaces)
        .map_err(|error| format!("its namespaces cannot be entered: {error}"))?;
    // The loopback interface of a new namespace is down. That of a container is up, and may be
    // another user's to configure.
    if let Err(error) = processes::network::raise_loopback()
        && !has_loopback()
    {
        return Err(format!("its loopback interface cannot be brought up: {error}"));
    }
    let nothing = CapabilitySet::empty();
    let none = CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing };
    rustix::thread::set_no_new_privs(true)
        .and_then(|()| rustix::thread::set_capabilities(None, none))
        .map_err(|error| format!("rights cannot be given up: {error}"))
}

/// Whether there is a route to the loopback interface. Nothing is sent.
fn has_loopback() -> bool {
    let port = (Ipv4Addr::LOCALHOST, 9);
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.connect(port)).is_ok()
}

/// Leads connections of the inherited listener to the port, until standard output is closed at its
/// other end.
fn serve(port: u16) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    runtime.block_on(async {
        let listener =
            io::stdin().as_fd().try_clone_to_owned().map(UnixListener::from).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = tokio::net::UnixListener::from_std(listener).map_err(failed)?;
        let owner = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
        let owner = std::os::unix::net::UnixStream::from(owner);
        owner.set_nonblocking(true).map_err(failed)?;
        let mut owner = UnixStream::from_std(owner).map_err(failed)?;
        owner.write_all(format!("{READY}\n").as_bytes()).await.map_err(failed)?;
        let over = async {
            let mut nothing = [0_u8; 1];
            while matches!(owner.read(&mut nothing).await, Ok(count) if count > 0) {}
        };
        let accepting = async {
            loop {
                match listener.accept().await {
                    Ok((client, _)) => drop(tokio::spawn(lead(client, port))),
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    // Its instance then ends with it, and another one takes its place.
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        tokio::select! {
            () = over => Ok(()),
            failed = accepting => failed,
        }
    })
}

/// Leads one connection, until both sides have said all.
async fn lead(mut client: UnixStream, port: u16) {
    // A client whose application does not listen sees its connection end, as if refused.
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else { return };
    let _ = server.set_nodelay(true);
    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
}
