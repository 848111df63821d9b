//! Limits the number of connected clients, and decides which one is closed when there are too many.
//!
//! A client holds its place for the lifetime of its TCP connection, even if that has become a
//! tunnel, TLS or a WebSocket. It is *busy* while one of its requests is in flight and *idle*
//! otherwise. When all places are taken and another client connects, the longest idle one is
//! closed. If all are busy or have only just connected, the new one waits.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a new client may take for its first request before it counts as idle. It may be busy
/// with TLS.
const FRESH: Duration = Duration::from_secs(1);

/// All clients of a gateway.
#[derive(Debug)]
pub(crate) struct Clients {
    limit: usize,
    began: Instant,
    places: Mutex<Places>,
    /// Notified when a place may have become free, or a client idle.
    changed: Notify,
    /// Whether anybody waits for `changed`.
    awaited: AtomicBool,
}

#[derive(Debug, Default)]
struct Places {
    next: u64,
    taken: HashMap<u64, Arc<State>>,
}

#[derive(Debug)]
struct State {
    /// Requests in flight.
    busy: AtomicUsize,
    /// When the last one ended, or the client connected; milliseconds since the gateway started.
    idle_since: AtomicU64,
    /// Whether it has received a response.
    served: AtomicBool,
    closed: CancellationToken,
}

/// A client's place, released when the last handle on it is dropped.
#[derive(Debug)]
pub(crate) struct Client {
    clients: Arc<Clients>,
    number: u64,
    state: Arc<State>,
}

/// Marks one of a client's requests as in flight until dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Client>);

impl Clients {
    /// Places for `limit` clients.
    pub(crate) fn new(limit: usize) -> Arc<Clients> {
        Arc::new(Clients {
            limit: limit.max(1),
            began: Instant::now(),
            places: Mutex::default(),
            changed: Notify::new(),
            awaited: AtomicBool::new(false),
        })
    }

    /// The number of places.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Waits for a place for a new client. If there is none, closes the longest idle client; the
    /// second value says whether it did.
    pub(crate) async fn admit(self: &Arc<Self>) -> (Arc<Client>, bool) {
        let mut crowded = false;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(client) = self.place() {
                self.awaited.store(false, Ordering::SeqCst);
                return (client, crowded);
            }
            // Set before the clients are inspected, so that a client that becomes idle right
            // afterwards notifies us.
            self.awaited.store(true, Ordering::SeqCst);
            crowded |= self.close_longest_idle();
            // New clients become idle soon, and nothing notifies us of that.
            let _ = tokio::time::timeout(FRESH / 4, changed).await;
        }
    }

    /// Closes the longest idle client and waits until one has gone, at most `deadline`.
    pub(crate) async fn make_room(&self, deadline: Duration) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        self.awaited.store(true, Ordering::SeqCst);
        self.close_longest_idle();
        // No client has to go: any other file that the process closes helps as well.
        let _ = tokio::time::timeout(deadline, changed).await;
    }

    fn place(self: &Arc<Self>) -> Option<Arc<Client>> {
        let mut places = self.lock();
        if places.taken.len() >= self.limit {
            return None;
        }
        let number = places.next;
        places.next += 1;
        let state = Arc::new(State {
            busy: AtomicUsize::new(0),
            idle_since: AtomicU64::new(self.now()),
            served: AtomicBool::new(false),
            closed: CancellationToken::new(),
        });
        places.taken.insert(number, state.clone());
        drop(places);
        Some(Arc::new(Client { clients: self.clone(), number, state }))
    }

    /// False if all clients are busy, new, or already closing.
    fn close_longest_idle(&self) -> bool {
        let (now, fresh) = (self.now(), u64::try_from(FRESH.as_millis()).unwrap_or(u64::MAX));
        let places = self.lock();
        let idle = places
            .taken
            .iter()
            .filter(|(_, state)| {
                state.busy.load(Ordering::SeqCst) == 0 && !state.closed.is_cancelled()
            })
            .filter(|(_, state)| {
                let since = state.idle_since.load(Ordering::Relaxed);
                // A new client had no chance yet to send a request.
                state.served.load(Ordering::Relaxed) || since.saturating_add(fresh) <= now
            })
            .min_by_key(|(number, state)| (state.idle_since.load(Ordering::Relaxed), **number));
        idle.map(|(_, state)| state.closed.cancel()).is_some()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn tell(&self) {
        if self.awaited.load(Ordering::SeqCst) {
            self.changed.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock()
    }
}

impl Client {
    /// Marks the client busy.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.state.busy.fetch_add(1, Ordering::SeqCst);
        Busy(self.clone())
    }

    /// How long none of its requests has been in flight; `None` while one is.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        if self.state.busy.load(Ordering::SeqCst) > 0 {
            return None;
        }
        let since = self.state.idle_since.load(Ordering::Relaxed);
        Some(Duration::from_millis(self.clients.now().saturating_sub(since)))
    }

    /// Waits until the client must close.
    pub(crate) async fn closed(&self) {
        self.state.closed.cancelled().await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.lock().taken.remove(&self.number);
        self.clients.tell();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let Client { clients, state, .. } = &*self.0;
        state.idle_since.store(clients.now(), Ordering::Relaxed);
        state.served.store(true, Ordering::Relaxed);
        if state.busy.fetch_sub(1, Ordering::SeqCst) == 1 {
            clients.tell();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn the_longest_idle_goes_and_the_busy_stay() {
        let clients = Clients::new(2);
        let (first, _) = clients.admit().await;
        let (second, _) = clients.admit().await;
        let busy = first.busy();
        let third = tokio::spawn({
            let clients = clients.clone();
            async move { clients.admit().await }
        });
        assert!(timeout(SOON, second.closed()).await.is_err(), "it has only just come");
        timeout(SOON * 50, second.closed()).await.unwrap();
        assert!(!first.state.closed.is_cancelled());
        drop(second);
        let (third, crowded) = timeout(SOON * 50, third).await.unwrap().unwrap();
        assert!(crowded && first.idle_for().is_none() && third.idle_for().is_some());

        // If all are busy, a new client waits until one becomes idle.
        let busy = (busy, third.busy());
        let fourth = clients.clone();
        let mut fourth = tokio::spawn(async move { fourth.admit().await.1 });
        assert!(timeout(SOON, &mut fourth).await.is_err());
        drop(busy.0);
        timeout(SOON * 50, first.closed()).await.unwrap();
        drop(first);
        assert!(timeout(SOON * 50, fourth).await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn making_room_ends_in_time_with_nobody_there() {
        timeout(SOON * 50, Clients::new(1).make_room(SOON)).await.unwrap();
    }
}
