//! The DevTools address that other programs are given: the browser's own, less what would lead out
//! of the episode.
//!
//! Whoever may speak to a browser's DevTools has all that the browser has: the machine's files, its
//! devices, its network. A program that drives an episode is the user's, but what it does is
//! decided by pages and by models. So it speaks to this server instead, which passes on what
//! belongs to driving pages and refuses the rest with a reason.
//!
//! ```text
//! program -> http (what there is: /json/...)  -> the browser
//!         -> relay -> rules, files             -> the browser
//!         <- relay <- targets                 <-
//! ```
//!
//! **Invariant.** What is not known to be harmless is refused: domains of the protocol, and the
//! commands of the domains that reach beyond a page, are allowed by name (`rules`). Only one
//! reading of a message counts, ours: the browser gets what was understood, written anew.

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

/// How long is waited for descriptors where there are no more of them.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// What a program may reach besides pages.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// The gateway: the only proxy that a browser context may have.
    pub(crate) proxy: SocketAddr,
    /// Folders whose files may be given to pages.
    pub(crate) uploads: Vec<PathBuf>,
    /// The folder for what pages have the browser save.
    pub(crate) downloads: PathBuf,
}

/// A running server; it and its connections end when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    _running: JoinSet<()>,
}

/// The browser behind it.
#[derive(Debug)]
struct Backend {
    /// `host:port` of the browser's own DevTools.
    debugger: String,
    /// Where the server listens.
    address: SocketAddr,
    limits: Limits,
    /// Takes what goes on after its connection was upgraded.
    relays: mpsc::UnboundedSender<Relay>,
}

type Relay = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Server {
    /// Begins to listen on a free port of the loopback.
    pub(crate) async fn start(debugger: &str, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (relays, upgraded) = mpsc::unbounded_channel();
        let backend = Arc::new(Backend { debugger: debugger.to_owned(), address, limits, relays });
        let mut running = JoinSet::new();
        running.spawn(accept(listener, backend, upgraded));
        Ok(Server { address, _running: running })
    }
}

/// Holds everything that was begun, so that it ends together.
async fn accept(listener: TcpListener, backend: Arc<Backend>, mut upgraded: mpsc::UnboundedReceiver<Relay>) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(tasks.spawn(serve(stream, Arc::clone(&backend)))),
                Err(error) => {
                    tracing::debug!(%error, "a DevTools connection was not accepted");
                    // Its running out is what is waited for.
                    let _ = timeout(ACCEPT_RETRY, std::future::pending::<()>()).await;
                }
            },
            Some(relay) = upgraded.recv() => drop(tasks.spawn(relay)),
            Some(_) = tasks.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, backend: Arc<Backend>) {
    // Small messages, each of which somebody waits for.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| http::answer(Arc::clone(&backend), request));
    let http = hyper::server::conn::http1::Builder::new();
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await {
        tracing::debug!(%error, "a DevTools connection broke off");
    }
}
