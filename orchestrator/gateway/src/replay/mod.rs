//! Answers requests from snapshots.
//!
//! A request is looked up by its exact key, then by its normalised key, then under equivalent URLs
//! (`variants`). Fuzzy matching follows only if it is enabled. A found response is served;
//! otherwise the reply is a miss that lists similar recorded requests. The ledger records the match
//! level of every response. No guess is silent, and the default mode makes none.
//!
//! ```text
//!  request ── preflight? ── find ── nth of the episode ── stored (cache, else archive) ── respond ── Reply
//!                             │                                                            304, range, decoding
//!                             └ nothing: miss
//! ```
//!
//! Snapshots are only read. The state of an episode is in its [`Episode`]. Many episodes can replay
//! from one `Replay` at the same time.

mod asker;
mod bounded_cache;
mod cache;
mod choose;
mod conditional;
pub(crate) mod dates;
mod encoding;
mod find;
mod negotiation;
mod options;
mod origin;
mod partial;
pub(crate) mod preflight;
mod range;
mod respond;
mod searched;
mod settings;
mod socket;
mod states;
mod stored;
mod variants;

use std::sync::Arc;
use std::time::SystemTime;

pub(crate) use asker::Documents;
use asker::{Asker, RecordedAskers};
use bounded_cache::BoundedCache;
use cache::Cache;
use camino::Utf8Path;
use choose::Chosen;
pub(crate) use choose::ContentKind;
pub use dates::DatePolicy;
use find::MatchedCaptures;
use http::{HeaderName, HeaderValue, Method, header};
use hyper::body::Bytes;
use negotiation::Negotiation;
pub(crate) use negotiation::OTHER_HEADERS;
pub use options::ReplayOptions;
use search::Search;
use searched::SiteForms;
use snapshots::index::{IndexError, IndexHit, ReplaySet, SOCKET};
use snapshots::matching::{IssuedTokens, Key, Payload, ReplayRequest};
pub(crate) use states::Standing;
use states::States;
use stored::{StoredError, StoredResponse};
pub use world_spec::{BadMatchLevel, MatchLevel, SiteSearch, StatePolicy};

use crate::budget::Budget;
use crate::complaints::Complaints;
use crate::socket::SocketScript;
use crate::{Answer, Episode, Reply, RequestHead, miss};

/// The response header that carries the match level.
pub const SANDBOX_ANSWER: HeaderName = HeaderName::from_static("sandbox-answer");

const LAST_EVENT_ID: &str = "last-event-id";

/// How many recorded ranges of one URL are considered for a body.
const MAX_PARTS: usize = 256;

/// The memory limit for bodies in transit to clients, besides the cache. Beyond it, bodies are read
/// from disk in pieces, as the largest always are.
const BODIES: usize = 128 << 20;

/// A set of snapshots to replay. Without any, every request is a miss.
#[derive(Debug)]
pub struct Replay {
    set: Arc<ReplaySet>,
    search: Option<Search>,
    site_forms: SiteForms,
    options: ReplayOptions,
    cache: Cache,
    /// The budget for bodies in memory: those in the cache, and those in transit to clients.
    bodies: Budget,
    ports: BoundedCache<(String, u16)>,
    redirect_pairs: BoundedCache<(String, String)>,
    /// By the captures among which they choose.
    negotiations: BoundedCache<Key, Option<Arc<Negotiation>>>,
    askers: RecordedAskers,
    states: States,
    complaints: Complaints,
    started: SystemTime,
}

impl Default for Replay {
    fn default() -> Self {
        Replay::new(ReplaySet::default(), ReplayOptions::default())
    }
}

impl Replay {
    /// Replays `set`.
    pub fn new(set: ReplaySet, options: ReplayOptions) -> Self {
        Replay {
            set: Arc::new(set),
            search: None,
            site_forms: SiteForms::default(),
            options,
            cache: Cache::new(options.cache),
            bodies: Budget::new(options.cache + BODIES),
            ports: BoundedCache::default(),
            redirect_pairs: BoundedCache::default(),
            negotiations: BoundedCache::default(),
            askers: RecordedAskers::default(),
            states: States::default(),
            complaints: Complaints::default(),
            started: SystemTime::now(),
        }
    }

