//! What is going on in the gateway right now, so that "the page has settled" is a fact and not a sleep.
//!
//! A request is in flight from its head's arrival until its answer's last byte was handed to the connection. A WebSocket or an event stream
//! stays open as long as the page lives, so an open one does not count as unrest; a recorded WebSocket frame that is due to the page does.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

/// A view of the gateway's present work. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    counts: Mutex<Counts>,
    changed: Notify,
    /// How many hold back the frames of playbacks.
    holds: AtomicUsize,
    turns: Mutex<Queue>,
}

/// Answers that wait for their turn, while somebody hands out turns.
#[derive(Debug, Default)]
struct Queue {
    keepers: usize,
    /// By address and method, and only then by when they came: parallel connections may change places.
    waiting: BTreeSet<(String, String, u64)>,
    granted: HashSet<u64>,
    next: u64,
}

/// Answers are handed over one at a time until this is dropped: see [`Activity::take_turns`].
#[derive(Debug)]
#[must_use]
pub struct Turns {
    activity: Activity,
}

impl Turns {
    /// Whether an answer waits of which `is_it` holds, by its URL and method.
    pub fn waits(&self, is_it: impl Fn(&str, &str) -> bool) -> bool {
        self.activity.queue().waiting.iter().any(|(url, method, _)| is_it(url, method))
    }

    /// Lets one answer go: the one with the least `place`, by URL and method; of several at one
    /// place the first by address. False where none waits.
    pub fn next_by<P: Ord>(&self, place: impl Fn(&str, &str) -> P) -> bool {
        let found = {
            let queue = &mut *self.activity.queue();
            let first = queue.waiting.iter().min_by_key(|(url, method, _)| place(url, method)).cloned();
            if let Some(first) = &first {
                queue.waiting.remove(first);
                queue.granted.insert(first.2);
            }
            first.is_some()
        };
        self.activity.shared.changed.notify_waiters();
        found
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.activity.queue().keepers -= 1;
        self.activity.shared.changed.notify_waiters();
    }
}

/// An answer that waits for its turn, until dropped.
struct Waiting<'a> {
    activity: &'a Activity,
    place: (String, String, u64),
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        {
            let mut queue = self.activity.queue();
            queue.waiting.remove(&self.place);
            queue.granted.remove(&self.place.2);
        }
        self.activity.lock().waiting -= 1;
        self.activity.shared.changed.notify_waiters();
    }
}

/// Holds back the recorded frames of WebSockets until dropped. They stay due meanwhile.
#[derive(Debug)]
#[must_use]
pub struct Hold {
    shared: Arc<Shared>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.holds.fetch_sub(1, Ordering::SeqCst);
        self.shared.changed.notify_waiters();
    }
}

/// How much is going on at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests whose answer is not delivered yet.
    pub requests: usize,
    /// Open WebSockets and event streams.
    pub streams: usize,
    /// Recorded WebSocket frames that are due but not delivered yet.
    pub frames: usize,
    /// Of the requests, those whose answers are there and wait for their turn.
    pub waiting: usize,
    /// Requests ever begun; tells a lull from silence.
    pub begun: u64,
    /// Recorded WebSocket messages ever sent to clients. Who counts what arrives knows whether some are still on their way.
    pub frames_sent: u64,
    /// WebSocket messages ever taken from clients of a playback.
    pub frames_taken: u64,
}

impl Counts {
    /// Whether nothing is on its way to the browser.
    pub fn is_quiet(&self) -> bool {
        self.requests == 0 && self.frames == 0
    }
}

/// The gateway did not fall quiet in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the network was not quiet within {waited:?}: {requests} requests in flight, {frames} frames to deliver"
)]
pub struct NotQuiet {
    /// The deadline that passed.
    pub waited: Duration,
    /// Requests still in flight.
    pub requests: usize,
    /// Frames still to deliver.
    pub frames: usize,
}

impl Activity {
    /// The counts now.
    pub fn counts(&self) -> Counts {
        *self.lock()
    }

    /// Waits until no request is in flight and no frame is due; gives up after `deadline`.
    pub async fn quiet(&self, deadline: Duration) -> Result<(), NotQuiet> {
        if self.until(deadline, Counts::is_quiet).await {
            return Ok(());
        }
        let Counts { requests, frames, .. } = self.counts();
        Err(NotQuiet { waited: deadline, requests, frames })
    }

    /// Lets no recorded frame go to a client until the guard is dropped: a page whose time runs would take them at moments that differ.
    pub fn hold_frames(&self) -> Hold {
        self.shared.holds.fetch_add(1, Ordering::SeqCst);
        Hold { shared: Arc::clone(&self.shared) }
    }

