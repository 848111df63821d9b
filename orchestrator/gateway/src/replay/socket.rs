//! Recorded WebSocket connections.

use std::io::{BufRead, BufReader, Read};

use http::header;
use snapshots::index::{IndexError, IndexHit, ReplaySet};
use snapshots::matching::ReplayRequest;
use snapshots::{Frame, RecordRef};
use url::Url;

use super::choose::{self, Chosen, ContentKind};
use super::states::Site;
use super::stored::{self, StoredError};
use super::{MatchLevel, Replay, StatePolicy, find, variants};
use crate::socket::{MessageWrites, Payload, Side, SocketFrame, SocketScript};
use crate::{Answer, Episode, RequestHead};

/// The maximum length of a frame line.
const MAX_LINE: u64 = 64 << 20;
/// In how many other connections a message is looked for.
const OTHERS: usize = 16;
/// How long each record of one of these may be, in bytes.
const LONGEST_OTHER: u64 = 256 << 10;
/// The maximum size of the frames of one record.
const MAX_SCRIPT: u64 = 256 << 20;

impl Replay {
    /// The recorded connection for a handshake: of the state of the site, and of the document that
    /// opens it.
    pub(super) fn recorded_socket(
        &self,
        head: &RequestHead,
        request: &ReplayRequest<'_>,
        episode: &Episode,
    ) -> Result<Option<(SocketScript, Answer)>, StoredError> {
        let level = match self.options.level {
            MatchLevel::Fuzzy { .. } => MatchLevel::Normalised,
            level => level,
        };
        // A page that was recorded over the other scheme opens its sockets over the other one, too.
        let other = match level {
            MatchLevel::Exact => None,
            _ => Url::parse(request.url).ok().and_then(|url| variants::other_scheme(&url)),
        };
        let there = other.as_ref().map(|url| ReplayRequest { url: url.as_str(), ..*request });
        let (found, request, rule) = match (find::sockets(&self.set, request, level)?, &there) {
            (Some(found), _) => (found, request, None),
            (None, Some(there)) => match find::sockets(&self.set, there, level)? {
                Some(found) => (found, there, Some(variants::SCHEME)),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let connections = connections(&self.set, &found.whole)?;
        let firsts: Vec<IndexHit> =
            connections.iter().filter_map(|records| records.first().copied()).collect();
        if firsts.is_empty() {
            return Ok(None);
        }
        let mut own = found.clone();
        own.whole = firsts;
        let Chosen { hit, differs, .. } = self.choose(&own, head, episode, true)?;
        if differs.is_some() && self.options.states == StatePolicy::Strict {
            return Ok(None);
        }
        let Some(records) = connections.iter().find(|records| records.first() == Some(&hit)) else {
            return Ok(None);
        };
        let answer = found.answer(&self.set, request, records[0])?;
        let answer = rule.into_iter().fold(answer, Answer::by_rule);
        let answer = choose::labelled(answer, differs);
        tracing::debug!(url = head.url, records = records.len(), "a recorded WebSocket");
        let (mut script, lines, _) = script(&self.set, records, MAX_SCRIPT)?;
        if self.options.states != StatePolicy::Order {
            script.writes = self.message_writes(head, records, &lines)?;
        }
        script.others = self.others(head, &connections, (hit, &script))?;
        script.capture = Some(self.given_capture(hit, head, ContentKind::Data)?);
        Ok(Some((script, answer)))
    }
}

impl Replay {
    /// The connections other than the chosen one that begin with the same frames of the server:
    /// which of them it is shows in what is said.
    fn others(
        &self,
        head: &RequestHead,
        connections: &[Vec<IndexHit>],
        (chosen, script_of_it): (IndexHit, &SocketScript),
    ) -> Result<Vec<SocketScript>, StoredError> {
        let says = |frame: &&SocketFrame| frame.from == Side::Server;
        let greeting = |script: &SocketScript| -> Vec<Payload> {
            script.frames.iter().take_while(says).map(|frame| frame.payload.clone()).collect()
        };
        let wanted = greeting(script_of_it);
        let mut others = Vec::new();
        for records in
            connections.iter().filter(|records| records.first() != Some(&chosen)).take(OTHERS)
        {
            let (mut other, lines, is_whole) = script(&self.set, records, LONGEST_OTHER)?;
            if !is_whole || greeting(&other) != wanted {
                continue;
            }
            if self.options.states != StatePolicy::Order {
                other.writes = self.message_writes(head, records, &lines)?;
            }
            // One of another state of the site would answer from there.
            if other.writes.before == script_of_it.writes.before {
                others.push(other);
            }
        }
        Ok(others)
    }

    /// Which messages of a connection are writes.
    fn message_writes(
        &self,
        head: &RequestHead,
        records: &[IndexHit],
        lines: &[FrameLine],
    ) -> Result<MessageWrites, StoredError> {
        let Site { name, history } = self.states.site(&self.set, &head.host)?;
        if history.is_empty() {
            return Ok(MessageWrites::default());
        }
        let before = self.set.writes_before(&history, records[0])?.to_vec();
        let numbers = lines.iter().enumerate();
        let numbers = numbers
            .filter_map(|(frame, (hit, line))| Some((frame, history.message_of(*hit, *line)?)));
        Ok(MessageWrites { before, by_frame: numbers.collect(), site: name.to_string() })
    }
}

/// Groups frame records by connection: records of one connection refer to the same handshake.
/// Connections are in recorded order.
pub(super) fn connections(
    set: &ReplaySet,
    hits: &[IndexHit],
) -> Result<Vec<Vec<IndexHit>>, IndexError> {
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

/// Where a frame was recorded: the record, and the line in it.
type FrameLine = (IndexHit, u32);

/// Reads a recorded connection, where each of its frames is, and whether that is all of it: so many
/// bytes of each record are read. An invalid line ends it, because later frames may be out of
/// place.
fn script(
    set: &ReplaySet,
    records: &[IndexHit],
    longest: u64,
) -> Result<(SocketScript, Vec<FrameLine>, bool), StoredError> {
    let (mut script, mut lines, mut is_whole) = (SocketScript::default(), Vec::new(), true);
    for (number, hit) in records.iter().enumerate() {
        let capture = set.capture(*hit)?;
        if number == 0 && capture.response != capture.body {
            let head = set
                .read(hit.member, capture.response)?
                .response_head()
                .map_err(IndexError::from)?;
            script.headers = stored::kept(&head.headers);
            // These belong to the recorded handshake. The client gets those of its own.
            for name in [header::SEC_WEBSOCKET_ACCEPT, header::SEC_WEBSOCKET_EXTENSIONS] {
                script.headers.remove(name);
            }
        }
        let block = set.read(hit.member, capture.body)?.block;
        is_whole =
            append(block.take(longest), &mut script.frames, |line| lines.push((*hit, line)))?;
        if !is_whole {
            tracing::warn!(
                frames = script.frames.len(),
                "a WebSocket recording has a line that is no frame"
            );
            break;
        }
    }
    Ok((script, lines, is_whole))
}

/// Reads frames, one a line, and tells the number of each line. Returns false at an invalid line.
fn append(
    block: impl Read,
    frames: &mut Vec<SocketFrame>,
    mut told: impl FnMut(u32),
) -> Result<bool, IndexError> {
    let io = |source| IndexError::Io {
        action: "read",
        path: "the frames of a WebSocket".into(),
        source,
    };
    let mut lines = BufReader::new(block);
    let mut line = Vec::new();
    for number in 0.. {
        line.clear();
        // A longer line is cut, and then is no frame.
        if lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(io)? == 0 {
            return Ok(true);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let frame = serde_json::from_slice::<Frame>(&line).ok();
        match frame.as_ref().and_then(SocketFrame::from_stored) {
            Some(frame) => {
                frames.push(frame);
                told(number);
            }
            None => return Ok(false),
        }
    }
    Ok(true)
}
