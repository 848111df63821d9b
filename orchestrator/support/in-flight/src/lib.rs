//! Counts of the requests and frames in flight, so that "the page has settled" is a condition to
//! wait for and not a sleep.
//!
//! A request is in flight from the arrival of its head until the last byte of its response has been
//! handed to the connection. WebSockets and event streams stay open as long as the page lives, so
//! open ones do not count. Recorded WebSocket frames that the page has yet to receive do count.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

mod page_clock;

pub use page_clock::PageClock;

/// How many answers to sockets are remembered. Nobody takes them where no world is frozen.
const MAX_ANSWERED_SOCKETS: usize = 10_000;

/// What the gateway has in flight. Clones share the same counts.
#[derive(Debug, Clone, Default)]
pub struct InFlight {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    counts: Mutex<InFlightCounts>,
    changed: Notify,
    /// How many guards hold back the frames of playbacks.
    holds: AtomicUsize,
    /// See [`InFlight::hold_servers`].
    servers_held: AtomicBool,
    queue: Mutex<QueueState>,
    /// See [`InFlight::take_answered_sockets`].
    answered_sockets: Mutex<Vec<String>>,
    page_clock: PageClock,
}

/// Responses that wait for release while a [`ResponseQueue`] exists.
#[derive(Debug, Default)]
struct QueueState {
    holders: usize,
    /// Ordered by URL and method first, and only then by arrival, because parallel connections may
    /// swap places.
    waiting: BTreeSet<(String, String, u64)>,
    granted: HashSet<u64>,
    next: u64,
}

/// While this exists, responses are released one at a time. See [`InFlight::queue_responses`].
#[derive(Debug)]
#[must_use]
pub struct ResponseQueue {
    in_flight: InFlight,
}

impl ResponseQueue {
    /// Whether a response is waiting whose URL and method satisfy `is_it`.
    pub fn contains(&self, is_it: impl Fn(&str, &str) -> bool) -> bool {
        self.in_flight.queue().waiting.iter().any(|(url, method, _)| is_it(url, method))
    }

    /// Releases one response: the one with the least `place`, computed from URL and method. Among
    /// several with the same place, the first by URL. Returns its place, or `None` if none is
    /// waiting.
    pub fn release_next_by<P: Ord>(&self, place: impl Fn(&str, &str) -> P) -> Option<P> {
        let place = {
            let queue = &mut *self.in_flight.queue();
            let places =
                queue.waiting.iter().map(|waiting| (place(&waiting.0, &waiting.1), waiting));
            let (place, first) = places.min_by(|(a, _), (b, _)| a.cmp(b))?;
            let first = first.clone();
            queue.waiting.remove(&first);
            queue.granted.insert(first.2);
            place
        };
        self.in_flight.shared.changed.notify_waiters();
        Some(place)
    }
}

impl Drop for ResponseQueue {
    fn drop(&mut self) {
        self.in_flight.queue().holders -= 1;
        self.in_flight.shared.changed.notify_waiters();
    }
}

/// A response that waits for release, until dropped.
struct QueuedResponse<'a> {
    in_flight: &'a InFlight,
    place: (String, String, u64),
}

impl Drop for QueuedResponse<'_> {
    fn drop(&mut self) {
        {
            let mut queue = self.in_flight.queue();
            queue.waiting.remove(&self.place);
            queue.granted.remove(&self.place.2);
        }
        self.in_flight.lock().queued -= 1;
        self.in_flight.shared.changed.notify_waiters();
    }
}

/// Holds back recorded WebSocket frames until dropped. They count as in flight meanwhile.
#[derive(Debug)]
#[must_use]
pub struct FrameHold {
    shared: Arc<Shared>,
}

impl Drop for FrameHold {
    fn drop(&mut self) {
        self.shared.holds.fetch_sub(1, Ordering::SeqCst);
        self.shared.changed.notify_waiters();
    }
}

