//! Which gym has which session.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::server::{Lease, Server};

/// Number of sessions that are remembered. An older one is found by asking all gyms.
const REMEMBERED: usize = 10_000;

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
}

impl Sessions {
    pub(crate) fn open(&self, id: &str, lease: Lease) {
        let session = Session { server: lease.server.clone(), lease: Some(lease) };
        let mut table = self.0.lock();
        if table.sessions.insert(id.to_owned(), session).is_none() {
            table.order.push_back(id.to_owned());
        }
        let oldest = if table.order.len() > REMEMBERED { table.order.pop_front() } else { None };
        let forgotten = oldest.and_then(|oldest| table.sessions.remove(&oldest));
        drop(table);
        drop(forgotten);
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Server>> {
        self.0.lock().sessions.get(id).map(|session| session.server.clone())
    }

    /// Frees the place of a session. Its gym stays known. Whether it had a place.
    pub(crate) fn end(&self, id: &str) -> bool {
        self.0.lock().sessions.get_mut(id).and_then(|session| session.lease.take()).is_some()
    }
}
