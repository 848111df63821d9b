//! A network of its own for a site that is a command.
//!
//! ```text
//!  our process                            |  the command's network namespace
//!  gateway -> Unix socket <---------------|--- relay -> 127.0.0.1:port - the command
//! ```
//!
//! A port of the machine is open to all its users. In a namespace of its own the command listens
//! for nobody but the relay, and reaches no network. `unshare` makes the namespace and becomes
//! [`relay::begin`], which waits until the relay is there and then becomes the command. So the
//! process that was started is the command itself.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::geteuid;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::relay;

/// For root, whose rights on files stay as they are.
const PLAIN: &[&str] = &["unshare", "--net", "--"];
/// For everybody, where the system lets everybody have namespaces of users. The command keeps its
/// user id: some applications refuse to run as root.
const WITH_USER: &[&str] = &["unshare", "--user", "--map-current-user", "--net", "--"];

/// The means by which commands get namespaces on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Namespaces {
    way: &'static [&'static str],
    /// The program that is a relay.
    pub(crate) helper: Utf8PathBuf,
}

impl Namespaces {
    /// Tries what this machine allows. The error says why there is nothing.
    pub(crate) async fn find(helper: Option<&Utf8Path>) -> Result<Namespaces, String> {
        let Some(helper) = helper else { return Err("this program has no relay".to_owned()) };
        let ways: &[&'static [&'static str]] =
            if geteuid().is_root() { &[PLAIN, WITH_USER] } else { &[WITH_USER] };
        let mut why = String::new();
        for &way in ways {
            match attempt(way).await {
                Ok(()) => return Ok(Namespaces { way, helper: helper.to_owned() }),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// The words before those of a command that starts it in a new namespace. Its standard input
    /// must be one end of a [`Gate`].
    pub(crate) fn starts(&self) -> Vec<String> {
        let words = self.way.iter().copied().chain([self.helper.as_str(), relay::BEGIN, "--"]);
        words.map(str::to_owned).collect()
    }

    /// The words before those of a command that runs it where this process is.
    pub(crate) fn enters(&self, pid: u32) -> Vec<String> {
        let pid = pid.to_string();
        let user: &[&str] =
            if self.way == PLAIN { &[] } else { &["--user", "--preserve-credentials"] };
        let words = ["nsenter", "--target", &pid, "--net"].into_iter().chain(user.iter().copied());
        words.chain(["--"]).map(str::to_owned).collect()
    }
}

/// Whether a way makes a namespace.
async fn attempt(way: &[&str]) -> Result<(), String> {
    let Some((program, arguments)) = way.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).arg("true").env_clear().envs(processes::minimal()).stdin(Stdio::null());
    match command.kill_on_drop(true).output().await {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("{program} does not run: {error}")),
    }
}

/// Holds a command back in its new namespace until this is dropped.
pub(crate) struct Gate(UnixStream);

impl Gate {
    /// A gate, and the standard input of the command.
    pub(crate) fn new() -> io::Result<(Gate, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        Ok((Gate(ours), theirs.into()))
    }

    /// Waits until the command is in its namespace, or has ended.
    pub(crate) async fn is_entered(&mut self) -> bool {
        self.0.read_u8().await.is_ok()
    }
}
