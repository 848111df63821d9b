//! Assembles ranges and whole bodies from recorded 206 responses.

use std::io::Read;
use std::sync::Arc;

use http::{HeaderValue, StatusCode, header};
use snapshots::index::ReplaySet;

use super::range::{self, RequestedRange};
use super::stored::{StoredError, StoredResponse};
use super::{asker, encoding};
use crate::{Answer, Body, Reply, body};

/// A byte range of the whole body, held by one recorded 206.
struct Piece {
    first: u64,
    /// Exclusive end.
    end: u64,
    total: Option<u64>,
    stored: Arc<StoredResponse>,
}

/// For each part, which version of the resource it is of: the place of the first part of that
/// version. Where nothing names the version, parts of different visits are of different ones.
pub(super) fn versions(parts: &[(u64, Arc<StoredResponse>)]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for (at, part) in parts {
        let named = version(part);
        let is_same = |first: &usize| {
            let own = found.iter().zip(parts).filter(|(own, _)| *own == first);
            let last = own.map(|(_, (at, _))| *at).max().unwrap_or_default();
            let is_named = named.1.is_some() || named.2.is_some();
            version(&parts[*first].1) == named && (is_named || at.abs_diff(last) <= asker::GAP)
        };
        let known = found.iter().copied().find(is_same);
        found.push(known.unwrap_or(found.len()));
    }
    found
}

/// What tells the version of the resource: its length, and what its server says.
fn version(part: &StoredResponse) -> (Option<u64>, Option<&HeaderValue>, Option<&HeaderValue>) {
    let total = range::held(&part.headers).and_then(|(_, _, total)| total);
    (total, part.headers.get(header::ETAG), part.headers.get(header::LAST_MODIFIED))
}

/// Responds with the requested range, or with the whole body without a range, if the recorded parts
/// cover it without gaps. All of them are of one version of the resource. A range with an open end
/// may get a shorter response; the client notices and requests the rest.
pub(super) fn reply(
    set: &Arc<ReplaySet>,
    parts: Vec<Arc<StoredResponse>>,
    wanted: Option<RequestedRange>,
    answer: Answer,
) -> Result<Option<Reply>, StoredError> {
    let pieces: Vec<Piece> = parts.into_iter().filter_map(piece).collect();
    let Some(total) = pieces.first().map(|piece| piece.total) else { return Ok(None) };
    let (first, last) = match (wanted, total) {
        (None, Some(total)) => (0, total.checked_sub(1)),
        (None, None) => return Ok(None),
        (Some(wanted), Some(total)) => match wanted.within(total) {
            Some((first, last)) => (first, Some(last)),
            None => return Ok(None),
        },
        (Some(RequestedRange::From(first, last)), None) => (first, last),
        (Some(RequestedRange::Last(_)), None) => return Ok(None),
    };
    let open = matches!(wanted, Some(RequestedRange::From(_, None)));
    let chain = chain(&pieces, first, last);
    let Some(end) = chain.last().map(|(_, end, _)| *end) else { return Ok(None) };
    if !open && last.is_none_or(|last| end <= last) {
        return Ok(None);
    }

    let mut headers = chain[0].2.stored.headers.clone();
    // A range that was recorded as it is asked for is not derived.
    let recorded_as_such =
        chain.len() == 1 && wanted.is_some() && (chain[0].2.first, chain[0].2.end) == (first, end);
    let (status, answer) = match wanted {
        None => {
            headers.remove(header::CONTENT_RANGE);
            (StatusCode::OK, answer.derived("whole from ranges"))
        }
        Some(_) => {
            range::set_content_range(&mut headers, first, end - 1, total);
            (
                StatusCode::PARTIAL_CONTENT,
                if recorded_as_such { answer } else { answer.derived("range") },
            )
        }
    };
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(end - first));
    let body = joined(set, &chain, end - first)?;
    Ok(Some(Reply { status, headers, body, answer, capture: None }))
}

fn piece(stored: Arc<StoredResponse>) -> Option<Piece> {
    let (first, last, total) = range::held(&stored.headers)?;
    // A truncated body holds less than its header says.
    let length = stored.content.length()?.min(last - first + 1);
    (length > 0 && encoding::of(&stored.headers).is_none()).then(|| Piece {
        first,
        end: first + length,
        total,
        stored,
    })
}

/// Contiguous pieces from `first` on, each with the range that it contributes: start and end.
fn chain(pieces: &[Piece], first: u64, last: Option<u64>) -> Vec<(u64, u64, &Piece)> {
    let mut chain = Vec::new();
    let mut at = first;
    while last.is_none_or(|last| at <= last) {
        let best = pieces
            .iter()
            .filter(|piece| piece.first <= at && at < piece.end)
            .max_by_key(|piece| piece.end);
        let Some(piece) = best else { break };
        let end = last.map_or(piece.end, |last| piece.end.min(last + 1));
        chain.push((at, end, piece));
        at = end;
    }
    chain
}

fn joined(
    set: &Arc<ReplaySet>,
    chain: &[(u64, u64, &Piece)],
    length: u64,
) -> Result<Body, StoredError> {
    let mut reader: Box<dyn Read + Send> = Box::new(std::io::empty());
    for (start, end, piece) in chain {
        let source = piece.stored.content.open(set)?;
        reader = Box::new(
            reader.chain(SkipReader { source, skip: start - piece.first }.take(end - start)),
        );
    }
    Ok(body::from_read(reader, Some(length)))
}

/// A reader that starts at an offset. The bytes before it are read and dropped at the first read.
pub(super) struct SkipReader<R> {
    pub(super) source: R,
    pub(super) skip: u64,
}

impl<R: Read> Read for SkipReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.skip > 0 {
            let skipped =
                std::io::copy(&mut (&mut self.source).take(self.skip), &mut std::io::sink())?;
            self.skip -= skipped;
            if self.skip > 0 {
                return Ok(0);
            }
        }
        self.source.read(buf)
    }
}
