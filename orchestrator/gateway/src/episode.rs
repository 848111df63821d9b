//! What belongs to one episode and starts anew with the next: the ledger, and which recorded answer
//! comes next.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use snapshots::matching::Key;

use crate::{Ledger, TrafficCapture};

/// Cursors are spread over this many locks.
const SHARDS: usize = 16;

/// The state of one episode. Snapshots are read-only; everything that changes while replaying
/// stands here.
#[derive(Debug, Default)]
pub struct Episode {
    ledger: Arc<Ledger>,
    /// Where everything that passes is kept, if it is.
    capture: Option<Arc<TrafficCapture>>,
    /// How often a request was asked, for requests with more than one recorded answer.
    cursors: [Mutex<HashMap<Key, u32>>; SHARDS],
}

impl Episode {
    /// An episode in which nothing has been asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An episode with a ledger of one's own, such as one that keeps little.
    pub fn with_ledger(ledger: Arc<Ledger>) -> Self {
        Self { ledger, ..Self::default() }
    }

    /// An episode of which everything that passes is kept.
    pub fn with_capture(capture: Arc<TrafficCapture>) -> Self {
        Self { capture: Some(capture), ..Self::default() }
    }

    pub(crate) fn capture(&self) -> Option<&Arc<TrafficCapture>> {
        self.capture.as_ref()
    }

    /// The requests of this episode.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// Which of `count` recorded answers is next for the request `key`: the first, the second, ...
    /// and the last ever after.
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

    /// The answer that was given last, or will be given first; for requests that look at an answer
    /// without being the next to ask for it.
    pub(crate) fn present(&self, key: &Key, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let cursors = self.shard(key).lock();
        let asked = cursors.get(key).copied().unwrap_or(0) as usize;
        asked.saturating_sub(1).min(count - 1)
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
        let asked: Vec<usize> = (0..5).map(|_| episode.next(&key, 3)).collect();
        assert_eq!(asked, [0, 1, 2, 2, 2]);
        assert_eq!(episode.present(&key, 3), 2);
        assert_eq!(episode.next(&Key([4; 16]), 3), 0, "each request has a cursor of its own");
        assert_eq!(Episode::new().next(&key, 3), 0, "a new episode starts from the first");
    }
}
