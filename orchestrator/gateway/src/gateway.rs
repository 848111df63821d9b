//! The life cycle of a gateway: it starts, serves, and shuts down gracefully.
//!
//! ```text
//! start -> serving -> shutdown: no new connections, requests in flight end (at most Limits::shutdown), open streams are cut -> stopped
//! ```
//!
//! Dropping a gateway cuts all connections at once.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use camino::Utf8Path;
use doors::{Admission, Door, Entrance, Key, unix};
use http_client::ClientTls;
use http_client::RootsError;
use in_flight::InFlight;
use parking_lot::{Mutex, RwLock};
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::budget::Budget;
use crate::complaints::Complaints;
use crate::door::{self, Listener};
use crate::limits::OPEN_FILES_PER_CLIENT;
use crate::proxy::clients::Clients;
use crate::proxy::{again, listener};
use crate::upstream::{Dialer, Upstream};
use crate::{
    CertificateAuthority, Config, Episode, Ledger, Limits, Listen, Recorder, Routes, WriteGuard,
};

/// A running gateway.
pub struct Gateway {
    shared: Arc<Shared>,
    /// Where it listens, and who may come in there.
    entrance: Option<(SocketAddr, Entrance)>,
    /// What clients show there.
    key: Option<Key>,
}

/// State shared by all connections and requests of a gateway.
pub(crate) struct Shared {
    pub(crate) ca: Arc<CertificateAuthority>,
    pub(crate) upstream: Upstream,
    pub(crate) in_flight: InFlight,
    pub(crate) limits: Limits,
    pub(crate) clients: Arc<Clients>,
    /// The budget for request bodies that are held in memory whole.
    pub(crate) uploads: Budget,
    pub(crate) complaints: Arc<Complaints>,
    pub(crate) tasks: TaskTracker,
    /// Cancelled on shutdown: accept no new work, finish what has begun.
    pub(crate) draining: CancellationToken,
    /// Cancelled to stop at once.
    pub(crate) cut: CancellationToken,
    pub(crate) write_guard: Option<Arc<WriteGuard>>,
    routes: RwLock<Arc<Routes>>,
    episode: Mutex<Arc<Episode>>,
}

/// The gateway cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be bound.
    #[error("listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// The extra roots cannot be used.
    #[error(transparent)]
    Roots(#[from] RootsError),
}

