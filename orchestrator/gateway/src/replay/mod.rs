//! Answers from snapshots.
//!
//! A request is looked up by its exact key, then by its normalised one, then under the other
//! addresses of the same thing (`variants`), then, only where a world asks for it, by likeness.
//! What is found is what is served; what is not is a miss that names what was near. The level of
//! every answer goes to the ledger: there is no silent guess, and none at all in the default mode.
//!
//! ```text
//!  request ── preflight? ── find ── nth of the episode ── stored (cache, else archive) ── respond ── Reply
//!                             │                                                            304, range, decoding
//!                             └ nothing: miss
//! ```
//!
//! Snapshots are only read; what an episode changes is in its [`Episode`]. Many episodes replay
//! from one `Replay` at once.

mod cache;
mod conditional;
pub(crate) mod dates;
mod encoding;
mod find;
mod level;
mod partial;
pub(crate) mod preflight;
mod range;
mod remembered;
mod respond;
mod searched;
mod socket;
mod stored;
mod variants;

use std::{sync::Arc, time::SystemTime};

use cache::Cache;
use camino::Utf8Path;
use find::MatchedCaptures;
use http::{HeaderName, HeaderValue, Method, header};
use hyper::body::Bytes;
use remembered::Remembered;
use search::Search;
use snapshots::{
    index::{IndexError, IndexHit, ReplaySet, SOCKET},
    matching::{Payload, ReplayRequest},
};
use stored::{StoredError, StoredResponse};
use url::Url;

use crate::{
    Answer, Episode, Reply, RequestHead, budget::Budget, complaints::Complaints, miss, socket::SocketScript,
};

pub use dates::DatePolicy;
pub use level::{BadMatchLevel, MatchLevel};

/// The header that tells at which level a request was answered.
pub const SANDBOX_ANSWER: HeaderName = HeaderName::from_static("sandbox-answer");

/// Recorded ranges of one URL that are considered for a body.
const MAX_PARTS: usize = 256;

/// Bytes of bodies that are held on their way to clients besides those in the cache. Beyond it they
/// are read from disk a piece at a time, as the largest are always.
const BODIES: usize = 128 << 20;

/// How a [`Replay`] answers.
#[derive(Debug, Clone, Copy)]
pub struct ReplayOptions {
    /// Which answers are near enough.
    pub level: MatchLevel,
    /// What becomes of dates.
    pub dates: DatePolicy,
    /// Whether every answer carries [`SANDBOX_ANSWER`]. A page could see it, so episodes leave it
    /// off; a miss carries it always.
    pub announce: bool,
    /// Bytes of recently read answers that are kept.
    pub cache: usize,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        let (level, dates) = (MatchLevel::default(), DatePolicy::default());
        ReplayOptions { level, dates, announce: false, cache: 64 << 20 }
    }
}

/// A set of snapshots to answer from. Without any, everything is a miss.
#[derive(Debug)]
pub struct Replay {
    set: Arc<ReplaySet>,
    search: Option<Search>,
    options: ReplayOptions,
    cache: Cache,
    /// Bodies in memory: those in the cache, and those on their way to clients.
    bodies: Budget,
    ports: Remembered<(String, u16)>,
    twins: Remembered<(String, String)>,
    complaints: Complaints,
    started: SystemTime,
}

impl Default for Replay {
    fn default() -> Self {
        Replay::new(ReplaySet::default(), ReplayOptions::default())
    }
}

impl Replay {
    /// Answers from `set`.
    pub fn new(set: ReplaySet, options: ReplayOptions) -> Self {
        Replay {
            set: Arc::new(set),
            search: None,
            options,
            cache: Cache::new(options.cache),
            bodies: Budget::new(options.cache + BODIES),
            ports: Remembered::default(),
            twins: Remembered::default(),
            complaints: Complaints::default(),
            started: SystemTime::now(),
        }
    }

    /// Answers what search engines are asked, as far as it was not recorded, by a search over the
    /// recorded pages, whose index is kept in the folder `cache`.
    pub fn with_search(mut self, cache: Option<&Utf8Path>) -> Self {
        let exact = self.options.level == MatchLevel::Exact;
        self.search = Some(Search::new(self.set.clone(), cache).exact(exact));
        self
    }

    /// The search over the recorded pages, if there is one.
    pub fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Whether the recorded pages may have to be searched for an answer to this request.
    pub(crate) fn searches(&self, head: &RequestHead) -> bool {
        self.search.is_some() && searched::asked(head).is_some()
    }

    /// The snapshots it answers from.
    pub fn set(&self) -> &ReplaySet {
        &self.set
    }

    /// Whether anything was recorded of a host at this port.
    pub(crate) fn has_port(&self, host: &str, port: u16) -> bool {
        let server = (host.to_owned(), port);
        if let Some(known) = self.ports.get(&server) {
            return known;
        }
        let found = self.set.has_port(host, port).unwrap_or_else(|error| {
            tracing::warn!(error = %error_text::with_causes(&error), "failed to look for a recorded port");
            false
        });
        self.ports.put(server, found);
        found
    }

