//! The order of workers: that of the calls that make them.
//!
//! The browser tells of the request for a worker's script in the order of the calls, and of the
//! worker itself whenever its thread is there. Their threads would begin at the same time, and what
//! they request first would be by chance. So each begins only when those before it have nothing
//! more to do.

use std::collections::{BTreeMap, HashMap};

use crate::cdp::connection::SessionId;
use crate::cdp::targets::stable_url;

/// Workers of an episode, with their places.
#[derive(Debug, Default)]
pub(crate) struct WorkerOrder {
    /// The place of each worker, and its number among those with its URL, by its target.
    places: HashMap<String, (u64, usize)>,
    /// How many workers there were for each URL.
    ordinals: HashMap<String, usize>,
    last: u64,
    /// Workers that have not begun, by their places.
    held: BTreeMap<u64, SessionId>,
}

impl WorkerOrder {
    /// A request has begun. That for a worker's script has the worker's target as its id.
    pub(crate) fn requested(&mut self, id: &str, url: &str) {
        // Documents have such ids, too; their places are nobody's. Redirects begin anew.
        if id.len() == 32 && !id.contains('.') && !self.places.contains_key(id) {
            self.add(id, url);
        }
    }

    /// A worker is there. Returns its place, and its number among those with its URL.
    pub(crate) fn attached(&mut self, target: &str, url: &str) -> (u64, usize) {
        match self.places.get(target) {
            Some(known) => *known,
            None => self.add(target, url),
        }
    }

    fn add(&mut self, target: &str, url: &str) -> (u64, usize) {
        self.last += 1;
        let ordinal = self.ordinals.entry(stable_url(url).to_owned()).or_default();
        *ordinal += 1;
        let place = (self.last, *ordinal);
        self.places.insert(target.to_owned(), place);
        place
    }

    /// Keeps a worker until [`WorkerOrder::next`] gives it.
    pub(crate) fn hold(&mut self, place: u64, session: SessionId) {
        self.held.insert(place, session);
    }

    /// The first worker that is held. It may begin now.
    pub(crate) fn next(&mut self) -> Option<SessionId> {
        self.held.pop_first().map(|(_, session)| session)
    }

    /// A target has gone.
    pub(crate) fn left(&mut self, session: &SessionId) {
        self.held.retain(|_, held| held != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_the_order_of_the_calls_whenever_they_are_there() {
        let mut order = WorkerOrder::default();
        let target = |letter: &str| letter.repeat(32);
        for letter in ["A", "B", "C"] {
            order.requested(&target(letter), "https://a.test/w.js");
        }
        order.requested("17.4", "https://a.test/w.js");
        order.requested(&target("B"), "https://a.test/redirected.js");
        let url = "https://a.test/w.js";
        assert_eq!(order.attached(&target("C"), url), (3, 3));
        assert_eq!(order.attached(&target("A"), url), (1, 1));
        // One of which no request was seen.
        assert_eq!(order.attached(&target("D"), "blob:https://a.test/1234"), (4, 1));
        order.hold(3, "c".into());
        order.hold(1, "a".into());
        order.hold(4, "d".into());
        order.left(&"d".into());
        assert_eq!(order.next().as_deref(), Some("a"));
        assert_eq!(order.next().as_deref(), Some("c"));
        assert_eq!(order.next(), None);
    }
}
