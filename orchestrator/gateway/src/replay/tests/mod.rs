//! Shared fixtures of the replay tests: a hand-made recording, and a client for its replay.

#![allow(clippy::unwrap_used)]

mod absent;
mod accounts;
mod changing;
mod crowd;
mod derived;
mod matching;
mod negotiation;
mod orders;
mod parts;
mod searches;
mod sockets;
mod states;
mod turns;
mod variants;

use camino::Utf8Path;
use http::{HeaderMap, Version};
use http_body_util::BodyExt;
use snapshots::{
    Body, Exchange, Headers, Recording, RecordingOptions, Request, Response, Timestamp,
};
use tempfile::TempDir;

use super::*;
use crate::Scheme;

/// Thu, 01 Jan 2026 00:00:00 GMT
const RECORDED: i64 = 1_767_225_600;
/// The time of the pages that ask, in milliseconds.
const LATER: i64 = RECORDED * 1000 + 200_015;

/// A recording in progress, and then its replay.
pub(crate) struct World {
    folder: TempDir,
    recording: Recording,
    millis: std::cell::Cell<i64>,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = TempDir::new().unwrap();
        let out = Utf8Path::from_path(folder.path()).unwrap().join("world.wacz");
        let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
        World { folder, recording, millis: std::cell::Cell::new(RECORDED * 1000) }
    }

    pub(crate) fn exchange(
        &self,
        request: (&str, &str, &str, &str),
        response: Response,
    ) -> Exchange {
        let (method, url, kind, body) = request;
        self.millis.set(self.millis.get() + 10);
        let mut exchange = Exchange::get(url, Timestamp::from_millis(self.millis.get()), response);
        let headers = if kind.is_empty() {
            Headers::new()
        } else {
            [("Content-Type", kind)].into_iter().collect()
        };
        let target = exchange.request.target.clone();
        exchange.request = Request {
            method: method.into(),
            target,
            headers,
            body: Body::from(body.as_bytes().to_vec()),
        };
        exchange
    }

    pub(crate) fn get(
        &self,
        url: &str,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> &World {
        self.record(("GET", url, "", ""), status, headers, body)
    }

    pub(crate) fn record(
        &self,
        request: (&str, &str, &str, &str),
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> &World {
        let headers: Headers = headers.iter().copied().collect();
        let response =
            Response { status, reason: String::new(), headers, body: Body::from(body.to_vec()) };
        self.recording.append(&self.exchange(request, response)).unwrap();
        self
    }

    pub(crate) fn replay(&self, options: ReplayOptions) -> Replay {
        let data = self.recording.data_path();
        let cache = Utf8Path::from_path(self.folder.path()).unwrap().join("cache");
        Replay::new(ReplaySet::open(&[data], Some(&cache), &mut |_, _| {}).unwrap(), options)
    }
}

pub(crate) fn head(method: &str, url: &str, headers: &[(&'static str, &str)]) -> RequestHead {
    let parsed = url::Url::parse(url).unwrap();
    let scheme = if parsed.scheme().ends_with('s') { Scheme::Https } else { Scheme::Http };
    RequestHead {
        method: method.parse().unwrap(),
        url: url.to_owned(),
        scheme,
        host: parsed.host_str().unwrap().to_owned(),
        port: parsed.port_or_known_default().unwrap(),
        version: Version::HTTP_11,
        headers: headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect(),
    }
}

/// A reply with its body read.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) answer: Answer,
    capture: Option<crate::GivenCapture>,
}

impl Got {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn read(reply: Reply) -> Got {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let body = runtime.block_on(reply.body.collect()).unwrap().to_bytes().to_vec();
    let Reply { status, headers, answer, capture, .. } = reply;
    Got { status: status.as_u16(), headers, body, answer, capture }
}

/// An episode whose pages have this time, in milliseconds since 1970.
fn at(millis: i64) -> Episode {
    let clock = in_flight::PageClock::default();
    clock.stand_between(millis..=millis);
    Episode::new().with_clock(clock)
}

struct Client {
    replay: Replay,
    episode: Episode,
}

impl Client {
    fn of(world: &World) -> Client {
        Client::with(world, ReplayOptions::default())
    }

    fn with(world: &World, options: ReplayOptions) -> Client {
        Client { replay: world.replay(options), episode: at(LATER) }
    }

    fn get(&self, url: &str, headers: &[(&'static str, &str)]) -> Got {
        self.ask("GET", url, headers, "")
    }

    fn ask(&self, method: &str, url: &str, headers: &[(&'static str, &str)], body: &str) -> Got {
        let body = Bytes::copy_from_slice(body.as_bytes());
        read(self.replay.answer(&head(method, url, headers), &body, &self.episode))
    }
}

fn synthesised(what: &str) -> Answer {
    Answer::Exact.derived(what)
}

const X: &str = "https://a.test/x";