    /// How it answers.
    pub(crate) fn options(&self) -> ReplayOptions {
        self.options
    }

    /// Answers one request, or says that it was never recorded. Blocking, but only for a few reads
    /// of local files; the first search takes longer unless its index was made before.
    pub fn answer(&self, head: &RequestHead, body: &Bytes, episode: &Episode) -> Reply {
        let asked = asked(head, body);
        let search = self.search.as_ref().zip(searched::asked(head));
        // The most similar query is no better than an answer to the one that was asked.
        let level = match (&search, self.options.level) {
            (Some(_), MatchLevel::Fuzzy { .. }) => MatchLevel::Normalised,
            (_, level) => level,
        };
        let mut reply = match self.recorded(head, &asked, level, episode) {
            Ok(Some(reply)) => reply,
            // A revisit whose body is in another archive is as good as never recorded.
            Ok(None) | Err(StoredError::BodyElsewhere { .. }) => match search {
                Some((search, asked)) => searched::reply(head, search, &asked),
                None => self.missed(head, &asked),
            },
            Err(error) => self.failed(head, &error),
        };
        variants::allow_other_scheme(head, &mut reply.headers);
        if self.options.announce {
            reply.headers.insert(SANDBOX_ANSWER, HeaderValue::from_static(reply.answer.level()));
        }
        reply
    }

