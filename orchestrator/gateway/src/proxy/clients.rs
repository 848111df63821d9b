//! The clients that are connected: how many there may be, and which of them goes when there are too
//! many.
//!
//! A client holds its place from its TCP connection's beginning to its end, whatever that has
//! become meanwhile: a tunnel, TLS, a WebSocket. It is *busy* while one of its requests is under
//! way and *idle* otherwise. When all places are taken and another client comes, the longest idle
//! is closed; where all are busy, or have only just come, the new one waits.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a client that has come has for its first request before it counts as idle: it may be
/// busy with TLS.
const FRESH: Duration = Duration::from_secs(1);

/// All clients of a gateway.
#[derive(Debug)]
pub(crate) struct Clients {
    limit: usize,
    began: Instant,
    places: Mutex<Places>,
    /// A place may have become free, or its client idle.
    changed: Notify,
    /// Whether anybody waits for that.
    awaited: AtomicBool,
}

#[derive(Debug, Default)]
struct Places {
    next: u64,
    taken: HashMap<u64, Arc<State>>,
}

#[derive(Debug)]
struct State {
    /// Requests under way.
    busy: AtomicUsize,
    /// When the last one ended, or the client came; milliseconds since the gateway began.
    idle_since: AtomicU64,
    /// It has had an answer.
    served: AtomicBool,
    closed: CancellationToken,
}

/// A client's place, given up when the last handle on it is dropped.
#[derive(Debug)]
pub(crate) struct Client {
    clients: Arc<Clients>,
    number: u64,
    state: Arc<State>,
}

/// One of a client's requests is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Client>);

impl Clients {
    /// Room for `limit` clients.
    pub(crate) fn new(limit: usize) -> Arc<Clients> {
        Arc::new(Clients {
            limit: limit.max(1),
            began: Instant::now(),
            places: Mutex::default(),
            changed: Notify::new(),
            awaited: AtomicBool::new(false),
        })
    }

    /// How many there may be.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// A place for a client that has come. Where there is none, the longest idle client is closed;
    /// the second value says whether one was.
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
            // Set before the clients are looked at, so that one that falls idle right afterwards
            // says so.
            self.awaited.store(true, Ordering::SeqCst);
            crowded |= self.close_longest_idle();
            // Those that have come a moment ago are idle in a moment, and nobody says so.
            let _ = tokio::time::timeout(FRESH / 4, changed).await;
        }
    }

    /// Waits until a client has gone, `deadline` at most; closes the longest idle, so that one
    /// goes.
    pub(crate) async fn make_room(&self, deadline: Duration) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        self.awaited.store(true, Ordering::SeqCst);
        self.close_longest_idle();
        // Nobody has to go: whatever else the process has open may be closed as well.
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

    /// False where all are busy, fresh, or on their way out.
    fn close_longest_idle(&self) -> bool {
        let (now, fresh) = (self.now(), u64::try_from(FRESH.as_millis()).unwrap_or(u64::MAX));
        let places = self.lock();
        let idle = places
            .taken
            .iter()
            .filter(|(_, state)| state.busy.load(Ordering::SeqCst) == 0 && !state.closed.is_cancelled())
            .filter(|(_, state)| {
                let since = state.idle_since.load(Ordering::Relaxed);
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
    /// Marks it busy.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.state.busy.fetch_add(1, Ordering::SeqCst);
        Busy(self.clone())
    }

    /// For how long none of its requests has been under way; `None` while one is.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        if self.state.busy.load(Ordering::SeqCst) > 0 {
            return None;
        }
        let since = self.state.idle_since.load(Ordering::Relaxed);
        Some(Duration::from_millis(self.clients.now().saturating_sub(since)))
    }

    /// Waits until it is told to go.
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

        // With all busy a new one waits until one of them falls idle.
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
