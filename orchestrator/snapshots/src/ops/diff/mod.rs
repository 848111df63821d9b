//! `diff`: the changes between two snapshots of the same sites.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::digest::Sha256Writer;
use super::exchanges::{Exchanges, budget_of};
use super::{Error, OnProgress};
use crate::budget::Budget;
use crate::{Archive, Exchange, RecordRef, Timestamp, content};

mod text;

pub use text::{TextDifference, compare as compare_texts, text_of};

/// The maximum size of a body whose text is compared.
const LARGEST_TEXT: u64 = 4 << 20;

/// The differences between two snapshots.
#[derive(Debug, Clone, Serialize)]
pub struct Diff {
    /// The earlier snapshot.
    pub old: Utf8PathBuf,
    /// The later snapshot.
    pub new: Utf8PathBuf,
    /// Whether nothing was added, removed or changed.
    pub equal: bool,
    /// Captures only in the later snapshot.
    pub added: Vec<Capture>,
    /// Captures only in the earlier snapshot.
    pub removed: Vec<Capture>,
    /// Captures with different responses.
    pub changed: Vec<Change>,
    /// The number of captures with equal responses.
    pub unchanged: u64,
    /// Responses that could not be compared (not HTTP, or a revisit without its payload), in both.
    pub not_compared: u64,
}

/// One capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capture {
    /// Method of the request.
    pub method: String,
    /// URL of the request.
    pub url: String,
    /// Its number among the captures of this request, from 1, in recorded order.
    pub nth: u64,
    /// When it was recorded.
    pub date: Timestamp,
    /// Status of the response.
    pub status: u16,
    /// Media type of the response, without parameters.
    pub media_type: String,
    /// Size of the decoded body in bytes.
    pub bytes: u64,
}

/// A capture in both snapshots with different responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The capture in the earlier snapshot.
    pub old: Capture,
    /// The capture in the later one.
    pub new: Capture,
    /// `Location` of both, if the redirects differ.
    pub location: Option<(Option<String>, Option<String>)>,
    /// The change of the body, if any.
    pub body: Option<BodyChange>,
}

/// A change of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BodyChange {
    /// Digest of the decoded body in the earlier snapshot.
    pub old: String,
    /// Digest of the decoded body in the later one.
    pub new: String,
    /// For HTML, JSON and other text: how many pieces of text (lines, visible text, JSON leaves)
    /// were removed.
    pub text_removed: u64,
    /// How many pieces of text were added.
    pub text_added: u64,
    /// The first changed pieces, marked `-` and `+`.
    pub sample: Vec<String>,
}

/// The identity of a request: method, URL and body.
type Key = (String, String, String);

struct Entry {
    at: RecordRef,
    date: Timestamp,
    status: u16,
    media_type: String,
    location: Option<String>,
    bytes: u64,
    digest: String,
}

/// Compares the captures of two snapshots, request by request. Bodies are compared decoded. If a
/// request was recorded several times, the n-th capture is compared with the n-th.
///
/// # Errors
/// One of them cannot be read or is damaged.
pub fn diff(old: &Utf8Path, new: &Utf8Path, progress: OnProgress<'_>) -> Result<Diff, Error> {
    let (old_archive, new_archive) = (Archive::open(old)?, Archive::open(new)?);
    let (old_exchanges, new_exchanges) =
        (Exchanges::of(&old_archive)?, Exchanges::of(&new_archive)?);
    let (before, skipped) = entries(&old_exchanges, budget_of(&old_archive), progress)?;
    let (mut after, skipped_too) = entries(&new_exchanges, budget_of(&new_archive), progress)?;
    let mut report = Diff {
        old: old.to_owned(),
        new: new.to_owned(),
        equal: false,
        added: Vec::new(),
        removed: Vec::new(),
        changed: Vec::new(),
        unchanged: 0,
        not_compared: skipped + skipped_too,
    };
    for (key, before) in &before {
        let after = after.remove(key).unwrap_or_default();
        for index in 0..before.len().max(after.len()) {
            match (before.get(index), after.get(index)) {
                (Some(a), Some(b)) if same(a, b) => report.unchanged += 1,
                (Some(a), Some(b)) => {
                    let body = match a.digest == b.digest {
                        true => None,
                        false => Some(body_change(&old_exchanges, a, &new_exchanges, b)?),
                    };
                    let moved = a.location != b.location;
                    report.changed.push(Change {
                        old: capture(key, index, a),
                        new: capture(key, index, b),
                        location: moved.then(|| (a.location.clone(), b.location.clone())),
                        body,
                    });
                }
                (Some(a), None) => report.removed.push(capture(key, index, a)),
                (None, Some(b)) => report.added.push(capture(key, index, b)),
                (None, None) => {}
            }
        }
    }
    for (key, after) in &after {
        report
            .added
            .extend(after.iter().enumerate().map(|(index, entry)| capture(key, index, entry)));
    }
    report.equal =
        report.added.is_empty() && report.removed.is_empty() && report.changed.is_empty();
    Ok(report)
}