    /// Waits until nobody holds the frames back.
    pub(crate) async fn released(&self) {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.shared.holds.load(Ordering::SeqCst) == 0 {
                return;
            }
            changed.await;
        }
    }

    /// From now on answers wait until [`Turns::next_by`] lets them go, one after the other: pages that get theirs in the same order each time do
    /// the same each time. Without anybody who hands out turns nothing waits.
    pub fn take_turns(&self) -> Turns {
        self.queue().keepers += 1;
        Turns { activity: self.clone() }
    }

    /// Waits for the turn of the answer to a request, if there are turns.
    pub(crate) async fn turn(&self, method: &str, url: &str) {
        let waiting = {
            let mut queue = self.queue();
            if queue.keepers == 0 {
                return;
            }
            queue.next += 1;
            let place = (url.to_owned(), method.to_owned(), queue.next);
            queue.waiting.insert(place.clone());
            self.lock().waiting += 1;
            Waiting { activity: self, place }
        };
        self.shared.changed.notify_waiters();
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let queue = self.queue();
                if queue.keepers == 0 || queue.granted.contains(&waiting.place.2) {
                    return;
                }
            }
            changed.await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.shared.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request until the guard is dropped.
    pub(crate) fn request(&self) -> InFlight {
        {
            let mut counts = self.lock();
            counts.requests += 1;
            counts.begun += 1;
        }
        InFlight { activity: self.clone(), kind: Kind::Request }
    }

    /// Counts `n` frames as due until they are given back by [`Self::delivered`].
    pub(crate) fn due(&self, n: usize) {
        self.lock().frames += n;
    }

    /// Counts `n` frames as delivered, or given up.
    pub(crate) fn delivered(&self, n: usize) {
        {
            let mut counts = self.lock();
            counts.frames = counts.frames.saturating_sub(n);
        }
        self.shared.changed.notify_waiters();
    }

    /// Counts one recorded message as sent to the client.
    pub(crate) fn frame_sent(&self) {
        self.lock().frames_sent += 1;
        self.shared.changed.notify_waiters();
    }

    /// Counts one message as taken from the client.
    pub(crate) fn frame_taken(&self) {
        self.lock().frames_taken += 1;
        self.shared.changed.notify_waiters();
    }

    /// Waits until `ready` finds the counts as they should be; false after `deadline`.
    pub async fn until(&self, deadline: Duration, ready: impl Fn(&Counts) -> bool) -> bool {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                tokio::pin!(changed);
                // Registered before the counts are read, so that no change in between is lost.
                changed.as_mut().enable();
                if ready(&self.counts()) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(deadline, waiting).await.is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Request,
    Stream,
}

/// Holds a place in the counts until dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    activity: Activity,
    kind: Kind,
}

impl InFlight {
    /// From a request in flight to an open stream.
    pub(crate) fn into_stream(mut self) -> Self {
        if matches!(self.kind, Kind::Request) {
            {
                let mut counts = self.activity.lock();
                counts.requests -= 1;
                counts.streams += 1;
            }
            self.kind = Kind::Stream;
            self.activity.shared.changed.notify_waiters();
        }
        self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        {
            let mut counts = self.activity.lock();
            match self.kind {
                Kind::Request => counts.requests -= 1,
                Kind::Stream => counts.streams -= 1,
            }
        }
        self.activity.shared.changed.notify_waiters();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn quiet_waits_for_the_last_request_and_says_what_is_left() {
        let activity = Activity::default();
        let first = activity.request();
        let second = activity.request();
        let refused = activity.quiet(Duration::from_millis(5)).await.unwrap_err();
        assert_eq!((refused.requests, refused.frames), (2, 0));

        let waiting = tokio::spawn({
            let activity = activity.clone();
            async move { activity.quiet(Duration::from_secs(5)).await }
        });
        drop(first);
        drop(second);
        waiting.await.unwrap().unwrap();
        assert_eq!(activity.counts(), Counts { begun: 2, ..Counts::default() });
    }

    #[tokio::test]
    async fn frames_are_held_back_while_anyone_asks_for_it() {
        let activity = Activity::default();
        let (first, second) = (activity.hold_frames(), activity.hold_frames());
        let waiting = tokio::spawn({
            let activity = activity.clone();
            async move { activity.released().await }
        });
        drop(first);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(second);
        tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn answers_take_turns_by_their_address_while_somebody_hands_them_out() {
        let activity = Activity::default();
        activity.turn("GET", "http://free.test/").await;
        let turns = activity.take_turns();
        assert!(!turns.next_by(|_, _| 0), "nothing waits");
        let answer = |url: &'static str| {
            let activity = activity.clone();
            tokio::spawn(async move { activity.turn("GET", url).await })
        };
        let (second, first) = (answer("http://shop.test/b"), answer("http://shop.test/a"));
        assert!(activity.until(Duration::from_secs(5), |counts| counts.waiting == 2).await);
        assert!(turns.next_by(|_, _| 0));
        first.await.unwrap();
        assert!(!second.is_finished());
        // One whose client has gone waits no more; the last ones are free when nobody hands out turns.
        let gone = answer("http://shop.test/c");
        assert!(activity.until(Duration::from_secs(5), |counts| counts.waiting == 2).await);
        gone.abort();
        assert!(activity.until(Duration::from_secs(5), |counts| counts.waiting == 1).await);
        drop(turns);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn an_open_stream_is_quiet_and_a_due_frame_is_not() {
        let activity = Activity::default();
        let _stream = activity.request().into_stream();
        activity.quiet(Duration::from_secs(1)).await.unwrap();
        activity.due(2);
        assert!(activity.quiet(Duration::from_millis(5)).await.is_err());
        activity.delivered(2);
        activity.quiet(Duration::from_secs(1)).await.unwrap();
        assert_eq!(activity.counts().streams, 1);
    }
}