    /// The recorded WebSocket connection that a handshake asks for: `Ok` with what the ledger
    /// should say, or the refusal to send.
    pub fn socket(
        &self,
        head: &RequestHead,
        episode: &Episode,
    ) -> Result<(SocketScript, Answer), Box<Reply>> {
        let asked = ReplayRequest::bare(SOCKET, &head.url);
        match self.recorded_socket(head, &asked, episode) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(Box::new(self.missed(head, &asked))),
            Err(error) => Err(Box::new(self.failed(head, &error))),
        }
    }

    fn recorded(
        &self,
        head: &RequestHead,
        asked: &ReplayRequest<'_>,
        level: MatchLevel,
        episode: &Episode,
    ) -> Result<Option<Reply>, StoredError> {
        let certain = if level == MatchLevel::Exact { level } else { MatchLevel::Normalised };
        if let Some(reply) = self.at(head, asked, certain, episode)? {
            return Ok(Some(reply));
        }
        if certain == MatchLevel::Normalised
            && let Some(reply) = self.variant(head, asked, certain, episode)?
        {
            return Ok(Some(reply));
        }
        if certain == MatchLevel::Normalised
            && !miss::is_navigation(head)
            && let Some(found) = find::guessed(&self.set, asked, &head.headers)?
            && let Some(reply) = self.given(head, asked, &found, episode, false)?
        {
            return Ok(Some(reply));
        }
        if level != certain
            && let Some(reply) = self.at(head, asked, level, episode)?
        {
            return Ok(Some(reply));
        }
        match preflight::wanted_method(head) {
            Some(method) if self.knows(method, head)? => {
                let answer = Answer::Synthesised { what: "preflight".to_owned(), of: None };
                Ok(Some(preflight::passing(head, answer)))
            }
            _ => Ok(None),
        }
    }

    /// What was recorded under the very address that `asked` names; a HEAD is answered from a GET.
    fn at(
        &self,
        head: &RequestHead,
        asked: &ReplayRequest<'_>,
        level: MatchLevel,
        episode: &Episode,
    ) -> Result<Option<Reply>, StoredError> {
        if let Some(found) = find::find(&self.set, asked, &head.headers, level)? {
            let reply = self.given(head, asked, &found, episode, false)?;
            if reply.is_some() {
                return Ok(reply);
            }
        }
        if head.method != Method::HEAD {
            return Ok(None);
        }
        let get = ReplayRequest { method: "GET", ..*asked };
        let Some(found) = find::find(&self.set, &get, &head.headers, level)? else {
            return Ok(None);
        };
        let reply = self.given(head, &get, &found, episode, true)?;
        Ok(reply.map(|reply| match reply.answer {
            answer @ Answer::Synthesised { .. } => Reply { answer, ..reply },
            answer => Reply { answer: answer.derived("head"), ..reply },
        }))
    }

    /// The answer that `found` has for this request; `aside` when it is only looked at, not the
    /// next one to be given.
    fn given(
        &self,
        head: &RequestHead,
        asked: &ReplayRequest<'_>,
        found: &MatchedCaptures,
        episode: &Episode,
        aside: bool,
    ) -> Result<Option<Reply>, StoredError> {
        let wanted = range::wanted(&head.headers);
        let setting = respond::ReplyContext {
            set: &self.set,
            bodies: &self.bodies,
            dates: self.options.dates,
            started: self.started,
        };
        if let Some(last) = found.whole.len().checked_sub(1) {
            let count = last + 1;
            let nth = match aside || wanted.is_some() {
                true => episode.present(&found.key, count),
                false => episode.next(&found.key, count),
            };
            let hit = found.whole[nth];
            let (stored, answer) = (self.stored(hit)?, found.answer(&self.set, asked, hit)?);
            if asked.method == "HEAD" {
                return Ok(Some(respond::recorded_head(&setting, &stored, answer)));
            }
            return respond::reply(&setting, &stored, head, answer).map(Some);
        }
        if let Some(first) = found.parts.first() {
            let answer = found.answer(&self.set, asked, *first)?;
            let parts = found.parts.iter().take(MAX_PARTS).map(|hit| self.stored(*hit));
            return partial::reply(&self.set, parts.collect::<Result<_, _>>()?, wanted, answer);
        }
        let Some(hit) = found.unmodified.first() else { return Ok(None) };
        let (stored, answer) = (self.stored(*hit)?, found.answer(&self.set, asked, *hit)?);
        respond::reply(&setting, &stored, head, answer).map(Some)
    }

    fn recorded_socket(
        &self,
        head: &RequestHead,
        asked: &ReplayRequest<'_>,
        episode: &Episode,
    ) -> Result<Option<(SocketScript, Answer)>, StoredError> {
        let level = match self.options.level {
            MatchLevel::Fuzzy { .. } => MatchLevel::Normalised,
            level => level,
        };
        let other = match level {
            MatchLevel::Exact => None,
            _ => Url::parse(asked.url).ok().and_then(|url| variants::other_scheme(&url)),
        };
        let there = other.as_ref().map(|url| ReplayRequest { url: url.as_str(), ..*asked });
        let (found, asked, rule) = match (find::sockets(&self.set, asked, level)?, &there) {
            (Some(found), _) => (found, asked, None),
            (None, Some(there)) => match find::sockets(&self.set, there, level)? {
                Some(found) => (found, there, Some(variants::SCHEME)),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let connections = socket::connections(&self.set, &found.whole)?;
        let Some(records) = connections.get(episode.next(&found.key, connections.len())) else {
            return Ok(None);
        };
        let answer = found.answer(&self.set, asked, records[0])?;
        let answer = rule.into_iter().fold(answer, Answer::by_rule);
        tracing::debug!(url = head.url, records = records.len(), "a recorded WebSocket");
        Ok(Some((socket::script(&self.set, records)?, answer)))
    }

    /// Whether a request of this method and of the URL of `head` was recorded, whatever its body.
    fn knows(&self, method: &str, head: &RequestHead) -> Result<bool, IndexError> {
        let server = |url: &str| {
            let url = snapshots::matching::normalised_url(url);
            // As far as the scheme goes, the request that follows is answered under either.
            url.split_once("://").map(|(_, rest)| rest.to_owned())
        };
        let url = server(&head.url);
        let near = self.set.neighbours(method, &head.url, 16)?;
        Ok(near.iter().any(|other| other.method == method && server(&other.url) == url))
    }

    fn stored(&self, hit: IndexHit) -> Result<Arc<StoredResponse>, StoredError> {
        let place = (hit.member, hit.capture);
        if let Some(stored) = self.cache.get(place) {
            return Ok(stored);
        }
        let stored = Arc::new(stored::load(&self.set, hit, &self.bodies)?);
        if !stored.content.is_makeshift() {
            self.cache.put(place, &stored);
        }
        Ok(stored)
    }

    fn failed(&self, head: &RequestHead, error: &StoredError) -> Reply {
        let text = format!("failed to {}", error_text::with_causes(error));
        if self.complaints.first("unreadable", &head.host) {
            tracing::warn!(url = head.url, error = text, "a recorded answer could not be given");
        }
        miss::failed(head, text)
    }

    fn missed(&self, head: &RequestHead, asked: &ReplayRequest<'_>) -> Reply {
        let near = miss::nearest(&self.set, asked, miss::is_navigation(head)).unwrap_or_else(|error| {
            tracing::warn!(error = %error_text::with_causes(&error), "failed to look for what is near a miss");
            Vec::new()
        });
        if preflight::wanted_method(head).is_some() {
            return preflight::passing(head, Answer::Miss { near: miss::summary(&near) });
        }
        miss::reply(head, near)
    }
}

/// A request as it is looked up.
pub(crate) fn asked<'a>(head: &'a RequestHead, body: &'a Bytes) -> ReplayRequest<'a> {
    ReplayRequest {
        method: head.method.as_str(),
        url: &head.url,
        content_type: head.header(header::CONTENT_TYPE),
        body: Payload::Bytes(body),
    }
}

#[cfg(test)]
pub(crate) mod tests;
