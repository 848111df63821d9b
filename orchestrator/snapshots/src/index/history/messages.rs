//! The messages that a page sent over WebSockets, as writes.
//!
//! What a message does cannot be told from it: it may say something in a chat, or only that the
//! page is still there. So messages are writes where the recording shows that something changed
//! across them and nothing else was done there.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read};

use super::super::effects::{Effect, WriteReason};
use super::super::{IndexError, IndexHit, ReplaySet, RequestParts};
use super::build::{KnownWrite, SiteTurn, VisitTurns};
use crate::matching::{self, Key, Payload};
use crate::{Frame, FrameSide, Headers};

/// The method of messages in the lists of writes.
const SEND: &str = "SEND";
/// How much is read of one connection, in bytes.
const MOST_READ: u64 = 2 << 20;
/// Of how many connections of a site messages count: of the last ones.
pub(super) const MOST_CONNECTIONS: usize = 256;
/// How many messages of all connections of an archive count.
const MOST_MESSAGES: usize = 2048;
/// How many messages of a connection count. One with more is a stream, not what somebody did.
const MOST: usize = 256;
/// What is sent within this time after the connection was opened, the page sent by itself, in
/// milliseconds: not even a program acts so soon.
const AT_ONCE: u64 = 100;
/// What each of several connections begins with within this time, their page sent by itself.
const SOON: u64 = 500;
/// How often a message is the same that only keeps the connection open, at least.
const BEATS: usize = 3;
/// How long the gaps between beats are at least, in milliseconds: somebody may click faster.
const LEAST_GAP: u64 = 3000;
/// By which part the gaps between beats differ at most.
const UNEVEN: u64 = 5;

/// The fewest characters of a word with digits that is chance.
const CHANCE: usize = 10;

impl ReplaySet {
    /// The messages that a page sent over a connection, without those that it sent by itself
    /// or that keep the connection open.
    pub(super) fn messages(&self, hit: IndexHit) -> Result<Vec<SiteTurn>, IndexError> {
        let capture = self.capture(hit)?;
        let (_, url) = self.request_line(hit, &capture)?;
        let mut sent = Vec::new();
        for (line, frame) in self.frames(hit)? {
            let Frame { at_ms, from: FrameSide::Client, text, base64, close: None, .. } = frame
            else {
                continue;
            };
            if at_ms >= AT_ONCE
                && let Some(payload) = text.or(base64)
            {
                sent.push((line, at_ms, payload));
            }
        }
        let beats = beats(&sent);
        sent.retain(|(_, _, payload)| !beats.contains(payload));
        if sent.len() > MOST {
            tracing::debug!(
                url,
                messages = sent.len(),
                "a connection with too many messages to be writes"
            );
            return Ok(Vec::new());
        }
        let by_rule = self.changing_parts().is_write(SEND, &url) == Some(true);
        let reason = if by_rule { WriteReason::Rule } else { WriteReason::Message };
        let turns = sent.into_iter().map(|(line, at_ms, payload)| {
            let hit = IndexHit { at_millis: hit.at_millis.saturating_add(at_ms), ..hit };
            let write = message(&url, hit, (line, payload), reason);
            SiteTurn::Write(hit, Box::new(KnownWrite { is_automatic: at_ms < SOON, ..write }))
        });
        Ok(turns.collect())
    }

    /// What identifies what the server says to whoever opens a connection: its frames before the
    /// first message, or else those before the second. `None` if there are none.
    pub(super) fn greeting(&self, hit: IndexHit) -> Result<Option<Key>, IndexError> {
        let frames: Vec<Frame> = self.frames(hit)?.into_iter().map(|(_, frame)| frame).collect();
        let mut turns = frames.split(|frame| frame.from == FrameSide::Client);
        let said = turns.find(|turn| !turn.is_empty()).unwrap_or_default();
        let said = said.iter().filter_map(|frame| frame.text.as_ref().or(frame.base64.as_ref()));
        let said: Vec<String> = said.map(|text| without_chance(text)).collect();
        let parts: Vec<&[u8]> = said.iter().map(String::as_bytes).collect();
        Ok((!parts.is_empty()).then(|| Key::of("greeting", &parts)))
    }

