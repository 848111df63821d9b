//! The DevTools proxy of attach mode: the browser's own address, without the commands that lead out
//! of the episode.
//!
//! A client of a browser's DevTools has everything that the browser has: the machine's files, its
//! devices, its network. The client of an episode is the user's program, but pages and models
//! decide what it does. So it talks to this server, which forwards the commands that drive pages,
//! and refuses the others with a reason.
//!
//! ```text
//! client -> door (key) -> http (targets: /json/...) -> browser
//!        -> relay -> rules, files          -> browser
//!        <- relay <- targets              <-
//! ```
//!
//! **Invariant.** What is not known to be harmless is refused. Domains of the protocol, and
//! commands of domains that reach beyond a page, are allowed by name (`rules`). Only our own
//! parsing of a message counts: the browser gets the parsed message, written anew.

mod files;
mod http;
mod relay;
mod rules;
mod targets;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use doors::Key;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::attach::door::{self, Place, Task};
use crate::cdp::connection::Cdp;

/// The resources that a client may reach besides pages.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// The gateway: the only proxy that a browser context may have.
    pub(crate) proxy: SocketAddr,
    /// Folders whose files may be uploaded.
    pub(crate) uploads: Vec<PathBuf>,
    /// The folder of the episode's downloads.
    pub(crate) downloads: PathBuf,
}

/// A running server. Dropping it ends it and its connections.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its address: `http://127.0.0.1:PORT/KEY`.
    pub(crate) url: String,
    /// The WebSocket of the browser as a whole.
    pub(crate) socket: String,
    _running: JoinSet<()>,
}

/// The browser behind the proxy.
#[derive(Debug)]
struct Backend {
    cdp: Cdp,
    place: Place,
    limits: Limits,
    /// Takes the relays of upgraded connections.
    relays: mpsc::UnboundedSender<Task>,
}

impl Server {
    /// Starts to listen on a free port of the loopback.
    pub(crate) async fn start(cdp: &Cdp, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let place = Place { address: listener.local_addr()?, key: Some(Key::random()) };
        Ok(Server::serve(listener, place, cdp, limits))
    }

    /// Starts to serve a listener that only one client can get to, which sees it at this address.
    pub(crate) fn start_for_one(
        listener: std::net::TcpListener,
        address: SocketAddr,
        cdp: &Cdp,
        limits: Limits,
    ) -> io::Result<Server> {
        let place = Place { address, key: None };
        Ok(Server::serve(door::registered(listener)?, place, cdp, limits))
    }

    fn serve(listener: TcpListener, place: Place, cdp: &Cdp, limits: Limits) -> Server {
        let (relays, upgraded) = mpsc::unbounded_channel();
        let (url, socket) = (place.url(), http::browser_socket(&place));
        let backend = Arc::new(Backend { cdp: cdp.clone(), place, limits, relays });
        let mut running = JoinSet::new();
        let answer = move |request| http::answer(Arc::clone(&backend), request);
        running.spawn(door::serve(listener, answer, upgraded));
        Server { url, socket, _running: running }
    }
}