    /// Answers unrecorded search engine requests by a full-text search over the recorded pages. The
    /// search index is kept in the folder `cache`.
    pub fn with_search(mut self, cache: Option<&Utf8Path>) -> Self {
        let exact = self.options.level == MatchLevel::Exact;
        self.search = Some(Search::new(self.set.clone(), cache).exact(exact));
        self
    }

    /// Treats the states of sites in this way.
    pub(crate) fn with_states(mut self, states: StatePolicy) -> Self {
        self.options.states = states;
        self
    }

    /// Answers unrecorded searches of sites in the same way. Needs [`Replay::with_search`].
    pub fn with_site_search(mut self, site_search: SiteSearch) -> Self {
        self.site_forms = SiteForms::new(site_search);
        self
    }

    /// The search over the recorded pages, if enabled.
    pub fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Whether an answer may take longer than a few reads of local files: it needs a search over
    /// the recorded pages, or the snapshots are on a server.
    pub(crate) fn takes_time(&self, head: &RequestHead) -> bool {
        let searches = || searched::query_of(head).is_some() || self.site_forms.may_search(head);
        self.is_remote() || self.search.is_some() && searches()
    }

    /// Whether the snapshots are on a server.
    pub(crate) fn is_remote(&self) -> bool {
        self.set.is_remote()
    }

    /// The snapshots that are replayed.
    pub fn set(&self) -> &Arc<ReplaySet> {
        &self.set
    }

    /// Whether anything was recorded for a host at this port.
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

    /// The options.
    pub(crate) fn options(&self) -> ReplayOptions {
        self.options
    }

    /// Answers one request; an unrecorded request is a miss. Blocking, but only for a few reads of
    /// local files. Snapshots on a server take longer, and so does the first search unless its
    /// index already exists.
    pub fn answer(&self, head: &RequestHead, body: &Bytes, episode: &Episode) -> Reply {
        let request = replay_request(head, body);
        let forms =
            self.search.as_ref().map(|_| self.site_forms.of(&self.set, head)).unwrap_or_default();
        let query = || searched::query_of(head).or_else(|| searched::site_query(&forms, head));
        let search = self.search.as_ref().and_then(|search| Some((search, query()?)));
        // For a search engine, the most similar recorded query is no better than the results of a
        // search for the requested one.
        let level = match (&search, self.options.level) {
            (Some(_), MatchLevel::Fuzzy { .. }) => MatchLevel::Normalised,
            (_, level) => level,
        };
        let mut reply = match self.recorded(head, &request, level, episode) {
            Ok(Some(reply)) => reply,
            // A revisit whose body is in a missing archive counts as not recorded.
            Ok(None) | Err(StoredError::BodyElsewhere { .. }) => match search {
                Some((search, query)) => searched::reply(head, search, &query),
                None => {
                    self.keep_missed(head, body, episode);
                    self.missed(head, &request)
                }
            },
            Err(error) => self.failed(head, &error),
        };
        variants::allow_other_scheme(head, &mut reply.headers);
        if self.options.announce {
            reply.headers.insert(SANDBOX_ANSWER, HeaderValue::from_static(reply.answer.level()));
        }
        reply
    }