fn same(a: &Entry, b: &Entry) -> bool {
    a.status == b.status
        && a.digest == b.digest
        && a.media_type == b.media_type
        && a.location == b.location
}

fn capture(key: &Key, index: usize, entry: &Entry) -> Capture {
    Capture {
        method: key.1.clone(),
        url: key.0.clone(),
        nth: index as u64 + 1,
        date: entry.date,
        status: entry.status,
        media_type: entry.media_type.clone(),
        bytes: entry.bytes,
    }
}

/// All captures by request, each list in recorded order; and the number of responses that are not
/// exchanges.
fn entries(
    exchanges: &Exchanges<'_>,
    mut budget: Budget,
    progress: OnProgress<'_>,
) -> Result<(BTreeMap<Key, Vec<Entry>>, u64), Error> {
    let mut all: BTreeMap<Key, Vec<Entry>> = BTreeMap::new();
    let mut skipped = 0;
    exchanges.each(
        progress,
        |_| skipped += 1,
        |found| {
            let exchange = found.exchange;
            let body = &exchange.request.body;
            let body_digest = if body.is_empty() {
                String::new()
            } else {
                let mut hash = Sha256Writer::default();
                std::io::copy(&mut body.reader(), &mut hash)
                    .map_err(|error| crate::Error::io("read", "a spooled body".into(), error))?;
                hash.finish()
            };
            let headers = &exchange.response.headers;
            let hashed =
                content::write_decoded(headers, &exchange.response.body, &mut budget, || {
                    Ok(Sha256Writer::default())
                });
            let (hash, bytes) = hashed?;
            let entry = Entry {
                at: found.at,
                date: exchange.started,
                status: exchange.response.status,
                media_type: media_type(&exchange),
                location: headers.get_str("location").map(str::to_owned),
                bytes,
                digest: hash.finish(),
            };
            all.entry((exchange.url, exchange.request.method, body_digest))
                .or_default()
                .push(entry);
            Ok(())
        },
    )?;
    // Records of merged snapshots are not in the order of time.
    for captures in all.values_mut() {
        captures.sort_by_key(|entry| entry.date);
    }
    Ok((all, skipped))
}

fn media_type(exchange: &Exchange) -> String {
    let media = exchange.response.headers.get_str("content-type").unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn body_change(
    old: &Exchanges<'_>,
    a: &Entry,
    new: &Exchanges<'_>,
    b: &Entry,
) -> Result<BodyChange, Error> {
    let mut change = BodyChange {
        old: a.digest.clone(),
        new: b.digest.clone(),
        text_removed: 0,
        text_added: 0,
        sample: Vec::new(),
    };
    if a.bytes > LARGEST_TEXT || b.bytes > LARGEST_TEXT {
        return Ok(change);
    }
    let (Some(before), Some(after)) = (old.read(a.at)?, new.read(b.at)?) else { return Ok(change) };
    let pieces = |exchange: &Exchange| -> Result<Vec<String>, Error> {
        let response = &exchange.response;
        let bytes = content::decoded(&response.headers, &response.body, LARGEST_TEXT)?;
        Ok(text::pieces(&media_type(exchange), &bytes))
    };
    let difference = text::compare(&pieces(&before)?, &pieces(&after)?);
    change.text_removed = difference.removed;
    change.text_added = difference.added;
    change.sample = difference.sample;
    Ok(change)
}