/// How much is in flight at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InFlightCounts {
    /// Requests whose response is not delivered yet.
    pub requests: usize,
    /// Open WebSockets and event streams.
    pub streams: usize,
    /// Recorded WebSocket frames that are due but not delivered yet.
    pub frames: usize,
    /// The part of `requests` whose responses wait for release.
    pub queued: usize,
    /// Requests ever started. Distinguishes a lull from silence.
    pub started: u64,
    /// WebSocket messages ever sent to clients. A caller that counts arrivals can tell
    /// whether some are still in transit.
    pub frames_sent: u64,
    /// WebSocket messages ever received from clients.
    pub frames_received: u64,
    /// Handshakes of WebSockets that were ever answered with an open connection.
    pub sockets_opened: u64,
    /// How often a WebSocket was opened, has forwarded a message, or has one that is held back.
    pub socket_news: u64,
    /// Tunnels that clients have requested and that cannot carry requests yet: their TLS handshake
    /// is not over.
    pub opening_tunnels: usize,
}

impl InFlightCounts {
    /// Whether nothing is in transit to the browser.
    pub fn is_idle(&self) -> bool {
        self.requests == 0 && self.frames == 0
    }
}

/// The gateway did not become idle in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the network was not quiet within {waited:?}: {requests} requests in flight, {frames} frames to deliver"
)]
pub struct NotIdle {
    /// The deadline that passed.
    pub waited: Duration,
    /// Requests still in flight.
    pub requests: usize,
    /// Frames still to deliver.
    pub frames: usize,
}

impl InFlight {
    /// The clock of the pages, which the browser sets: this is what it and its gateway share.
    pub fn page_clock(&self) -> &PageClock {
        &self.shared.page_clock
    }

    /// The current counts.
    pub fn counts(&self) -> InFlightCounts {
        *self.lock()
    }

    /// Waits until no request and no frame is in flight. Fails after `deadline`.
    pub async fn idle(&self, deadline: Duration) -> Result<(), NotIdle> {
        if self.wait_until(deadline, InFlightCounts::is_idle).await {
            return Ok(());
        }
        let InFlightCounts { requests, frames, .. } = self.counts();
        Err(NotIdle { waited: deadline, requests, frames })
    }

    /// Holds back all recorded frames until the guard is dropped. A page whose clock runs would
    /// receive them at varying moments.
    pub fn hold_frames(&self) -> FrameHold {
        self.shared.holds.fetch_add(1, Ordering::SeqCst);
        FrameHold { shared: Arc::clone(&self.shared) }
    }

    /// Whether what servers say over WebSockets waits. The page of a frozen world hears it while it
    /// has nothing else to do.
    pub fn hold_servers(&self, held: bool) {
        self.shared.servers_held.store(held, Ordering::SeqCst);
        self.shared.changed.notify_waiters();
    }

    /// Waits until servers may speak. Says that one wants to.
    pub async fn servers_released(&self) {
        let is_held = || self.shared.servers_held.load(Ordering::SeqCst);
        if is_held() {
            self.socket_has_news();
        }
        self.until(|| !is_held()).await;
    }

    /// Waits until no guard holds back the frames.
    pub async fn frames_released(&self) {
        self.until(|| self.shared.holds.load(Ordering::SeqCst) == 0).await;
    }

    /// From now on each response waits until [`ResponseQueue::release_next_by`] releases it. A page
    /// that receives its responses in the same order each time behaves the same each time. Without
    /// a queue, no response waits.
    pub fn queue_responses(&self) -> ResponseQueue {
        self.queue().holders += 1;
        ResponseQueue { in_flight: self.clone() }
    }

    /// Whether responses wait for their release: a frozen world's browser asks, whose pages have no
    /// cache.
    pub fn queues_responses(&self) -> bool {
        self.queue().holders > 0
    }

