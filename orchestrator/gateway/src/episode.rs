//! The state of one episode, which starts empty with each new episode: the ledger, and the cursors
//! over repeated recorded responses.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use snapshots::matching::Key;

use crate::{Ledger, PageClock, TrafficCapture};

/// The number of locks over which the cursors are spread.
const SHARDS: usize = 16;

/// The state of one episode. Snapshots are read-only. All state that changes during replay is here.
#[derive(Debug, Default)]
pub struct Episode {
    ledger: Arc<Ledger>,
    /// The capture of all traffic, if enabled.
    capture: Option<Arc<TrafficCapture>>,
    /// The clock of the pages that ask.
    page_clock: PageClock,
    /// How often each request was made, for requests with more than one recorded response.
    cursors: [Mutex<HashMap<Key, u32>>; SHARDS],
}

impl Episode {
    /// An episode without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// An episode with the given ledger, such as one with a low limit.
    pub fn with_ledger(ledger: Arc<Ledger>) -> Self {
        Self { ledger, ..Self::default() }
    }

    /// An episode that captures all of its traffic.
    pub fn with_capture(capture: Arc<TrafficCapture>) -> Self {
        Self { capture: Some(capture), ..Self::default() }
    }

    /// The same episode, whose pages have this clock.
    pub(crate) fn with_clock(self, page_clock: PageClock) -> Self {
        Self { page_clock, ..self }
    }

    pub(crate) fn page_clock(&self) -> &PageClock {
        &self.page_clock
    }

    pub(crate) fn capture(&self) -> Option<&Arc<TrafficCapture>> {
        self.capture.as_ref()
    }

    /// The requests of this episode.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// Which of `count` recorded responses is next for the request `key`: the first, the second,
    /// and so on. The last one is repeated for all further requests.
    pub(crate) fn next(&self, key: &Key, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let mut cursors = self.shard(key).lock();
        let cursor = cursors.entry(*key).or_insert(0);
        let now = *cursor as usize;
        *cursor = cursor.saturating_add(1);
        now.min(count - 1)
    }

    /// The response that was sent last, or the first one if none was sent. For requests that look
    /// at a response but must not advance the cursor.
    pub(crate) fn present(&self, key: &Key, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let cursors = self.shard(key).lock();
        let cursor = cursors.get(key).copied().unwrap_or(0) as usize;
        cursor.saturating_sub(1).min(count - 1)
    }

    fn shard(&self, key: &Key) -> &Mutex<HashMap<Key, u32>> {
        &self.cursors[key.0[0] as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_sticks_and_looking_does_not_advance() {
        let (episode, key) = (Episode::new(), Key([3; 16]));
        assert_eq!(episode.present(&key, 3), 0);
        let indices: Vec<usize> = (0..5).map(|_| episode.next(&key, 3)).collect();
        assert_eq!(indices, [0, 1, 2, 2, 2]);
        assert_eq!(episode.present(&key, 3), 2);
        assert_eq!(episode.next(&Key([4; 16]), 3), 0, "each request has a cursor of its own");
        assert_eq!(Episode::new().next(&key, 3), 0, "a new episode starts from the first");
    }
}