impl Gateway {
    /// Starts a gateway. If it listens, it responds when this returns.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let tls = ClientTls::new(&config.extra_roots)?;
        let key = match &config.listen {
            Some(Listen { admission: Admission::Key(key), .. }) => Some(key.clone()),
            _ => None,
        };
        let listening = match config.listen {
            None => None,
            Some(Listen { address, admission }) => {
                let listen = |source| StartError::Listen { address, source };
                let listener = TcpListener::bind(address).await.map_err(listen)?;
                let address = listener.local_addr().map_err(listen)?;
                Some((address, listener.into_std().map_err(listen)?, admission))
            }
        };
        let dialer = Dialer {
            connect_to: config.connect_to,
            tls,
            allow_private: config.allow_private,
            // A request to the gateway's own address would go round in a circle.
            own: listening.as_ref().map(|(address, ..)| *address),
            deadline: config.limits.connect,
        };
        let in_flight = InFlight::default();
        let episode = Episode::new().with_clock(in_flight.page_clock().clone());
        let shared = Arc::new(Shared {
            ca: config.ca,
            upstream: Upstream::new(dialer, &config.limits),
            in_flight,
            clients: Clients::new(config.limits.connections.min(room())),
            uploads: Budget::new(config.limits.uploads),
            complaints: Arc::default(),
            limits: config.limits,
            tasks: TaskTracker::new(),
            draining: CancellationToken::new(),
            cut: CancellationToken::new(),
            write_guard: config.write_guard,
            routes: RwLock::new(Arc::new(config.routes)),
            episode: Mutex::new(Arc::new(episode)),
        });
        let entrance = listening.map(|(address, listener, admission)| {
            let listen = |source| StartError::Listen { address, source };
            let entrance = Door::of(shared.clone()).serve(listener, admission).map_err(listen)?;
            Ok::<_, StartError>((address, entrance))
        });
        Ok(Self { entrance: entrance.transpose()?, key, shared })
    }

    /// The address on which it listens, if it does.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.entrance.as_ref().map(|(address, _)| *address)
    }

    /// The URL by which clients use it as their proxy, with the key; nothing if it listens nowhere.
    pub fn proxy(&self) -> Option<String> {
        let address = self.local_addr()?;
        Some(
            self.key
                .as_ref()
                .map_or_else(|| format!("http://{address}"), |key| key.in_url(address)),
        )
    }

    /// The way in for browsers of this process.
    pub fn door(&self) -> Door {
        Door::of(self.shared.clone())
    }

    /// Lets in this user by a Unix socket, which is made here. Its path may be of any length.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub fn listen_at(&self, socket: &Utf8Path) -> io::Result<()> {
        let listener = unix::bind(socket.as_std_path())?;
        listener.set_nonblocking(true)?;
        let listener = Listener::Unix(UnixListener::from_std(listener)?);
        self.shared.tasks.spawn(listener::run(
            listener,
            Admission::Anyone,
            Arc::clone(&self.shared),
        ));
        Ok(())
    }

    /// A connection of this process.
    pub(crate) async fn connect(&self) -> DuplexStream {
        let (client, stream) = door::within();
        listener::serve_client(&self.shared, stream, Admission::Anyone).await;
        client
    }

    /// Replaces all routes at once. Requests in flight keep their route.
    pub fn set_routes(&self, routes: Routes) {
        *self.shared.routes.write() = Arc::new(routes);
    }

    /// Begins a new episode with an empty ledger; recorded responses start again from the first
    /// one. Returns the old ledger. Requests still in flight are added to it when they end.
    pub fn begin_episode(&self) -> Arc<Ledger> {
        self.begin(Episode::new())
    }

    /// Begins the given episode; see [`Self::begin_episode`].
    pub fn begin(&self, new: Episode) -> Arc<Ledger> {
        let new = new.with_clock(self.shared.in_flight.page_clock().clone());
        let mut episode = self.shared.episode.lock();
        std::mem::replace(&mut *episode, Arc::new(new)).ledger().clone()
    }

    /// Asks the live web again for what the present visit has seen of sites that it has written to
    /// since, for a recorder. See [`Visit`](crate::Visit).
    pub async fn ask_again(&self, recorder: &Arc<Recorder>) {
        let episode = self.shared.episode();
        let Some(visit) = episode.visit() else { return };
        again::at_the_end(&self.shared, recorder, visit).await;
    }

    /// Waits until the newest page of a visit that is recorded is old enough for an action. A
    /// recording tells actions from what a page sends by itself only by the time between them.
    #[expect(clippy::disallowed_methods, reason = "the age of the page is the condition")]
    pub async fn wait_for_page_age(&self) {
        let episode = self.shared.episode();
        // A document may arrive meanwhile.
        while let Some(begin) = episode.visit().and_then(|visit| visit.earliest_action())
            && begin > Instant::now()
        {
            tokio::time::sleep(begin.saturating_duration_since(Instant::now())).await;
        }
    }

    /// The ledger of the current episode.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.shared.episode().ledger().clone()
    }

    /// The requests and frames in flight.
    pub fn in_flight(&self) -> InFlight {
        self.shared.in_flight.clone()
    }

    /// Shuts down gracefully: no new connections are accepted, and requests in flight end or are
    /// cut at the deadline. WebSockets and event streams are closed. When this returns, everything
    /// being recorded has been handed to its recorder.
    pub async fn shutdown(self) {
        self.shared.draining.cancel();
        self.shared.tasks.close();
        let limit = self.shared.limits.shutdown;
        if let Err(busy) = self.shared.in_flight.idle(limit).await {
            tracing::warn!(requests = busy.requests, ?limit, "requests in flight were cut");
        }
        self.shared.cut.cancel();
        if tokio::time::timeout(limit, self.shared.tasks.wait()).await.is_err() {
            tracing::warn!(tasks = self.shared.tasks.len(), "connections did not end");
        }
    }
}

/// How many clients this process has file descriptors for.
fn room() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    files
        .map_or(usize::MAX, |files| {
            usize::try_from(files).unwrap_or(usize::MAX) / OPEN_FILES_PER_CLIENT
        })
        .max(16)
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.draining.cancel();
        self.shared.cut.cancel();
        self.shared.complaints.sum_up();
    }
}

impl Shared {
    pub(crate) fn routes(&self) -> Arc<Routes> {
        self.routes.read().clone()
    }

    pub(crate) fn episode(&self) -> Arc<Episode> {
        self.episode.lock().clone()
    }
}
