//! The state of one episode, which starts empty with each new episode: the ledger, the turns over
//! repeated recorded responses, where it has each site, and which documents it was given.

use std::collections::HashMap;
use std::sync::Arc;

use in_flight::PageClock;
use parking_lot::Mutex;
use snapshots::matching::Key;

use crate::replay::{Documents, Standing};
use crate::{Ledger, TrafficCapture, Visit};

/// The number of locks over which the turns are spread.
const SHARDS: usize = 16;

/// The state of one episode. Snapshots are read-only. All state that changes during replay is here.
#[derive(Debug, Default)]
pub struct Episode {
    ledger: Arc<Ledger>,
    /// The capture of all traffic, if enabled.
    capture: Option<Arc<TrafficCapture>>,
    /// The visit, where the browser that asks begins with the episode.
    visit: Option<Arc<Visit>>,
    /// The clock of the pages that ask.
    page_clock: PageClock,
    /// How often each request was made.
    turns: [Mutex<HashMap<Key, u32>>; SHARDS],
    /// Where it has each site that has recorded writes.
    standings: Mutex<HashMap<String, Standing>>,
    documents: Mutex<Documents>,
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

    /// The same episode, which is the visit of one browser that begins with it, for recorders.
    pub fn of_visit(self, visit: Visit) -> Self {
        Self { visit: Some(Arc::new(visit)), ..self }
    }

    /// The same episode, whose pages have this clock.
    pub(crate) fn with_clock(self, page_clock: PageClock) -> Self {
        Self { page_clock, ..self }
    }

    pub(crate) fn visit(&self) -> Option<&Arc<Visit>> {
        self.visit.as_ref()
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

    /// Counts a request: how often it was made before.
    pub(crate) fn next(&self, key: &Key) -> usize {
        let mut turns = self.shard(key).lock();
        let turn = turns.entry(*key).or_insert(0);
        let now = *turn as usize;
        *turn = turn.saturating_add(1);
        now
    }

    /// The number that [`Episode::next`] gave last, or the first one. For requests that look at a
    /// response but must not count.
    pub(crate) fn present(&self, key: &Key) -> usize {
        self.shard(key).lock().get(key).map_or(0, |turn| turn.saturating_sub(1) as usize)
    }

    /// Where it has a site; `None` before anything of it was given.
    pub(crate) fn standing(&self, site: &str) -> Option<Standing> {
        self.standings.lock().get(site).cloned()
    }

    /// Changes where it has a site, which stands at `first` if nothing of it was given before.
    pub(crate) fn stand(&self, site: &str, first: Standing, change: impl FnOnce(&mut Standing)) {
        change(self.standings.lock().entry(site.to_owned()).or_insert(first));
    }

    /// The documents that it was given.
    pub(crate) fn documents(&self) -> &Mutex<Documents> {
        &self.documents
    }

    fn shard(&self, key: &Key) -> &Mutex<HashMap<Key, u32>> {
        &self.turns[key.0[0] as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_and_looking_does_not_count() {
        let (episode, key) = (Episode::new(), Key([3; 16]));
        assert_eq!(episode.present(&key), 0);
        let turns: Vec<usize> = (0..3).map(|_| episode.next(&key)).collect();
        assert_eq!(turns, [0, 1, 2]);
        assert_eq!(episode.present(&key), 2);
        assert_eq!(episode.next(&Key([4; 16])), 0, "each request has turns of its own");
        assert_eq!(Episode::new().next(&key), 0, "a new episode starts from the first");
    }
}
