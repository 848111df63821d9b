//! The pool of idle upstream connections.
//!
//! A request takes an HTTP/1.1 connection out; it returns when the response has been read to its
//! end. An HTTP/2 connection stays in the pool and is shared. Idle connections are dropped after a
//! while, and when there are too many. All end with the last handle on their pool.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::dial::Server;
use super::stream::HeadTap;
use crate::Body;

/// How long a connection may be idle. Servers commonly close after a minute.
const IDLE: Duration = Duration::from_secs(50);
/// How many may be idle for one server, and in total.
const IDLE_PER_SERVER: usize = 32;
const IDLE_IN_ALL: usize = 512;

/// An HTTP/1.1 connection in use by one request.
pub(super) struct Http1 {
    pub(super) sender: http1::SendRequest<Body>,
    pub(super) tap: HeadTap,
    pub(super) remote: Option<SocketAddr>,
}

/// A handle on a shared HTTP/2 connection.
#[derive(Clone)]
pub(super) struct Http2 {
    pub(super) sender: http2::SendRequest<Body>,
    pub(super) remote: Option<SocketAddr>,
}

/// A connection of either kind.
pub(super) enum Connection {
    Http1(Http1),
    Http2(Http2),
}

/// All idle connections.
#[derive(Clone, Default)]
pub(crate) struct Connections(Arc<Mutex<IdleConnections>>);

impl std::fmt::Debug for Connections {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Connections({} idle)", self.lock().idle)
    }
}

struct IdleConnections {
    /// The maximum idle time.
    patience: Duration,
    http1: HashMap<Server, Vec<(Instant, Http1)>>,
    http2: HashMap<Server, Http2>,
    idle: usize,
    /// Whether a task is running that drops expired connections.
    swept: bool,
}

impl Connections {
    /// A connection that seems to be alive, the most recently used first.
    pub(super) fn take(&self, server: &Server) -> Option<Connection> {
        let mut waiting = self.lock();
        if let Some(shared) = waiting.http2.get(server) {
            if shared.sender.is_ready() {
                return Some(Connection::Http2(shared.clone()));
            }
            waiting.http2.remove(server);
        }
        let patience = waiting.patience;
        while let Some((since, connection)) = waiting.http1.get_mut(server).and_then(Vec::pop) {
            waiting.idle -= 1;
            if connection.sender.is_ready() && since.elapsed() < patience {
                return Some(Connection::Http1(connection));
            }
        }
        None
    }

    /// Returns an HTTP/1.1 connection to the pool, if it can take another request.
    pub(super) fn give_back(&self, server: Server, connection: Http1) {
        if !connection.sender.is_ready() {
            return;
        }
        let mut waiting = self.lock();
        if waiting.idle >= IDLE_IN_ALL {
            waiting.purge();
        }
        let full = waiting.idle >= IDLE_IN_ALL;
        let own = waiting.http1.entry(server).or_default();
        if !full && own.len() < IDLE_PER_SERVER {
            own.push((Instant::now(), connection));
            waiting.idle += 1;
            self.sweep(&mut waiting);
        }
    }

    /// Drops expired connections, even if no further request comes. Ends when no connection is
    /// left, or with the pool.
    fn sweep(&self, waiting: &mut IdleConnections) {
        if std::mem::replace(&mut waiting.swept, true) {
            return;
        }
        let (pool, patience) = (Arc::downgrade(&self.0), waiting.patience);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(patience / 2);
            // The first tick comes at once.
            ticks.tick().await;
            loop {
                ticks.tick().await;
                let Some(pool) = pool.upgrade() else { return };
                let mut waiting = pool.lock();
                waiting.purge();
                if waiting.idle == 0 {
                    waiting.swept = false;
                    return;
                }
            }
        });
    }

    /// Adds an HTTP/2 connection for sharing.
    pub(super) fn share(&self, server: &Server, connection: &Http2) {
        let mut waiting = self.lock();
        if waiting.http2.len() >= IDLE_IN_ALL {
            waiting.http2.retain(|_, shared| shared.sender.is_ready());
        }
        if waiting.http2.len() < IDLE_IN_ALL {
            waiting.http2.insert(server.clone(), connection.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, IdleConnections> {
        self.0.lock()
    }
}

impl Default for IdleConnections {
    fn default() -> Self {
        IdleConnections {
            patience: IDLE,
            http1: HashMap::new(),
            http2: HashMap::new(),
            idle: 0,
            swept: false,
        }
    }
}

impl IdleConnections {
    fn purge(&mut self) {
        let patience = self.patience;
        self.http1.retain(|_, waiting| {
            waiting.retain(|(since, connection)| {
                since.elapsed() < patience && connection.sender.is_ready()
            });
            !waiting.is_empty()
        });
        self.idle = self.http1.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hyper_util::rt::TokioIo;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::Scheme;
    use crate::upstream::Place;

    #[tokio::test]
    async fn what_nobody_asks_for_any_more_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(TcpStream::connect(address).await.unwrap()))
                .await
                .unwrap();
        let ended = tokio::spawn(connection);
        sender.ready().await.unwrap();
        let pool = Connections::default();
        pool.lock().patience = Duration::from_millis(100);
        let server = Server {
            scheme: Scheme::Http,
            host: "shop.test".to_owned(),
            port: 80,
            place: Place::At(address),
        };
        pool.give_back(server, Http1 { sender, tap: HeadTap::default(), remote: Some(address) });
        assert_eq!(pool.lock().idle, 1);
        tokio::time::timeout(Duration::from_secs(10), ended)
            .await
            .expect("it is closed in time")
            .unwrap()
            .unwrap();
        assert_eq!(pool.lock().idle, 0);
    }
}
