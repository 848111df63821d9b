//! The DevTools proxy of attach mode: the browser's own address, without the commands that lead out
//! of the episode.
//!
//! A client of a browser's DevTools has everything that the browser has: the machine's files, its
//! devices, its network. The client of an episode is the user's program, but pages and models
//! decide what it does. So it talks to this server, which forwards the commands that drive pages,
//! and refuses the others with a reason.
//!
//! ```text
//! client -> http (key; targets: /json/...) -> browser
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

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};
use uuid::Uuid;

use crate::cdp::connection::Cdp;

/// How long to wait for free file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// What a client may reach besides pages.
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
    /// Where it listens: `http://127.0.0.1:PORT/KEY`.
    pub(crate) url: String,
    _running: JoinSet<()>,
}

/// The browser behind the proxy.
#[derive(Debug)]
struct Backend {
    cdp: Cdp,
    /// Where the proxy listens.
    address: SocketAddr,
    /// The secret in its path. Every program of the machine reaches the port.
    key: String,
    limits: Limits,
    /// Takes the relays of upgraded connections.
    relays: mpsc::UnboundedSender<Relay>,
}

type Relay = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Server {
    /// Starts to listen on a free port of the loopback.
    pub(crate) async fn start(cdp: &Cdp, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (relays, upgraded) = mpsc::unbounded_channel();
        let key = Uuid::new_v4().simple().to_string();
        let url = format!("http://{address}/{key}");
        let backend = Arc::new(Backend { cdp: cdp.clone(), address, key, limits, relays });
        let mut running = JoinSet::new();
        running.spawn(accept(listener, backend, upgraded));
        Ok(Server { url, _running: running })
    }
}

/// Owns all tasks, so that they end together.
async fn accept(listener: TcpListener, backend: Arc<Backend>, mut upgraded: mpsc::UnboundedReceiver<Relay>) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(tasks.spawn(serve(stream, Arc::clone(&backend)))),
                Err(error) => {
                    tracing::debug!(%error, "a DevTools connection was not accepted");
                    // This timeout is the delay.
                    let _ = timeout(ACCEPT_RETRY, std::future::pending::<()>()).await;
                }
            },
            Some(relay) = upgraded.recv() => drop(tasks.spawn(relay)),
            Some(_) = tasks.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, backend: Arc<Backend>) {
    // Messages are small, and each of them has somebody waiting.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| http::answer(Arc::clone(&backend), request));
    let http = hyper::server::conn::http1::Builder::new();
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await {
        tracing::debug!(%error, "a DevTools connection was lost");
    }
}