    /// The first frames of a connection, with the number of the line of each. A line that is no
    /// frame ends them.
    fn frames(&self, hit: IndexHit) -> Result<Vec<(u32, Frame)>, IndexError> {
        let block = self.read(hit.member, self.capture(hit)?.body)?.block;
        let io = |source| IndexError::Io {
            action: "read",
            path: "the frames of a WebSocket".into(),
            source,
        };
        let mut frames = Vec::new();
        for (line, text) in BufReader::new(block.take(MOST_READ)).split(b'\n').enumerate() {
            let text = text.map_err(io)?;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let Ok(frame) = serde_json::from_slice::<Frame>(&text) else { break };
            frames.push((line as u32, frame));
        }
        Ok(frames)
    }
}

/// A text without the words that are time stamps or tokens by their form.
fn without_chance(text: &str) -> String {
    let is_chance =
        |word: &str| word.len() >= CHANCE && word.bytes().any(|letter| letter.is_ascii_digit());
    let words = text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    words.map(|word| if is_chance(word) { "#" } else { word }).collect()
}

/// A message as a write. Two that differ in tokens and time stamps alone are the same, as with
/// requests.
fn message(
    url: &str,
    hit: IndexHit,
    (line, payload): (u32, String),
    reason: WriteReason,
) -> KnownWrite {
    let digest = Payload::Bytes(payload.as_bytes()).sha256();
    let parts = RequestParts {
        method: SEND.to_owned(),
        // As JSON, so that the rules for tokens and times in bodies hold for messages, too.
        content_type: Some("application/json".to_owned()),
        body: Some(payload.into_bytes()),
        digest,
        headers: Headers::default(),
    };
    let key = matching::normalised(&parts.request_at(url)).0;
    let at = hit.at_millis as i64;
    KnownWrite {
        effect: Effect::Write(reason),
        parts: Some(parts),
        line: Some(line),
        ..KnownWrite::bare(key, SEND.to_owned(), url.to_owned(), at)
    }
}

/// The messages that are sent again and again at even times: they keep the connection open.
fn beats(sent: &[(u32, u64, String)]) -> BTreeSet<String> {
    let mut times: HashMap<&str, Vec<u64>> = HashMap::new();
    for (_, at, payload) in sent {
        times.entry(payload).or_default().push(*at);
    }
    let are_even = |times: &Vec<u64>| {
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let (least, most) = (gaps.iter().min().copied(), gaps.iter().max().copied());
        let is_even =
            |(least, most): (u64, u64)| least >= LEAST_GAP && most - least <= most / UNEVEN;
        let even = least.zip(most).is_some_and(is_even);
        times.len() >= BEATS && even
    };
    times
        .into_iter()
        .filter(|(_, times)| are_even(times))
        .map(|(payload, _)| payload.to_owned())
        .collect()
}

/// Leaves out what pages sent by themselves: the messages that each of several connections to an
/// address begins with.
pub(super) fn leave_out_automatic(all: &mut [VisitTurns]) {
    let mut connections: HashMap<String, BTreeSet<(u32, u32)>> = HashMap::new();
    let mut beginning: HashMap<(String, Key), BTreeSet<(u32, u32)>> = HashMap::new();
    for turn in all.iter().flat_map(|visit| &visit.turns) {
        if let SiteTurn::Write(hit, write) = turn
            && write.line.is_some()
        {
            let connection = (hit.member, hit.capture);
            connections.entry(write.endpoint()).or_default().insert(connection);
            if write.is_automatic {
                beginning.entry((write.endpoint(), write.key)).or_default().insert(connection);
            }
        }
    }
    let is_automatic = |write: &KnownWrite| {
        let endpoint = write.endpoint();
        let all = connections.get(&endpoint).map_or(0, BTreeSet::len);
        let beginning = beginning.get(&(endpoint, write.key)).map_or(0, BTreeSet::len);
        all > 1 && beginning == all
    };
    let mut left = MOST_MESSAGES;
    let mut stays = |turn: &SiteTurn| match turn {
        SiteTurn::Write(_, write) if write.line.is_some() => {
            let counts = left > 0 && !(write.is_automatic && is_automatic(write));
            left -= usize::from(counts);
            counts
        }
        _ => true,
    };
    for visit in all.iter_mut() {
        visit.turns.retain(&mut stays);
    }
}
