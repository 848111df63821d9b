//! Finds what a recorded connection answers to a message.

use std::ops::RangeInclusive;

use snapshots::matching::{self, Key, Payload as Body, ReplayRequest, issued_by_none};

use super::{Payload, Side, SocketFrame};
use crate::Answer;
use crate::socket::SocketScript;

/// The ledger label of an answer that was recorded for another message: that at the same place.
pub(crate) const BY_COUNT: &str = "websocket-frame-by-count";
/// The ledger label of the answer to the same message, which was recorded at another place.
const ORDER: &str = "websocket-frame-order";
/// The method of messages, where they are compared like requests.
const SEND: &str = "SEND";
/// How many messages are named.
const NAMED: usize = 8;
/// How many messages that are writes are kept, of those that a client has sent.
const KEPT: usize = 256;
/// How many messages of a connection are compared by what they say, and how long these are, in
/// bytes. Others are compared by their bytes.
const COMPARED: usize = 4096;
const LONGEST: usize = 4096;

/// Recorded connections, and how far a client is in one of them.
pub(super) struct Position<'a> {
    /// The chosen one is the first.
    connections: Vec<Connection<'a>>,
    current: usize,
    /// The place of the next frame.
    next: usize,
    /// Whether each message was the next one so far.
    is_in_turn: bool,
    /// The messages that are writes, of those that the client has sent.
    made: Vec<Key>,
}

/// A recorded connection.
struct Connection<'a> {
    script: &'a SocketScript,
    /// The places of the client's messages, and what identifies each.
    messages: Vec<(usize, Key)>,
}

/// What comes of a message.
pub(super) struct Heard {
    /// How the answers to it were found; `None` if it is the next one that was recorded.
    pub(super) answer: Option<Answer>,
    /// What it does to the state of the site.
    pub(super) write: Option<SentWrite>,
}

/// A message that may change what its site shows.
pub(super) enum SentWrite {
    /// It was recorded, with this number.
    Known(u32),
    /// It was not recorded.
    Unknown,
}

impl<'a> Position<'a> {
    pub(super) fn new(script: &'a SocketScript) -> Position<'a> {
        let connections =
            std::iter::once(script).chain(&script.others).map(Connection::new).collect();
        Position { connections, current: 0, next: 0, is_in_turn: true, made: Vec::new() }
    }

    /// The frames of the server up to the client's next one.
    pub(super) fn server_turn(&mut self) -> Vec<Payload> {
        let turn = self.here().script.frames[self.next..].iter();
        let turn = turn.take_while(|frame| frame.from == Side::Server);
        let turn: Vec<Payload> = turn.map(|frame| frame.payload.clone()).collect();
        self.next += turn.len();
        turn
    }

    /// Goes on behind a message: the next one if it is equal, else an equal one that comes later,
    /// or came before, or is in another connection; and if there is none, the next one. `now` is
    /// the time of the page, in milliseconds since 1970.
    pub(super) fn hear(&mut self, said: &Payload, url: &str, now: &RangeInclusive<i64>) -> Heard {
        let key = key_of(said, true);
        if let Some((connection, at)) = self.place_of(&key) {
            let is_next = (connection, at) == (self.current, self.next);
            let is_switched = connection != self.current;
            self.current = connection;
            self.is_in_turn &= is_next;
            let answer = if self.is_in_turn {
                None
            } else {
                self.out_of_turn(at, url, is_next || is_switched)
            };
            return self.heard(at, key, answer, true);
        }
        let at = self.next;
        match self.here().script.frames.get(at).filter(|frame| is_message(frame)) {
            Some(frame) => {
                let rules = alike(said, frame, now);
                let is_alike = rules.is_some();
                let rules = rules.unwrap_or_else(|| vec![BY_COUNT]);
                let rules = rules.into_iter().map(str::to_owned).collect();
                self.heard(at, key, Some(Answer::Normalised { rules }), is_alike)
            }
            None => {
                let Connection { script, messages } = self.here();
                let writes = &script.writes.by_frame;
                // What only keeps a connection open says so after the end of the recording, too.
                let mut others =
                    messages.iter().filter(|(at, _)| !writes.contains_key(at)).take(COMPARED);
                let is_harmless =
                    others.any(|(at, _)| alike(said, &script.frames[*at], now).is_some());
                let write = (!writes.is_empty() && !is_harmless).then_some(SentWrite::Unknown);
                Heard { answer: Some(Answer::Miss { near: Vec::new() }), write }
            }
        }
    }

    fn here(&self) -> &Connection<'a> {
        &self.connections[self.current]
    }

