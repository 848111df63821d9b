//! The table of sessions, with the gym of each.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::balancer::server::{Lease, Server};

/// Number of sessions that are remembered. An older one is found by asking all gyms.
const REMEMBERED: usize = 10_000;
/// Maximum length of an id in bytes. That of a gym has 36.
pub(crate) const LONGEST_ID: usize = 128;

/// All sessions by id.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Table>);

#[derive(Default)]
struct Table {
    sessions: HashMap<String, Session>,
    /// The ids, oldest first.
    order: VecDeque<String>,
}

struct Session {
    server: Arc<Server>,
    /// Its place, until its episode ends.
    lease: Option<Lease>,
    /// Whether it ended without a result, because its gym did not answer, or has forgotten it.
    is_lost: bool,
}

impl Sessions {
    /// Remembers a session, unless its id is too long.
    pub(crate) fn open(&self, id: &str, lease: Lease) {
        if id.len() > LONGEST_ID {
            return;
        }
        let session = Session { server: lease.server.clone(), lease: Some(lease), is_lost: false };
        let mut table = self.0.lock();
        if table.sessions.insert(id.to_owned(), session).is_none() {
            table.order.push_back(id.to_owned());
        }
        let oldest = if table.order.len() > REMEMBERED { table.order.pop_front() } else { None };
        let forgotten = oldest.and_then(|oldest| table.sessions.remove(&oldest));
        // Outside of the lock, because dropping a lease takes others.
        drop(table);
        drop(forgotten);
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Server>> {
        self.0.lock().sessions.get(id).map(|session| session.server.clone())
    }

    /// Whether its gym has reported its end.
    pub(crate) fn has_ended(&self, id: &str) -> bool {
        self.0
            .lock()
            .sessions
            .get(id)
            .is_some_and(|session| session.lease.is_none() && !session.is_lost)
    }

    /// Frees the place of a session. Its gym stays known.
    pub(crate) fn end(&self, id: &str) {
        self.close(id, false);
    }

    /// Ends a session without a result. Returns whether it had a place.
    pub(crate) fn lose(&self, id: &str) -> bool {
        self.close(id, true)
    }

    fn close(&self, id: &str, is_lost: bool) -> bool {
        let mut table = self.0.lock();
        let Some(session) = table.sessions.get_mut(id) else { return false };
        let lease = session.lease.take();
        session.is_lost |= is_lost && lease.is_some();
        lease.is_some()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_remembered_within_bounds() {
        let server = Server::new(&"http://127.0.0.1:1".parse().unwrap(), true).unwrap();
        let (sessions, change) = (Sessions::default(), Arc::default());
        for number in 0..=REMEMBERED {
            sessions.open(&number.to_string(), Lease::adopt(&server, &change));
        }
        assert!(sessions.find("0").is_none() && sessions.find("1").is_some());
        let long = "x".repeat(LONGEST_ID + 1);
        sessions.open(&long, Lease::adopt(&server, &change));
        assert!(sessions.find(&long).is_none());
        sessions.end("1");
        assert!(sessions.has_ended("1") && !sessions.lose("1") && sessions.has_ended("1"));
        assert!(sessions.lose("2") && !sessions.lose("2") && !sessions.has_ended("2"));
        assert_eq!(server.state().ends, 4);
    }
}
