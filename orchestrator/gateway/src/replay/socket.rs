//! Recorded WebSocket connections.

use std::io::{BufRead, BufReader, Read};

use http::header;
use snapshots::{
    Frame, RecordRef,
    index::{IndexError, IndexHit, ReplaySet},
};

use super::stored::{self, StoredError};
use crate::socket::{SocketFrame, SocketScript};

/// The maximum length of a frame line.
const MAX_LINE: u64 = 64 << 20;
/// The maximum size of the frames of one record.
const MAX_SCRIPT: u64 = 256 << 20;

/// Groups frame records by connection: records of one connection refer to the same handshake.
/// Connections are in recorded order.
pub(super) fn connections(set: &ReplaySet, hits: &[IndexHit]) -> Result<Vec<Vec<IndexHit>>, IndexError> {
    let mut connections: Vec<((u32, RecordRef), Vec<IndexHit>)> = Vec::new();
    for hit in hits {
        let opening = (hit.member, set.capture(*hit)?.response);
        match connections.iter_mut().find(|(other, _)| *other == opening) {
            Some((_, records)) => records.push(*hit),
            None => connections.push((opening, vec![*hit])),
        }
    }
    Ok(connections.into_iter().map(|(_, records)| records).collect())
}

/// Reads a recorded connection. An invalid line ends it, because later frames may be out of place.
pub(super) fn script(set: &ReplaySet, records: &[IndexHit]) -> Result<SocketScript, StoredError> {
    let mut script = SocketScript::default();
    for (number, hit) in records.iter().enumerate() {
        let capture = set.capture(*hit)?;
        if number == 0 && capture.response != capture.body {
            let head = set.read(hit.member, capture.response)?.response_head().map_err(IndexError::from)?;
            script.headers = stored::kept(&head.headers);
            for name in [header::SEC_WEBSOCKET_ACCEPT, header::SEC_WEBSOCKET_EXTENSIONS] {
                script.headers.remove(name);
            }
        }
        let block = set.read(hit.member, capture.body)?.block;
        if !append(block, &mut script.frames)? {
            tracing::warn!(frames = script.frames.len(), "a WebSocket recording has a line that is no frame");
            break;
        }
    }
    Ok(script)
}

/// Reads frames, one a line. Returns false at an invalid line.
fn append(block: impl Read, frames: &mut Vec<SocketFrame>) -> Result<bool, IndexError> {
    let io = |source| IndexError::Io { action: "read", path: "the frames of a WebSocket".into(), source };
    let mut lines = BufReader::new(block.take(MAX_SCRIPT));
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(io)? == 0 {
            return Ok(true);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let frame = serde_json::from_slice::<Frame>(&line).ok();
        match frame.as_ref().and_then(SocketFrame::from_stored) {
            Some(frame) => frames.push(frame),
            None => return Ok(false),
        }
    }
}
