//! Pairs requests with responses: by `WARC-Concurrent-To` in either direction, or by URL and date.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::{Record, RecordKind, RecordRef};

/// The part of a response record by which its request is found.
#[derive(Debug)]
pub(super) struct Link {
    id: Option<u64>,
    names: Vec<u64>,
    place: Option<u64>,
}

/// The requests of an archive, indexed for their responses. Ids and URLs are stored as 64-bit keyed
/// hashes, so that a million records need tens of megabytes.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    hasher: RandomState,
    /// Requests by their own id.
    by_id: HashMap<u64, RecordRef>,
    /// Requests by the id of the response that they name.
    by_response: HashMap<u64, RecordRef>,
    /// Requests by URL and date, in file order.
    by_place: HashMap<u64, Vec<RecordRef>>,
    /// Requests that name a response.
    linked: HashSet<RecordRef>,
}

impl Pairs {
    /// Adds a record. Records other than requests are ignored.
    pub(super) fn note(&mut self, at: RecordRef, record: &Record) {
        if record.kind() != RecordKind::Request {
            return;
        }
        if let Some(id) = record.id() {
            self.by_id.insert(self.hash(id), at);
        }
        for id in record.concurrent_to() {
            self.by_response.insert(self.hash(id), at);
            self.linked.insert(at);
        }
        if let Some(place) = self.place(record) {
            self.by_place.entry(place).or_default().push(at);
        }
    }

    /// What a response says about its request.
    pub(super) fn link(&self, response: &Record) -> Link {
        Link {
            id: response.id().map(|id| self.hash(id)),
            names: response.concurrent_to().map(|id| self.hash(id)).collect(),
            place: self.place(response),
        }
    }

    /// The request of a response. All requests must have been added before.
    pub(super) fn request_of(&self, link: &Link) -> Option<RecordRef> {
        let named = link.id.and_then(|id| self.by_response.get(&id));
        let names = || link.names.iter().find_map(|id| self.by_id.get(id));
        // Match by URL and date only if the request does not name another response.
        let near = || self.by_place.get(&link.place?)?.iter().find(|at| !self.linked.contains(at));
        named.or_else(names).or_else(near).copied()
    }

    fn place(&self, record: &Record) -> Option<u64> {
        Some(self.hasher.hash_one((record.target_uri()?, record.headers.get("WARC-Date")?)))
    }

    fn hash(&self, id: &str) -> u64 {
        self.hasher.hash_one(id)
    }
}
