//! The sessions of a gym, including ended ones.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex as Plain, MutexGuard};
use results::EpisodeRecord;
use tokio::sync::{Mutex, mpsc};

use super::client::StepRequest;

/// Number of ended sessions that are remembered. Older ones are forgotten.
const REMEMBERED: usize = 1000;

/// The state of a session.
#[derive(Clone)]
pub(super) enum Session {
    /// The channel to its episode, for one request at a time.
    Open(Arc<Mutex<mpsc::Sender<StepRequest>>>),
    /// The result of the episode, if it has one.
    Ended(Option<Box<EpisodeRecord>>),
}

/// All sessions by id.
#[derive(Default)]
pub(super) struct Sessions(Plain<SessionTable>);

#[derive(Default)]
struct SessionTable {
    sessions: HashMap<String, Session>,
    /// The ids of ended sessions, oldest first.
    ended: VecDeque<String>,
}

impl Sessions {
    pub(super) fn open(&self, id: &str, way: mpsc::Sender<StepRequest>) {
        self.lock().sessions.insert(id.to_owned(), Session::Open(Arc::new(Mutex::new(way))));
    }

    pub(super) fn find(&self, id: &str) -> Option<Session> {
        self.lock().sessions.get(id).cloned()
    }

    /// Number of sessions whose episode has not ended.
    pub(super) fn count_open(&self) -> usize {
        self.lock().sessions.values().filter(|session| matches!(session, Session::Open(_))).count()
    }

    pub(super) fn end(&self, id: &str, record: Option<EpisodeRecord>) {
        let mut known = self.lock();
        known.sessions.insert(id.to_owned(), Session::Ended(record.map(Box::new)));
        known.ended.push_back(id.to_owned());
        if known.ended.len() > REMEMBERED
            && let Some(oldest) = known.ended.pop_front()
        {
            known.sessions.remove(&oldest);
        }
    }

    /// Forgets an ended session.
    pub(super) fn forget(&self, id: &str) {
        let mut known = self.lock();
        known.ended.retain(|ended| ended != id);
        known.sessions.remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, SessionTable> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_ended_sessions_are_remembered_and_no_more() {
        let sessions = Sessions::default();
        for number in 0..=REMEMBERED {
            sessions.end(&number.to_string(), None);
        }
        assert!(sessions.find("0").is_none());
        assert!(matches!(sessions.find("1"), Some(Session::Ended(None))));
        sessions.forget("1");
        assert!(sessions.find("1").is_none());
        assert_eq!(sessions.lock().ended.len(), REMEMBERED - 1);
    }
}
