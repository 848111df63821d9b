//! Starts chromedriver in a network namespace of its own, where it finds one listener of ours.
//!
//! It is no browser, but it is driven by whoever drives one. So it has no network, no capabilities,
//! and nothing of the user's environment. Its home and its temporary files are in the browser's
//! folder, by which it is found and ended where our own process was killed.

use std::ffi::OsString;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;

use processes::Group;
use processes::own_network::server::{self, Dialer};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::Error;
use crate::launch::last_words::LastWords;
use crate::launch::process::{DISABLED_BUS, HOME};

/// Its port in its namespace, where every port is free.
pub(crate) const PORT: u16 = 9515;

/// The line that it prints once it listens.
const READY: &str = "was started successfully";

/// A running chromedriver. Dropping it does not wait, because that would block a thread of the
/// runtime.
#[derive(Debug)]
pub(crate) struct Chromedriver {
    /// `None` once it has been ended.
    running: Option<Running>,
    last_words: LastWords,
}

#[derive(Debug)]
struct Running {
    helper: Child,
    group: Group,
    dialer: Arc<Dialer>,
}

impl Running {
    /// Ends it and its helper, and waits for that.
    fn end(mut self) {
        self.dialer.end();
        self.group.kill();
        if let Err(error) = self.helper.wait() {
            tracing::warn!(%error, "chromedriver could not be reaped");
        }
    }
}

impl Chromedriver {
    /// Starts it in the folder of a browser's session. The listener is what it reaches.
    pub(crate) async fn start(
        program: PathBuf,
        folder: PathBuf,
    ) -> Result<(Self, TcpListener), Error> {
        let starting = spawn_blocking(move || start(&program, &folder));
        starting
            .await
            .map_err(|error| Error::WebDriver { reason: format!("it was interrupted: {error}") })?
    }

    /// The means to connect to it.
    pub(crate) fn dialer(&self) -> Option<Arc<Dialer>> {
        self.running.as_ref().map(|running| Arc::clone(&running.dialer))
    }

    /// The last line of its output.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.last_words.last_line()
    }

    /// Ends it, and waits for that.
    pub(crate) async fn end(mut self) {
        if let Some(running) = self.running.take() {
            // Runs to its end even if nobody waits for it.
            let _ = spawn_blocking(move || running.end()).await;
        }
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || running.end())),
            Err(_) => running.end(),
        }
    }
}

fn start(program: &Path, folder: &Path) -> Result<(Chromedriver, TcpListener), Error> {
    let failed = |source| Error::Spawn { program: program.display().to_string(), source };
    let arguments = [format!("--port={PORT}").into()];
    let prepared = server::prepare(program, &arguments, PORT, READY).map_err(failed)?;
    let started = prepared.start(|command| {
        command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        command.env_clear().envs(environment(folder)).current_dir(folder).spawn()
    });
    let mut server =
        started.map_err(failed)?.map_err(|why| Error::NoNetwork { reason: why.to_owned() })?;
    let last_words = LastWords::default();
    last_words.listen_to(server.helper.stderr.take());
    let group = Group::of(Some(server.helper.id()));
    let running = Running { helper: server.helper, group, dialer: Arc::new(server.dialer) };
    Ok((Chromedriver { running: Some(running), last_words }, server.listener))
}

/// Its environment. By its home it is known as one of the browser's processes.
fn environment(folder: &Path) -> Vec<(OsString, OsString)> {
    let of_session: [(&str, OsString); 5] = [
        ("LANG", "C.UTF-8".into()),
        ("HOME", folder.join(HOME).into()),
        ("TMPDIR", folder.into()),
        ("DBUS_SESSION_BUS_ADDRESS", DISABLED_BUS.into()),
        ("DBUS_SYSTEM_BUS_ADDRESS", DISABLED_BUS.into()),
    ];
    let path = processes::minimal().into_iter().filter(|(name, _)| name == "PATH");
    path.chain(of_session.into_iter().map(|(name, value)| (name.into(), value))).collect()
}