    /// Waits for the release of a response, if responses are queued.
    pub async fn wait_for_release(&self, method: &str, url: &str) {
        let waiting = {
            let mut queue = self.queue();
            if queue.holders == 0 {
                return;
            }
            queue.next += 1;
            let place = (url.to_owned(), method.to_owned(), queue.next);
            queue.waiting.insert(place.clone());
            self.lock().queued += 1;
            QueuedResponse { in_flight: self, place }
        };
        self.shared.changed.notify_waiters();
        self.until(|| {
            let queue = self.queue();
            queue.holders == 0 || queue.granted.contains(&waiting.place.2)
        })
        .await;
    }

    fn queue(&self) -> MutexGuard<'_, QueueState> {
        self.shared.queue.lock()
    }

    /// Counts a request until the guard is dropped.
    pub fn request(&self) -> InFlightGuard {
        {
            let mut counts = self.lock();
            counts.requests += 1;
            counts.started += 1;
        }
        InFlightGuard { in_flight: self.clone(), kind: Kind::Request }
    }

    /// Counts a tunnel as opening until the guard is dropped.
    pub fn opening_tunnel(&self) -> InFlightGuard {
        self.lock().opening_tunnels += 1;
        InFlightGuard { in_flight: self.clone(), kind: Kind::OpeningTunnel }
    }

    /// Notes that a tunnel to this address was refused, or that the handshake of a WebSocket for
    /// this URL was answered.
    pub fn answer_socket(&self, place: String) {
        let mut answered = self.shared.answered_sockets.lock();
        if answered.len() < MAX_ANSWERED_SOCKETS {
            answered.push(place);
        }
        drop(answered);
        self.shared.changed.notify_waiters();
    }

    /// The addresses (`host:port`) of tunnels that were refused, and the URLs of WebSockets that
    /// were answered, since the last call. A page learns of that only when its time runs on, so
    /// nobody else can tell that nothing more will come.
    pub fn take_answered_sockets(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.answered_sockets.lock())
    }

    /// Counts `n` frames as in flight until [`Self::remove_frames`].
    pub fn add_frames(&self, n: usize) {
        self.lock().frames += n;
    }

    /// Counts `n` frames as delivered, or given up.
    pub fn remove_frames(&self, n: usize) {
        {
            let mut counts = self.lock();
            counts.frames = counts.frames.saturating_sub(n);
        }
        self.shared.changed.notify_waiters();
    }

    /// The handshake of a WebSocket is answered with an open connection.
    pub fn socket_opened(&self) {
        self.lock().sockets_opened += 1;
        self.socket_has_news();
    }

    /// Something has happened on a WebSocket, to which the server may answer.
    pub fn socket_has_news(&self) {
        self.lock().socket_news += 1;
        self.shared.changed.notify_waiters();
    }

    /// Counts one message as sent to the client.
    pub fn frame_sent(&self) {
        self.lock().frames_sent += 1;
        self.shared.changed.notify_waiters();
    }

    /// Counts one message as received from the client.
    pub fn frame_received(&self) {
        self.lock().frames_received += 1;
        self.shared.changed.notify_waiters();
    }

    /// Waits until `ready` accepts the counts. Returns false after `deadline`.
    pub async fn wait_until(
        &self,
        deadline: Duration,
        ready: impl Fn(&InFlightCounts) -> bool,
    ) -> bool {
        tokio::time::timeout(deadline, self.until(|| ready(&self.counts()))).await.is_ok()
    }

    /// Waits until something that is changed with a notice is as it is wanted.
    async fn until(&self, ready: impl Fn() -> bool) {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            // Registered before it is looked at, so that no change in between is lost.
            changed.as_mut().enable();
            if ready() {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, InFlightCounts> {
        self.shared.counts.lock()
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Request,
    Stream,
    OpeningTunnel,
}

/// Holds a place in the counts until dropped.
#[derive(Debug)]
pub struct InFlightGuard {
    in_flight: InFlight,
    kind: Kind,
}

impl InFlightGuard {
    /// Changes a request in flight into an open stream.
    pub fn into_stream(mut self) -> Self {
        if matches!(self.kind, Kind::Request) {
            {
                let mut counts = self.in_flight.lock();
                counts.requests -= 1;
                counts.streams += 1;
            }
            self.kind = Kind::Stream;
            self.in_flight.shared.changed.notify_waiters();
        }
        self
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        {
            let mut counts = self.in_flight.lock();
            match self.kind {
                Kind::Request => counts.requests -= 1,
                Kind::Stream => counts.streams -= 1,
                Kind::OpeningTunnel => counts.opening_tunnels -= 1,
            }
        }
        self.in_flight.shared.changed.notify_waiters();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn idle_waits_for_the_last_request_and_says_what_is_left() {
        let in_flight = InFlight::default();
        let first = in_flight.request();
        let second = in_flight.request();
        let refused = in_flight.idle(Duration::from_millis(5)).await.unwrap_err();
        assert_eq!((refused.requests, refused.frames), (2, 0));

        let waiting = tokio::spawn({
            let in_flight = in_flight.clone();
            async move { in_flight.idle(Duration::from_secs(5)).await }
        });
        drop(first);
        drop(second);
        waiting.await.unwrap().unwrap();
        assert_eq!(in_flight.counts(), InFlightCounts { started: 2, ..InFlightCounts::default() });
    }

    #[tokio::test]
    async fn a_server_that_is_held_back_says_that_it_has_news_and_speaks_when_it_may() {
        let in_flight = InFlight::default();
        in_flight.servers_released().await;
        assert_eq!(in_flight.counts().socket_news, 0, "nobody held it back");
        in_flight.hold_servers(true);
        let waiting = tokio::spawn({
            let in_flight = in_flight.clone();
            async move { in_flight.servers_released().await }
        });
        assert!(
            in_flight.wait_until(Duration::from_secs(5), |counts| counts.socket_news == 1).await
        );
        assert!(!waiting.is_finished());
        in_flight.hold_servers(false);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn frames_are_held_back_while_anyone_asks_for_it() {
        let in_flight = InFlight::default();
        let (first, second) = (in_flight.hold_frames(), in_flight.hold_frames());
        let waiting = tokio::spawn({
            let in_flight = in_flight.clone();
            async move { in_flight.frames_released().await }
        });
        drop(first);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(second);
        tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn responses_are_released_by_their_url_while_somebody_orders_them() {
        let in_flight = InFlight::default();
        in_flight.wait_for_release("GET", "http://free.test/").await;
        let queue = in_flight.queue_responses();
        assert_eq!(queue.release_next_by(|_, _| 0), None, "nothing waits");
        let answer = |url: &'static str| {
            let in_flight = in_flight.clone();
            tokio::spawn(async move { in_flight.wait_for_release("GET", url).await })
        };
        let (second, first) = (answer("http://shop.test/b"), answer("http://shop.test/a"));
        assert!(in_flight.wait_until(Duration::from_secs(5), |counts| counts.queued == 2).await);
        assert_eq!(queue.release_next_by(|_, _| 0), Some(0));
        first.await.unwrap();
        assert!(!second.is_finished());
        // A response whose client has gone no longer waits. The rest are released when the queue is
        // dropped.
        let gone = answer("http://shop.test/c");
        assert!(in_flight.wait_until(Duration::from_secs(5), |counts| counts.queued == 2).await);
        gone.abort();
        assert!(in_flight.wait_until(Duration::from_secs(5), |counts| counts.queued == 1).await);
        drop(queue);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn an_open_stream_is_idle_and_a_pending_frame_is_not() {
        let in_flight = InFlight::default();
        let _stream = in_flight.request().into_stream();
        in_flight.idle(Duration::from_secs(1)).await.unwrap();
        in_flight.add_frames(2);
        assert!(in_flight.idle(Duration::from_millis(5)).await.is_err());
        in_flight.remove_frames(2);
        in_flight.idle(Duration::from_secs(1)).await.unwrap();
        assert_eq!(in_flight.counts().streams, 1);
    }
}