    /// The connection and the place of an equal message.
    fn place_of(&self, key: &Key) -> Option<(usize, usize)> {
        let in_one = |connection: usize, from: usize| {
            let messages = &self.connections[connection].messages;
            let later = messages.iter().find(|(at, known)| *at >= from && known == key);
            let found =
                later.or_else(|| messages.iter().rfind(|(at, known)| *at < from && known == key));
            found.map(|(at, _)| (connection, *at))
        };
        let others = (0..self.connections.len()).filter(|other| *other != self.current);
        in_one(self.current, self.next)
            .or_else(|| others.into_iter().find_map(|other| in_one(other, 0)))
    }

    fn heard(&mut self, at: usize, key: Key, answer: Option<Answer>, is_known: bool) -> Heard {
        let number = self.here().script.writes.by_frame.get(&at).copied();
        if number.is_some() && self.made.len() < KEPT {
            self.made.push(key);
        }
        self.next = at + 1;
        let write = number
            .map(|number| if is_known { SentWrite::Known(number) } else { SentWrite::Unknown });
        Heard { answer, write }
    }

    /// What is said of an answer that was recorded after other messages that are writes; or else
    /// that it was recorded in another order, unless it is `expected` at this place.
    fn out_of_turn(&self, at: usize, url: &str, expected: bool) -> Option<Answer> {
        let Connection { script, messages } = self.here();
        let mut extra = self.made.clone();
        let mut missing = Vec::new();
        let writes =
            messages.iter().filter(|(place, _)| script.writes.by_frame.contains_key(place));
        for (place, key) in writes.take_while(|(place, _)| *place < at) {
            match extra.iter().position(|made| made == key) {
                Some(known) => drop(extra.remove(known)),
                None if missing.len() < KEPT => missing.push((*place, *key)),
                None => {}
            }
        }
        if missing.is_empty() && extra.is_empty() {
            let rules = vec![ORDER.to_owned()];
            return (!expected).then_some(Answer::Normalised { rules });
        }
        let name = |key: &Key| {
            let number = messages.iter().position(|(_, known)| known == key);
            let number =
                number.map_or_else(|| "of another".to_owned(), |number| format!("{}", number + 1));
            format!("{SEND} {url} (message {number})")
        };
        Some(Answer::OtherState {
            missing: missing.iter().take(NAMED).map(|(_, key)| name(key)).collect(),
            extra: extra.iter().take(NAMED).map(name).collect(),
            of: Box::new(Answer::Exact),
        })
    }
}

impl<'a> Connection<'a> {
    fn new(script: &'a SocketScript) -> Connection<'a> {
        let places = script.frames.iter().enumerate().filter(|(_, frame)| is_message(frame));
        let messages = places.enumerate();
        let messages =
            messages.map(|(count, (at, frame))| (at, key_of(&frame.payload, count < COMPARED)));
        Connection { script, messages: messages.collect() }
    }
}

/// A message as a request, for comparing.
fn request(said: &Payload) -> ReplayRequest<'_> {
    let bytes = match said {
        Payload::Text(text) => text.as_bytes(),
        Payload::Binary(bytes) => bytes,
        Payload::Close { .. } => &[],
    };
    let (url, content_type) = ("wss://socket/", Some("application/json"));
    ReplayRequest { method: SEND, url, content_type, body: Body::Bytes(bytes) }
}

/// What identifies a message: `by_sense` what it says, as with the body of a request.
fn key_of(said: &Payload, by_sense: bool) -> Key {
    let request = request(said);
    match (said, &request.body) {
        (Payload::Text(text), _) if by_sense && text.len() <= LONGEST => {
            matching::normalised(&request).0
        }
        _ => matching::exact(&request),
    }
}

/// The rules by which a message may be a recorded one: they differ in time stamps and tokens alone.
fn alike(
    said: &Payload,
    frame: &SocketFrame,
    now: &RangeInclusive<i64>,
) -> Option<Vec<&'static str>> {
    let Payload::Text(text) = said else { return None };
    // When it was recorded is not known here, so that times are alike if they stand now.
    let recorded = request(&frame.payload);
    (text.len() <= LONGEST).then(|| {
        matching::guess((&request(said), now), (&recorded, *now.start()), &issued_by_none)
    })?
}

/// Whether it is a message of the client, and not the end of the connection.
fn is_message(frame: &SocketFrame) -> bool {
    frame.from == Side::Client && !matches!(frame.payload, Payload::Close { .. })
}
