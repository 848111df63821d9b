//! A server in such a namespace, which nobody reaches but us.
//!
//! ```text
//!  our process                  |  a network namespace of its own
//!  Dialer -- asks ------------->|- helper -- connects --> the server on 127.0.0.1:PORT
//!         <- connected socket --|-           starts, ends
//!  our server <-- connections --|-- listener on 127.0.0.1:8080 <- the server, as a client
//! ```
//!
//! A connected socket, too, stays in the namespace in which it was made. So a helper stays there,
//! which connects to the server's port for us and hands over the descriptor. Nobody else can ask
//! it: it has the other end of a pair of sockets. When our end closes, however we have ended, it
//! ends the server and itself.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{io, thread};

use parking_lot::Mutex;

use super::{DEADLINE, Prepared, Started, descriptors, enter_and_listen, give_up_rights};

/// How long a helper may take to answer: it may have to wait for the server to be ready.
const ANSWER: Duration = DEADLINE.saturating_mul(2);
/// How long a helper may take to end its server.
const END: Duration = Duration::from_secs(5);
/// The words of the helper's command line that name the port, and what the server prints.
pub const PORT: &str = "--serve";
/// See [`PORT`].
pub const READY: &str = "--ready";

/// A server that is about to be started.
#[derive(Debug)]
pub struct PreparedServer(Prepared);

/// A server that runs in its namespace.
#[derive(Debug)]
pub struct Server {
    /// The helper, which has the server as its child.
    pub helper: Child,
    /// What the server reaches at [`super::SERVER`].
    pub listener: TcpListener,
    /// Connects to the server.
    pub dialer: Dialer,
}

/// Connects to a server in a namespace of its own.
#[derive(Debug)]
pub struct Dialer(Mutex<UnixStream>);

/// Prepares a server, which listens on a port of its own loopback, and prints a line with the text
/// `ready` on its standard output once it does. It has no capabilities.
///
/// # Errors
/// If there is no helper.
pub fn prepare(
    program: &Path,
    arguments: &[OsString],
    port: u16,
    ready: &str,
) -> io::Result<PreparedServer> {
    let mut prepared = Prepared::new()?;
    prepared
        .command
        .args([PORT, &port.to_string(), READY, ready, "--"])
        .arg(program)
        .args(arguments);
    Ok(PreparedServer(prepared))
}

impl PreparedServer {
    /// Starts it by `spawn`, which sets its environment, its folder and its group. The inner error
    /// is the reason for which this machine gives us no namespace.
    ///
    /// # Errors
    /// If the helper cannot be started.
    pub fn start(
        self,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
    ) -> io::Result<Result<Server, &'static str>> {
        let started = self.0.start_helper(spawn)?;
        let server = |Started { child, listener, helper }| {
            helper.set_read_timeout(Some(ANSWER))?;
            Ok(Server { helper: child, listener, dialer: Dialer(Mutex::new(helper)) })
        };
        match started.map(server) {
            Ok(server) => server.map(Ok),
            Err(why) => Ok(Err(why)),
        }
    }
}

impl Dialer {
    /// A new connection to the server. This waits until the server is ready.
    ///
    /// # Errors
    /// If the server is not ready in time, or has ended.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let mut helper = self.0.lock();
        helper.write_all(&[0])?;
        descriptors::receive(&helper)?.map(TcpStream::from).map_err(io::Error::other)
    }

    /// Has the helper end the server and itself. This waits until it has, or for a few seconds.
    pub fn end(&self) {
        let mut helper = self.0.lock();
        // What fails here has ended already.
        let _ = helper.shutdown(Shutdown::Write);
        let _ = helper.set_read_timeout(Some(END));
        let _ = helper.read(&mut [0; 1]);
    }
}

/// The helper: makes the namespace and the listener, starts the server, and connects to it for
/// whoever asks over standard input, until that ends.
///
/// # Errors
/// If there is no namespace, or the server cannot be started.
pub fn serve(port: u16, ready: &str, words: &[OsString]) -> io::Result<()> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut socket = enter_and_listen()?;
    give_up_rights()?;
    let started =
        Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut server = match started {
        Ok(server) => server,
        Err(error) => {
            // The first who asks is told.
            let _ = socket.read(&mut [0; 1]);
            let why = format!("{} does not start: {error}", program.display());
            return descriptors::send_error(&socket, &why);
        }
    };
    let readiness = Readiness::of(server.stdout.take(), ready);
    let answered = answer(&mut socket, port, readiness);
    server.kill()?;
    server.wait()?;
    answered
}

/// Connects to the server whenever it is asked to.
fn answer(socket: &mut UnixStream, port: u16, mut readiness: Readiness) -> io::Result<()> {
    let mut asked = [0; 1];
    while socket.read(&mut asked)? == 1 {
        let connected = readiness.wait().and_then(|()| {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port))
                .map_err(|error| format!("the server cannot be reached: {error}"))
        });
        match connected {
            Ok(stream) => descriptors::send(socket, &stream)?,
            Err(why) => descriptors::send_error(socket, &why)?,
        }
    }
    Ok(())
}

/// Whether a server has printed that it is ready.
struct Readiness {
    printed: mpsc::Receiver<()>,
    is_known: bool,
}

impl Readiness {
    /// Reads all that the server prints, so that it never waits for a reader.
    fn of(output: Option<ChildStdout>, ready: &str) -> Self {
        let (print, printed) = mpsc::channel();
        let ready = ready.to_owned();
        thread::spawn(move || {
            let lines = output.map(|output| BufReader::new(output).split(b'\n'));
            for line in lines.into_iter().flatten().map_while(Result::ok) {
                if String::from_utf8_lossy(&line).contains(&ready) && print.send(()).is_err() {
                    return;
                }
            }
        });
        Readiness { printed, is_known: false }
    }

    fn wait(&mut self) -> Result<(), String> {
        if !self.is_known {
            self.printed.recv_timeout(DEADLINE).map_err(|error| match error {
                mpsc::RecvTimeoutError::Timeout => {
                    format!("the server is not ready after {DEADLINE:?}")
                }
                mpsc::RecvTimeoutError::Disconnected => "the server has ended".to_owned(),
            })?;
            self.is_known = true;
        }
        Ok(())
    }
}
