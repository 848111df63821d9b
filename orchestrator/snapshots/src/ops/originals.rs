//! Finds the payload of a revisit.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::digest::spelling;
use crate::{Record, RecordKind, RecordRef};

/// Responses of one or more archives, by the properties with which revisits refer to them.
#[derive(Debug, Default)]
pub(super) struct Originals {
    hasher: RandomState,
    by_id: HashMap<u64, Place>,
    by_capture: HashMap<u64, Place>,
    by_digest: HashMap<u64, Place>,
}

/// The location of a record in one of several archives.
pub(super) type Place = (usize, RecordRef);

impl Originals {
    /// Adds a record of archive number `archive`. Only responses and resources can be originals.
    /// The first of several is kept.
    pub(super) fn note(&mut self, archive: usize, at: RecordRef, record: &Record) {
        if !matches!(record.kind(), RecordKind::Response | RecordKind::Resource) {
            return;
        }
        let place = (archive, at);
        if let Some(id) = record.id() {
            self.by_id.entry(self.hasher.hash_one(id)).or_insert(place);
        }
        if let (Some(url), Some(date)) = (record.target_uri(), record.date()) {
            self.by_capture.entry(self.hasher.hash_one((&*url, date))).or_insert(place);
        }
        if let Some(digest) = record.headers.get_str("WARC-Payload-Digest") {
            self.by_digest.entry(self.hasher.hash_one(spelling(digest))).or_insert(place);
        }
    }

    /// The record with the payload of `revisit`: the one that it names by id, else by URL and date,
    /// else any with the same payload digest.
    pub(super) fn find(&self, revisit: &Record) -> Option<Place> {
        let text = |name| {
            revisit.headers.get_str(name).map(|value: &str| value.trim().trim_matches(['<', '>']))
        };
        let by_id = text("WARC-Refers-To").and_then(|id| self.by_id.get(&self.hasher.hash_one(id)));
        let by_capture = || {
            let date = crate::Timestamp::parse(text("WARC-Refers-To-Date")?).ok()?;
            self.by_capture.get(&self.hasher.hash_one((text("WARC-Refers-To-Target-URI")?, date)))
        };
        let by_digest =
            || self.by_digest.get(&self.hasher.hash_one(spelling(text("WARC-Payload-Digest")?)));
        by_id.or_else(by_capture).or_else(by_digest).copied()
    }
}
