//! Starts Chromium with pipes for its DevTools, and leads its connections to the gateway.
//!
//! Nothing of it listens anywhere. Commands and replies go over two pipes that only this process
//! and Chromium have. Its proxy is a listener in a network namespace of its own, where it is alone.
//! On machines that give us no such namespace, the listener is on the machine's loopback, and lets
//! in only connections that processes of this browser have made.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use doors::{Admission, Entrance};
use processes::peers;
use tokio::task::spawn_blocking;

use crate::launch::flags;
use crate::launch::process::{ChromiumProcesses, Ends, Start};
use crate::launch::programs::{Programs, check_display};
use crate::{Error, Launch};

/// How long Chromium may take to answer for the first time.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A running Chromium.
#[derive(Debug)]
pub(crate) struct Chromium {
    processes: ChromiumProcesses,
    _entrance: Option<Entrance>,
    /// The address of its proxy, as it sees it.
    pub(crate) proxy: SocketAddr,
    /// The language with which it was started.
    pub(crate) locale: String,
    /// See `clock::screen`.
    pub(crate) begin_frame_control: bool,
}

impl Chromium {
    /// Starts it. The ends are of its DevTools.
    pub(crate) async fn start(launch: &Launch) -> Result<(Self, Ends), Error> {
        let programs = Programs::find()?;
        let browser = programs.browser(launch)?.to_owned();
        check_display(launch)?;
        let is_headless_shell = browser
            .file_name()
            .is_some_and(|name| name.to_string_lossy().ends_with("headless-shell"));
        // Only the headless shell can be told when to draw a frame.
        let begin_frame_control = is_headless_shell && launch.is_frozen();
        let arguments = flags::command_line(launch, begin_frame_control, flags::own_sandbox());
        let settings = launch.clone();
        let starting = spawn_blocking(move || {
            let start = Start { browser: &browser, arguments, launch: &settings };
            ChromiumProcesses::start(&start)
        });
        let (processes, mut ends) = starting.await.map_err(|error| Error::Session {
            reason: format!("its start was interrupted: {error}"),
        })??;
        let leader = processes.leader();
        let entrance = match ends.listener.take() {
            None => None,
            Some(listener) => {
                let admission = admission(&ends, leader);
                let served = launch.door.serve(listener, admission);
                let failed =
                    |error| Error::Session { reason: format!("its proxy cannot listen: {error}") };
                Some(served.map_err(failed)?)
            }
        };
        let (proxy, locale) = (ends.proxy, launch.device.locale.clone());
        Ok((Self { processes, _entrance: entrance, proxy, locale, begin_frame_control }, ends))
    }

    /// The folder of the processes.
    pub(crate) fn folder(&self) -> &Path {
        self.processes.folder()
    }

    /// Ends what is left of it.
    pub(crate) async fn end(self) {
        self.processes.end().await;
    }
}

/// In a namespace of its own, who reaches the listener is the browser. Elsewhere the system is
/// asked whose a connection is.
fn admission(ends: &Ends, leader: Option<u32>) -> Admission {
    match leader {
        Some(leader) if !ends.own_network => Admission::Peer(Arc::new(move |ends| {
            peers::is_of_group(leader, ends.client, ends.server)
        })),
        _ => Admission::Anyone,
    }
}
