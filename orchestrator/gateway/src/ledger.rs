//! The record of an episode's requests: what was asked, and at which level it was answered.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};

/// One request, as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Position in the order of arrival, from 0.
    pub seq: u64,
    /// The method.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The status sent; 0 where the client went away before there was one.
    pub status: u16,
    /// Where the answer came from.
    pub answer: Answer,
    /// Body bytes sent to the client, as encoded.
    pub bytes: u64,
    /// `Sec-Fetch-Dest`, where the client names it: `document`, `image`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
}

/// Where an answer came from. A guess is never silent: every level but `Exact` says what was bent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "level")]
pub enum Answer {
    /// Recorded under this very method, URL and body.
    Exact,
    /// Recorded under a request that differs only in what the named rules declare meaningless.
    Normalised {
        /// The rules that were needed.
        rules: Vec<String>,
    },
    /// The most similar recorded request above the world's threshold.
    Fuzzy {
        /// Similarity, 0 to 1.
        score: f64,
        /// The URL that was recorded.
        url: String,
    },
    /// Derived from a recorded answer: preflight, 304, HEAD from GET, a range.
    Synthesised {
        /// What was derived.
        what: String,
    },
    /// From the live web.
    Live,
    /// Not in the snapshot.
    Miss {
        /// The nearest recorded requests.
        near: Vec<Near>,
    },
    /// No route leads there, or the guard forbids it.
    Refused {
        /// Why.
        reason: String,
    },
    /// The live web or the snapshot failed.
    Failed {
        /// What failed.
        error: String,
    },
}

/// A recorded request that is near to a missed one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Its URL.
    pub url: String,
    /// What differs, for people.
    pub differs: String,
}

/// All requests of one episode.
#[derive(Debug, Default)]
pub struct Ledger {
    next: AtomicU64,
    entries: Mutex<Vec<Entry>>,
}

impl Ledger {
    /// Takes the next place in the order of arrival.
    pub fn next_seq(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds an entry.
    pub fn push(&self, entry: Entry) {
        self.lock().push(entry);
    }

    /// The entries so far, in order of arrival. Requests still being answered are not among them.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = self.lock().clone();
        entries.sort_by_key(|entry| entry.seq);
        entries
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
