//! Finds what a recorded connection answers to a message.

use super::{Payload, Side, SocketFrame};
use crate::{Answer, socket::SocketScript};

/// The ledger label of an answer that was recorded for another message: that at the same place.
pub(crate) const BY_COUNT: &str = "websocket-frame-by-count";
/// How many messages are named.
const NAMED: usize = 8;

/// A recorded connection, and how far a client is in it.
pub(super) struct Position<'a> {
    script: &'a SocketScript,
    /// The place of the next frame.
    next: usize,
    /// The places of the recorded messages that the client has sent.
    said: Vec<usize>,
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
        Position { script, next: 0, said: Vec::new() }
    }

    /// The frames of the server up to the client's next one.
    pub(super) fn server_turn(&mut self) -> Vec<Payload> {
        let turn = self.script.frames[self.next..].iter().take_while(|frame| frame.from == Side::Server);
        let turn: Vec<Payload> = turn.map(|frame| frame.payload.clone()).collect();
        self.next += turn.len();
        turn
    }

    /// Goes on behind a message: the next one if it is equal, else an equal one that comes later,
    /// or came before, or is in another connection; and if there is none, the next one.
    pub(super) fn hear(&mut self, said: &Payload, url: &str) -> Heard {
        let here = self.place_of(said);
        let there = || self.script.others.iter().find_map(|other| Some((other, first_of(other, said)?)));
        if here.is_none()
            && let Some((other, at)) = there()
        {
            // What was said so far has the same places there, as far as it was said there.
            let before =
                self.said.iter().filter_map(|known| first_of(other, &self.script.frames[*known].payload));
            self.said = before.collect();
            (self.script, self.next) = (other, at);
            return self.heard(at, Some(at), url);
        }
        match here.or_else(|| self.next_message()) {
            Some(at) => self.heard(at, here, url),
            None => {
                let write = (!self.script.writes.by_frame.is_empty()).then_some(SentWrite::Unknown);
                Heard { answer: Some(Answer::Miss { near: Vec::new() }), write }
            }
        }
    }

    /// The place of an equal message in this connection.
    fn place_of(&self, said: &Payload) -> Option<usize> {
        let frames = &self.script.frames;
        let is_it = |at: &usize| frames[*at].from == Side::Client && frames[*at].payload == *said;
        (self.next..frames.len()).find(is_it).or_else(|| (0..self.next).rev().find(is_it))
    }

    /// The place of the next message, unless the client ended the connection before it.
    fn next_message(&self) -> Option<usize> {
        self.script.frames.get(self.next).is_some_and(is_message).then_some(self.next)
    }

    fn heard(&mut self, at: usize, equal: Option<usize>, url: &str) -> Heard {
        let answer = match equal {
            Some(_) => self.out_of_turn(at, url),
            None => Some(Answer::Normalised { rules: vec![BY_COUNT.to_owned()] }),
        };
        let number = self.script.writes.by_frame.get(&at).copied();
        let write = number.map(|number| equal.map_or(SentWrite::Unknown, |_| SentWrite::Known(number)));
        self.next = at + 1;
        self.said.push(at);
        Heard { answer, write }
    }

    /// What is said of an answer that was recorded after other messages; `None` if it was not.
    fn out_of_turn(&self, at: usize, url: &str) -> Option<Answer> {
        let mut extra = self.said.clone();
        let mut missing = Vec::new();
        for before in self.messages().take_while(|before| *before < at) {
            match extra.iter().position(|said| self.is_same(*said, before)) {
                Some(known) => drop(extra.remove(known)),
                None => missing.push(before),
            }
        }
        let number = |at: usize| self.messages().take_while(|message| *message <= at).count();
        let named = |places: Vec<usize>| -> Vec<String> {
            let names = places.into_iter().take(NAMED);
            names.map(|at| format!("SEND {url} (message {})", number(at))).collect()
        };
        if missing.is_empty() && extra.is_empty() {
            return None;
        }
        Some(Answer::OtherState { missing: named(missing), extra: named(extra), of: Box::new(Answer::Exact) })
    }

    /// The places of the client's messages.
    fn messages(&self) -> impl Iterator<Item = usize> {
        let frames = self.script.frames.iter().enumerate();
        frames.filter(|(_, frame)| is_message(frame)).map(|(at, _)| at)
    }

    fn is_same(&self, one: usize, other: usize) -> bool {
        self.script.frames[one].payload == self.script.frames[other].payload
    }
}

/// The place of the first message of a connection that is equal.
fn first_of(script: &SocketScript, said: &Payload) -> Option<usize> {
    script.frames.iter().position(|frame| is_message(frame) && frame.payload == *said)
}

/// Whether it is a message of the client, and not the end of the connection.
fn is_message(frame: &SocketFrame) -> bool {
    frame.from == Side::Client && !matches!(frame.payload, Payload::Close { .. })
}
