//! A program in a network namespace of its own, in which there is one server: ours.
//!
//! ```text
//!  our process              |  a network namespace of its own
//!  server <-- connections --|-- listener on 127.0.0.1:8080 <- the program
//!             (descriptor)  |
//! ```
//!
//! A listening socket stays in the namespace in which it was made, whoever holds it. So the process
//! that makes the namespace makes a listener there, hands its descriptor to us, and becomes the
//! program. We accept connections from it as from any other listener: nothing is copied or relayed.
//! Nobody else can reach the listener, and the program can reach nothing else, whatever it is told.
//!
//! A program that is a server itself is reached by the same trick turned round ([`server`]).
//!
//! [`prepare`] is our side. [`become_program`] is what the hidden command [`COMMAND`] of our own
//! executable does; a process that makes a namespace of users may have one thread only.

mod descriptors;
mod reason;
pub mod server;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use nix::sched::{CloneFlags, unshare};
use reason::Reason;
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::network::raise_loopback;
use crate::users;

/// The hidden command by which our own executable makes such a namespace.
pub const COMMAND: &str = "own-network";

/// Where the server is in the namespace. Every port of it is free.
pub const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// How long the namespace may take.
const DEADLINE: Duration = Duration::from_secs(20);

static HELPER: OnceLock<PathBuf> = OnceLock::new();
static LACKING: OnceLock<String> = OnceLock::new();

/// Names an executable with the command [`COMMAND`], for the whole process. Without one there are
/// no namespaces.
pub fn set_helper(executable: PathBuf) {
    // A second one would be the same.
    let _ = HELPER.set(executable);
}

/// Why this process can have no such namespace, as far as is known.
pub fn lacking() -> Option<&'static str> {
    match HELPER.get() {
        None => Some("this program has no helper that makes one"),
        Some(_) => LACKING.get().map(String::as_str),
    }
}

/// Tries to make such a namespace.
///
/// # Errors
/// The reason for which this machine gives us none.
pub fn probe() -> Result<(), String> {
    if let Some(why) = lacking() {
        return Err(why.to_owned());
    }
    let prepared =
        prepare(Path::new("true"), &[], Vec::new(), false).map_err(|error| error.to_string())?;
    let started =
        prepared.start(|command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn());
    match started.map_err(|error| error.to_string())? {
        Ok((mut child, _)) => child.wait().map(drop).map_err(|error| error.to_string()),
        Err(why) => Err(why.to_owned()),
    }
}

/// A program that is about to be started in such a namespace.
#[derive(Debug)]
pub struct Prepared {
    /// Starts the program. The caller sets its environment, its folder and its group, but not its
    /// standard input, which is empty.
    pub command: Command,
    ours: UnixStream,
}

/// Prepares a program with these arguments, which gets these descriptors under these numbers.
/// `keeps_rights` leaves root its capabilities.
///
/// # Errors
/// If there is no helper, or the descriptors cannot be passed on.
pub fn prepare(
    program: &Path,
    arguments: &[OsString],
    descriptors: Vec<FdMapping>,
    keeps_rights: bool,
) -> io::Result<Prepared> {
    let mut prepared = Prepared::new()?;
    let command = &mut prepared.command;
    if keeps_rights {
        command.arg("--keep-rights");
    }
    command.arg("--").arg(program).args(arguments);
    command.fd_mappings(descriptors).map_err(io::Error::other)?;
    Ok(prepared)
}

impl Prepared {
    /// The helper without a program.
    fn new() -> io::Result<Self> {
        let helper = HELPER.get().ok_or(io::ErrorKind::NotFound)?;
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(helper);
        command.arg(COMMAND).stdin(Stdio::from(OwnedFd::from(theirs)));
        Ok(Prepared { command, ours })
    }

    /// Starts the program by `spawn` and returns it with the listener in its namespace. The inner
    /// error is the reason for which this machine gives us no namespace at all; from then on
    /// [`lacking`] tells it.
    ///
    /// # Errors
    /// If the helper cannot be started, or there is no namespace this time.
    pub fn start(
        self,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> io::Result<Result<(Child, TcpListener), &'static str>> {
        Ok(self.start_helper(spawn)?.map(|started| (started.child, started.listener)))
    }

    /// The same, and the helper's socket stays open.
    fn start_helper(
        mut self,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> io::Result<Result<Started, &'static str>> {
        let mut child = spawn(&mut self.command)?;
        // Only the child has the other end now, so that its end is seen here.
        drop(self.command);
        self.ours.set_read_timeout(Some(DEADLINE))?;
        let reason = match descriptors::receive(&self.ours) {
            Ok(Ok(listener)) => {
                return Ok(Ok(Started { child, listener: listener.into(), helper: self.ours }));
            }
            Ok(Err(why)) => Reason::read(&why),
            Err(error) => Reason::Passing(format!("the helper does not answer: {error}")),
        };
        // The helper has ended, or is of no use.
        let _ = child.kill();
        let _ = child.wait();
        match reason {
            Reason::Passing(why) => {
                Err(io::Error::other(format!("make a network namespace: {why}")))
            }
            Reason::Lasting(why) => Ok(Err(lasting(why))),
        }
    }
}

/// Remembers the reason for which this machine gives us no namespaces, and says it once.
fn lasting(why: String) -> &'static str {
    LACKING.get_or_init(|| {
        tracing::warn!(
            why,
            "browsers have no network of their own here: other programs of this machine are in theirs"
        );
        why
    })
}

/// A helper that has made its namespace.
struct Started {
    child: Child,
    listener: TcpListener,
    helper: UnixStream,
}

/// Makes the namespace and the listener in it, sends the listener over the socket that is standard
/// input, and becomes the program. `prepare` runs last before that.
///
/// # Errors
/// Returns only if there is an error.
pub fn become_program(
    keeps_rights: bool,
    words: &[OsString],
    prepare: impl FnOnce() -> io::Result<()>,
) -> io::Result<Infallible> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    drop(enter_and_listen()?);
    prepare()?;
    if !keeps_rights {
        give_up_rights()?;
    }
    Err(Command::new(program).args(arguments).stdin(Stdio::null()).exec())
}

/// Makes the namespace and the listener in it, and sends the listener over the socket that is
/// standard input. Returns that socket.
fn enter_and_listen() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    match enter().and_then(|()| TcpListener::bind(SERVER)) {
        Ok(listener) => descriptors::send(&socket, &listener)?,
        Err(error) => {
            descriptors::send_error(&socket, &Reason::of(&error).to_string())?;
            return Err(error);
        }
    }
    Ok(socket)
}

/// Enters new namespaces: one of the network, and one of users where that is needed for it.
fn enter() -> io::Result<()> {
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        users::enter(CloneFlags::CLONE_NEWNET)?;
    }
    raise_loopback()
}

/// Gives up every capability for good, as no other user than root has any.
fn give_up_rights() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let nothing = CapabilitySet::empty();
    let none = CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing };
    rustix::thread::set_capabilities(None, none)?;
    Ok(())
}
