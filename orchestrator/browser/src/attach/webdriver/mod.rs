//! The door for WebDriver clients, such as Selenium: chromedriver, without the commands that lead
//! out of the episode.
//!
//! ```text
//!                                    |  a network namespace of its own
//! client -> http (key) -> endpoints -|-> chromedriver
//! browser <- rules <- DevTools proxy-|------- | (127.0.0.1:8080)
//! ```
//!
//! chromedriver speaks DevTools with the browser. It gets there only through a second listener of
//! the [DevTools proxy](crate::attach::proxy), which is alone with it in its namespace. So the same
//! rules hold for it as for other clients. Nothing on the machine reaches its own port but us.
//!
//! **Invariant.** A request is passed on only if it is a command of the W3C's specification on the
//! session that the client has (`endpoints`, `session`). It is written anew from what we have
//! parsed of it.

mod capabilities;
mod connector;
mod endpoints;
mod http;
mod session;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use doors::Key;
use processes::own_network;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::session::Sessions;
use crate::Error;
use crate::attach::door::{self, Place};
use crate::attach::proxy::{Limits, Server as DevTools};
use crate::cdp::connection::Cdp;
use crate::launch::chromedriver::Chromedriver;

/// A running door with its chromedriver. Dropping it ends both.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its address: `http://127.0.0.1:PORT/KEY`.
    pub(crate) url: String,
    sessions: Arc<Sessions>,
    running: JoinSet<()>,
    driver: Chromedriver,
    /// The DevTools proxy that chromedriver reaches.
    _devtools: DevTools,
}

/// The browser behind a door.
pub(crate) struct Browser<'b> {
    pub(crate) cdp: &'b Cdp,
    pub(crate) limits: Limits,
    /// The folder of its session.
    pub(crate) folder: &'b Path,
    pub(crate) version: &'b str,
}

impl Server {
    /// Starts chromedriver, opens its session, and listens on a free port of the loopback.
    pub(crate) async fn start(
        chromedriver: PathBuf,
        browser: Browser<'_>,
    ) -> Result<Server, Error> {
        let failed = |error| Error::WebDriver { reason: format!("there is no port: {error}") };
        let (driver, listener) =
            Chromedriver::start(chromedriver, browser.folder.to_owned()).await?;
        let devtools =
            DevTools::start_for_one(listener, own_network::SERVER, browser.cdp, browser.limits)
                .map_err(failed)?;
        let dialer = driver
            .dialer()
            .ok_or_else(|| Error::WebDriver { reason: "it has ended".to_owned() })?;
        let sessions = match Sessions::open(dialer, browser.version.to_owned()).await {
            Ok(sessions) => Arc::new(sessions),
            Err(Error::WebDriver { reason }) => {
                let said = driver.last_line().map(|line| format!(" ({line})")).unwrap_or_default();
                return Err(Error::WebDriver { reason: format!("{reason}{said}") });
            }
            Err(error) => return Err(error),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let place = Arc::new(Place { address, key: Some(Key::random()) });
        let url = place.url();
        let mut running = JoinSet::new();
        let answering = Arc::clone(&sessions);
        let answer =
            move |request| http::answer(Arc::clone(&place), Arc::clone(&answering), request);
        // It has no other tasks.
        let (_, others) = mpsc::unbounded_channel();
        running.spawn(door::serve(listener, answer, others));
        Ok(Server { url, sessions, running, driver, _devtools: devtools })
    }

    /// Ends all of it. When this returns, no client is answered any more.
    pub(crate) async fn end(mut self) {
        self.running.shutdown().await;
        self.sessions.close().await;
        self.driver.end().await;
    }
}