    /// The recorded WebSocket connection for a handshake: `Ok` with the ledger's answer, or the
    /// refusal to send.
    pub fn socket(
        &self,
        head: &RequestHead,
        episode: &Episode,
    ) -> Result<(SocketScript, Answer), Box<Reply>> {
        let request = ReplayRequest::bare(SOCKET, &head.url);
        match self.recorded_socket(head, &request, episode) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(Box::new(self.missed(head, &request))),
            Err(error) => Err(Box::new(self.failed(head, &error))),
        }
    }

    fn recorded(
        &self,
        head: &RequestHead,
        request: &ReplayRequest<'_>,
        level: MatchLevel,
        episode: &Episode,
    ) -> Result<Option<Reply>, StoredError> {
        let certain = if level == MatchLevel::Exact { level } else { MatchLevel::Normalised };
        if let Some(reply) = self.at(head, request, certain, episode)? {
            return Ok(Some(reply));
        }
        if certain == MatchLevel::Normalised
            && let Some(reply) = self.variant(head, request, certain, episode)?
        {
            return Ok(Some(reply));
        }
        if certain == MatchLevel::Normalised
            && !(miss::is_navigation(head) && head.method == Method::GET)
            && let Some(found) = self.guessed(head, request, episode)?
            && let Some(reply) = self.given(head, request, &found, episode, false)?
        {
            return Ok(Some(reply));
        }
        if level != certain
            && let Some(reply) = self.at(head, request, level, episode)?
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

    /// What was recorded for a request that differs in time stamps and tokens alone.
    fn guessed(
        &self,
        head: &RequestHead,
        request: &ReplayRequest<'_>,
        episode: &Episode,
    ) -> Result<Option<MatchedCaptures>, IndexError> {
        let asker = episode.documents().lock().asker(head);
        let page = || match asker {
            Asker::Given(given) => self.set.issued_by(given.hit),
            _ => Ok(IssuedTokens::default()),
        };
        find::guessed(&self.set, request, &head.headers, page, episode.page_clock().now())
    }

    /// What was recorded under exactly the URL of `request`. A HEAD is answered from a GET.
    fn at(
        &self,
        head: &RequestHead,
        request: &ReplayRequest<'_>,
        level: MatchLevel,
        episode: &Episode,
    ) -> Result<Option<Reply>, StoredError> {
        if let Some(found) = find::find(&self.set, request, &head.headers, level)? {
            let reply = self.given(head, request, &found, episode, false)?;
            if reply.is_some() {
                return Ok(reply);
            }
        }
        if head.method != Method::HEAD {
            return Ok(None);
        }
        let get = ReplayRequest { method: "GET", ..*request };
        let Some(found) = find::find(&self.set, &get, &head.headers, level)? else {
            return Ok(None);
        };
        let reply = self.given(head, &get, &found, episode, true)?;
        Ok(reply.map(|reply| match reply.answer {
            answer @ Answer::Synthesised { .. } => Reply { answer, ..reply },
            answer => Reply { answer: answer.derived("head"), ..reply },
        }))
    }

    /// The response from `found` for this request. `aside` means that the response is only
    /// inspected, without advancing the cursor.
    fn given(
        &self,
        head: &RequestHead,
        request: &ReplayRequest<'_>,
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
        if !found.whole.is_empty() {
            let Chosen { hit, rule, differs } =
                self.choose(found, head, episode, !(aside || wanted.is_some()))?;
            let (stored, answer) = (self.stored(hit)?, found.answer(&self.set, request, hit)?);
            let rule = match found.whole.len() {
                1 => self.rule_of_one(hit, &stored, &head.headers)?,
                _ => rule,
            };
            let rule = rule.filter(|_| self.options.level != MatchLevel::Exact);
            let answer = rule.into_iter().fold(answer, Answer::by_rule);
            let kind = ContentKind::of(head, &stored.headers);
            let differs = differs.filter(|_| kind != ContentKind::Static);
            if differs.is_some() && self.options.states == StatePolicy::Strict {
                return Ok(None);
            }
            if wanted.is_none() && !aside {
                let location =
                    stored.headers.get(header::LOCATION).and_then(|text| text.to_str().ok());
                self.keep(head, hit, kind, (location, &found.whole), episode)?;
            }
            let answer = choose::labelled(answer, differs);
            if request.method == "HEAD" {
                let reply = respond::recorded_head(&setting, &stored, answer);
                return Ok(Some(self.captured(hit, head, reply)?));
            }
            let is_stream = stored::is_event_stream(&stored.headers);
            // A listener that lost its stream would have asked again, and was recorded.
            let listens = head.header(header::ACCEPT) == Some("text/event-stream");
            let stays_open =
                is_stream && (stored.is_left || listens && found.whole.last() == Some(&hit));
            let reply = match is_stream && !self.resumes(hit, head)? {
                true => respond::end_of_stream(&stored, answer),
                false => respond::reply(&setting, &stored, (head, stays_open), answer)?,
            };
            return Ok(Some(self.captured(hit, head, reply)?));
        }
        if let Some(first) = found.parts.first() {
            let answer = found.answer(&self.set, request, *first)?;
            let parts = found
                .parts
                .iter()
                .take(MAX_PARTS)
                .map(|hit| Ok((hit.at_millis, self.stored(*hit)?)));
            let parts = parts.collect::<Result<Vec<_>, StoredError>>()?;
            let version = self.version(found, &parts, head, episode)?;
            let own = parts.into_iter().zip(version).filter(|(_, is_wanted)| *is_wanted);
            let own = own.map(|((_, part), _)| part).collect();
            let reply = partial::reply(&self.set, own, wanted, answer)?;
            return reply.map(|reply| self.captured(*first, head, reply)).transpose();
        }
        let Some(hit) = found.unmodified.first() else { return Ok(None) };
        let (stored, answer) = (self.stored(*hit)?, found.answer(&self.set, request, *hit)?);
        let reply = respond::reply(&setting, &stored, (head, false), answer)?;
        Ok(Some(self.captured(*hit, head, reply)?))
    }

    /// The reply from a capture, so that the page that asks may read it if the server would let it.
    fn captured(
        &self,
        hit: IndexHit,
        head: &RequestHead,
        reply: Reply,
    ) -> Result<Reply, StoredError> {
        let kind = ContentKind::of(head, &reply.headers);
        let reply = Reply { capture: Some(self.given_capture(hit, head, kind)?), ..reply };
        Ok(match self.options.level {
            MatchLevel::Exact => reply,
            _ => origin::readable(&self.set, hit, head, reply),
        })
    }

    /// Whether a stream of events was recorded from the event on that a client has received last.
    fn resumes(&self, hit: IndexHit, head: &RequestHead) -> Result<bool, StoredError> {
        let Some(last) = head.header(LAST_EVENT_ID) else { return Ok(true) };
        let headers = self.set.request_headers(hit, &self.set.capture(hit)?)?;
        Ok(headers.is_some_and(|headers| headers.get_str(LAST_EVENT_ID) == Some(last)))
    }

    /// Whether a request with this method and the URL of `head` was recorded, with any body.
    fn knows(&self, method: &str, head: &RequestHead) -> Result<bool, IndexError> {
        let server = |url: &str| {
            let url = snapshots::matching::normalised_url(url);
            // The scheme is ignored, because the actual request is answered under either scheme.
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

    fn missed(&self, head: &RequestHead, request: &ReplayRequest<'_>) -> Reply {
        let near = miss::nearest(&self.set, request, miss::is_navigation(head)).unwrap_or_else(|error| {
            tracing::warn!(error = %error_text::with_causes(&error), "failed to look for what is near a miss");
            Vec::new()
        });
        if preflight::wanted_method(head).is_some() {
            return preflight::passing(head, Answer::Miss { near: miss::summary(&near) });
        }
        miss::reply(head, near, self.options.list_nearest)
    }
}

/// The request in the form for look-ups.
pub(crate) fn replay_request<'a>(head: &'a RequestHead, body: &'a Bytes) -> ReplayRequest<'a> {
    ReplayRequest {
        method: head.method.as_str(),
        url: &head.url,
        content_type: head.header(header::CONTENT_TYPE),
        body: Payload::Bytes(body),
    }
}

#[cfg(test)]
pub(crate) mod tests;
