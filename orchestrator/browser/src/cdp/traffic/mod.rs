//! Tracks the traffic of the pages: requests, opening sockets, navigations of frames, and service
//! workers.
//!
//! ```text
//! request:     started -> has a response -> ended
//!                     \-> stalled        no response for long; goes on when one comes
//!                     \-> abandoned      no longer waited for, though its response is complete
//! navigation:  requested -> started -> committed, or nothing comes of it
//! ```

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::Value;

use crate::cdp::bad_ports::has_bad_port;
use crate::cdp::connection::SessionId;
use crate::cdp::service_workers::ServiceWorkers;

/// How many answers are kept until an event tells of their WebSocket.
const MAX_EARLY_ANSWERS: usize = 100;

/// The requests and navigations of all pages.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Requests that have started and not ended, by id.
    requests: HashMap<String, Request>,
    /// Frames that have asked for another document and do not have it yet.
    navigations: HashMap<String, Navigation>,
    /// All workers so far, by their target id.
    workers: HashSet<String>,
    /// Service workers that are not at work yet.
    pub(crate) service_workers: ServiceWorkers,
    /// Responses that a page has read in full, or turned down.
    pub(crate) ended_count: u64,
    /// How many times a stream has said something.
    pub(crate) stream_news: u64,
    /// The same when streams were last listened to.
    pub(crate) heard_news: u64,
    /// The page's time at which they were listened to for long enough.
    pub(crate) listened_at: Option<f64>,
    /// All requests so far.
    started_count: u64,
    /// All WebSockets so far.
    socket_count: u32,
    /// The addresses and URLs of answered WebSockets that no event has told of yet.
    early_answers: Vec<String>,
    /// The URLs of those that an event has told of before the gateway did.
    heard_answers: Vec<String>,
}

#[derive(Debug)]
struct Request {
    session: SessionId,
    url: String,
    stream: bool,
    /// An event stream that is still waited for.
    awaits_first_byte: bool,
    /// The head of its response has come.
    has_response: bool,
    /// It started long ago, and no response has begun.
    stalled: bool,
    /// No longer waited for, though not over.
    abandoned: bool,
    /// How many times [`Traffic::mark_open_ended`] has found nothing new of its response.
    silent_checks: u32,
    /// Its response has begun, and nothing of it has come for long.
    open_ended: bool,
    document: bool,
    media: bool,
    loader: String,
    method: String,
    /// How many requests had started before it, or before the first of its redirects.
    sequence: u64,
    /// Other responses need not wait for this one.
    deferred: bool,
    /// A WebSocket that the browser has not requested yet. After a refusal Chromium makes a process
    /// wait before it tries again.
    throttled: bool,
}

/// A request without a response, and its rank among the others: see [`Traffic::response_order`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingRequest {
    pub(crate) priority: Priority,
    pub(crate) url: String,
    method: String,
    id: String,
    /// It is for a media element. Several threads decode it.
    pub(crate) is_media: bool,
}

/// The smaller one gets its response earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    /// A frame's document. The browser process requests it, so its sequence number may be any.
    Document(u64),
    /// A request of the page's main thread, by its sequence number.
    Page(u64),
    /// A worker's request, by the worker's place among all workers and the request's sequence
    /// number. Workers send in parallel, so that sequence numbers of two of them say nothing.
    Worker(u64, u64),
    /// It was waited for without success.
    Deferred,
    /// It matches no known request.
    Unknown,
}

impl PendingRequest {
    /// Whether a response to this URL and method belongs to it. A preflight for the same URL does,
    /// too.
    pub(crate) fn is(&self, url: &str, method: &str) -> bool {
        self.url == url && (self.method == method || method == "OPTIONS")
    }
}

impl Request {
    fn new(session: &SessionId, url: &str) -> Self {
        Self {
            method: "GET".to_owned(),
            sequence: 0,
            deferred: false,
            throttled: false,
            session: session.clone(),
            url: url.to_owned(),
            stream: false,
            awaits_first_byte: false,
            has_response: false,
            stalled: false,
            abandoned: false,
            silent_checks: 0,
            open_ended: false,
            document: false,
            media: false,
            loader: String::new(),
        }
    }

    fn blocks_settling(&self) -> bool {
        !(self.stream || self.abandoned)
    }

    fn is_socket(&self) -> bool {
        self.url.starts_with("ws:") || self.url.starts_with("wss:")
    }

    /// Whether it is a WebSocket that has this URL, or whose tunnel leads to this address.
    fn is_answered_by(&self, place: &str) -> bool {
        self.is_socket()
            && (self.url == place
                || self.throttled && socket_address(&self.url).as_deref() == Some(place))
    }
}

#[derive(Debug)]
struct Navigation {
    url: String,
    /// The browser has begun to load it. Before that, the page may have put it off until its time
    /// runs on, as it does with forms.
    started: bool,
}

impl Traffic {
    /// Handles an event of a page or worker. Returns whether something has started by it, or
    /// changed its state.
    pub(crate) fn on_event(&mut self, session: &SessionId, method: &str, params: &Value) -> bool {
        let text =
            |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => {
                self.ended_count += u64::from(params.get("redirectResponse").is_some());
                let (id, url) = (text("/requestId"), text("/request/url"));
                // A worker's own script has the worker's target id as request id, and no event
                // reports its end. The attached worker is the end.
                if !url.starts_with("http") || self.workers.contains(id) {
                    return false;
                }
                self.started_count += 1;
                let sequence = self
                    .requests
                    .get(id)
                    .map_or(self.started_count, |redirected| redirected.sequence);
                let request = Request {
                    stream: text("/type") == "EventSource",
                    awaits_first_byte: text("/type") == "EventSource",
                    document: text("/type") == "Document",
                    media: text("/type") == "Media",
                    loader: text("/loaderId").to_owned(),
                    method: text("/request/method").to_owned(),
                    // A preflight has the rank of its request.
                    deferred: text("/initiator/type") == "preflight",
                    sequence,
                    ..Request::new(session, url)
                };
                self.requests.insert(id.to_owned(), request);
            }
            "Network.responseReceived" => {
                if let Some(request) = self.requests.get_mut(text("/requestId")) {
                    (request.has_response, request.stalled, request.silent_checks) =
                        (true, false, 0);
                    request.awaits_first_byte = false;
                    request.stream |= text("/response/mimeType") == "text/event-stream";
                }
                return false;
            }
            "Network.dataReceived" => {
                if let Some(request) = self.requests.get_mut(text("/requestId")) {
                    request.silent_checks = 0;
                    self.stream_news += u64::from(request.stream);
                }
                return false;
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.ended_count += 1;
                self.requests.remove(text("/requestId"));
                return false;
            }
            // Until it is open, a socket counts as a request: the gateway may not have seen it yet.
            "Network.webSocketCreated" if has_bad_port(text("/url")) => {}
            "Network.webSocketCreated" => {
                self.socket_count += 1;
                let socket = Request { throttled: true, ..Request::new(session, text("/url")) };
                match self.early_answers.iter().position(|place| socket.is_answered_by(place)) {
                    Some(early) => drop(self.early_answers.swap_remove(early)),
                    None => drop(self.requests.insert(text("/requestId").to_owned(), socket)),
                }
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                if let Some(socket) = self.requests.get_mut(text("/requestId")) {
                    socket.throttled = false;
                }
            }
            // A refused tunnel ends in an error: there will be no request in it.
            "Network.webSocketHandshakeResponseReceived"
            | "Network.webSocketFrameError"
            | "Network.webSocketClosed" => {
                if let Some(socket) = self.requests.remove(text("/requestId"))
                    && self.heard_answers.len() < MAX_EARLY_ANSWERS
                {
                    self.heard_answers.push(socket.url);
                }
            }
            "Page.frameRequestedNavigation" | "Page.frameStartedNavigating" => {
                let started = method == "Page.frameStartedNavigating";
                let navigation = Navigation { url: text("/url").to_owned(), started };
                self.navigations.insert(text("/frameId").to_owned(), navigation);
            }
            "Page.frameNavigated" => {
                self.navigations.remove(text("/frame/id"));
                let top = params.pointer("/frame/parentId").is_none();
                let loader = text("/frame/loaderId");
                // The document has come. The requests of the one before it no longer matter.
                self.requests.retain(|_, request| {
                    request.session != *session
                        || if request.loader == loader { !request.document } else { !top }
                });
            }
            "Page.navigatedWithinDocument"
            | "Page.frameStoppedLoading"
            | "Page.frameDetached"
            | "Page.downloadWillBegin" => {
                self.navigations.remove(text("/frameId"));
            }
            "ServiceWorker.workerVersionUpdated" => self.service_workers.on_versions(params),
            _ => return false,
        }
        true
    }

    /// Requests without a response, in the order in which their responses are to be released.
    /// `place` is that of a worker among all workers, and `None` for pages.
    pub(crate) fn response_order(
        &self,
        place: impl Fn(&SessionId) -> Option<u64>,
    ) -> Vec<PendingRequest> {
        let is_pending = |request: &Request| {
            !request.has_response && !request.stream && request.url.starts_with("http")
        };
        let without_response = self.requests.iter().filter(|(_, request)| is_pending(request));
        let pending = without_response.map(|(id, request)| PendingRequest {
            priority: match request {
                Request { deferred: true, .. } => Priority::Deferred,
                Request { document: true, sequence, .. } => Priority::Document(*sequence),
                Request { session, sequence, .. } => match place(session) {
                    None => Priority::Page(*sequence),
                    Some(place) => Priority::Worker(place, *sequence),
                },
            },
            url: request.url.clone(),
            method: request.method.clone(),
            id: id.clone(),
            is_media: request.media,
        });
        let mut response_order: Vec<PendingRequest> = pending.collect();
        response_order.sort_unstable_by_key(|pending| pending.priority);
        response_order
    }

    /// From now on no other response waits for this one.
    pub(crate) fn defer(&mut self, pending: &PendingRequest) {
        if let Some(request) = self.requests.get_mut(&pending.id) {
            tracing::debug!(
                url = pending.url,
                "a request has not reached the gateway; other responses go first"
            );
            request.deferred = true;
        }
    }

    /// A worker has started, so the request for its script is over.
    pub(crate) fn worker_attached(&mut self, worker: &str) {
        self.requests.remove(worker);
        self.workers.insert(worker.to_owned());
    }

    /// A page or worker has gone. Its requests no longer matter.
    pub(crate) fn remove_session(&mut self, session: &SessionId) {
        self.requests.retain(|_, request| request.session != *session);
    }

    /// Pending requests, without known streams.
    pub(crate) fn pending(&self) -> usize {
        self.requests.values().filter(|request| request.blocks_settling()).count()
    }

    /// Those of them without a response.
    pub(crate) fn without_response(&self) -> usize {
        self.requests
            .values()
            .filter(|request| request.blocks_settling() && !request.has_response)
            .count()
    }

    /// How long the browser delays a WebSocket at most. It takes a random time of 1 s to 5 s, and
    /// of that a part that doubles with each one that waits or has failed (Chromium's
    /// `WebSocketPerProcessThrottler::CalculateDelay`).
    pub(crate) fn longest_socket_delay(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(5);
        LONGEST / (1 << 16_u32.saturating_sub(self.socket_count))
    }

    /// Whether the handshake of a WebSocket has no answer yet.
    pub(crate) fn has_unanswered_socket(&self) -> bool {
        self.requests.values().any(|request| request.is_socket() && request.blocks_settling())
    }

    /// WebSockets that the browser delays.
    pub(crate) fn throttled(&self) -> usize {
        self.requests
            .values()
            .filter(|request| request.throttled && request.blocks_settling())
            .count()
    }

    /// The gateway has refused a tunnel to this address (`host:port`), or answered the handshake of
    /// a WebSocket with this URL. One of those that wait for it has its answer, whenever its page
    /// is told.
    pub(crate) fn end_answered_socket(&mut self, place: String) {
        if let Some(heard) = self.heard_answers.iter().position(|url| *url == place) {
            self.heard_answers.swap_remove(heard);
            return;
        }
        let waiting = self.requests.iter().filter(|(_, request)| request.is_answered_by(&place));
        match waiting.map(|(id, _)| id).min().cloned() {
            Some(id) => drop(self.requests.remove(&id)),
            // The event that tells of it is still on its way. Of an address once is enough: all
            // tunnels to it are refused.
            None if self.early_answers.len() < MAX_EARLY_ANSWERS
                && !self.early_answers.contains(&place) =>
            {
                self.early_answers.push(place);
            }
            None => {}
        }
    }

    /// Known streams.
    pub(crate) fn streams(&self) -> usize {
        self.requests.values().filter(|request| request.stream).count()
    }

    /// Event streams that are still waited for.
    pub(crate) fn awaits_first_byte(&self) -> usize {
        self.requests.values().filter(|request| request.awaits_first_byte).count()
    }

    /// Stops waiting for those: some servers send nothing before the first event.
    pub(crate) fn stop_waiting_for_event_streams(&mut self) {
        self.requests.values_mut().for_each(|request| request.awaits_first_byte = false);
    }

    /// Frames with a navigation under way.
    pub(crate) fn navigation_count(&self) -> usize {
        self.navigations.len()
    }

    /// Whether this page, named by its main frame, may be about to be replaced.
    pub(crate) fn is_navigating(&self, frame: &str) -> bool {
        self.navigations.contains_key(frame)
    }

    /// Whether only navigations are pending, and the browser has started none of them.
    pub(crate) fn has_only_requested_navigations(&self) -> bool {
        self.without_response() == 0
            && !self.navigations.values().any(|navigation| navigation.started)
    }

    /// Gives up on what the page still waits for, though the network has delivered everything.
    pub(crate) fn abandon_pending(&mut self) {
        for request in self.requests.values_mut().filter(|request| request.blocks_settling()) {
            tracing::debug!(url = request.url, "the page has not read a complete response");
            request.abandoned = true;
        }
        for (_, Navigation { url, .. }) in self.navigations.drain() {
            tracing::debug!(url, "a navigation has ended without a document");
        }
    }

    /// Marks requests without a response as stalled. Like streams they are no longer waited for.
    /// Does nothing while a document is on its way.
    pub(crate) fn mark_stalled(&mut self) {
        let documents =
            self.requests.values().any(|request| request.document && !request.has_response);
        if documents || !self.navigations.is_empty() {
            return;
        }
        for request in self.requests.values_mut() {
            if request.blocks_settling() && !request.has_response {
                let url = &request.url;
                tracing::warn!(url, "no response for long; the page's time runs on without it");
                (request.stalled, request.stream) = (true, true);
            }
        }
    }

    /// Marks responses as streams if nothing of them has come for `max_checks` calls.
    pub(crate) fn mark_open_ended(&mut self, max_checks: u32) {
        for request in self.requests.values_mut().filter(|request| request.has_response) {
            request.silent_checks += 1;
            if !request.open_ended && request.silent_checks >= max_checks {
                tracing::debug!(
                    url = request.url,
                    "a response does not end; the page's time runs on without it"
                );
                (request.open_ended, request.stream) = (true, true);
            }
        }
    }

    /// Requests that nobody waits for, though the gateway still works on them: stalled or
    /// open-ended.
    pub(crate) fn ignored_count(&self) -> usize {
        self.requests.values().filter(|request| request.stalled || request.open_ended).count()
    }

    /// Whether these sessions have streams under way, and nothing else.
    pub(crate) fn only_streams(&self, mut of: impl FnMut(&SessionId) -> bool) -> bool {
        self.pending() == 0
            && self.requests.values().any(|request| request.stream && of(&request.session))
    }

    /// Treats abandoned requests as streams. Returns whether there were any.
    pub(crate) fn turn_abandoned_into_streams(&mut self) -> bool {
        let mut found = false;
        for request in
            self.requests.values_mut().filter(|request| request.abandoned && !request.stream)
        {
            request.stream = true;
            found = true;
        }
        found
    }

    /// Some of the pending URLs, for an error's text.
    pub(crate) fn describe(&self) -> String {
        let navigations = self.navigations.values().map(|navigation| navigation.url.as_str());
        let requests = self.requests.values().filter(|request| !request.stream);
        let mut urls: Vec<&str> =
            navigations.chain(requests.map(|request| request.url.as_str())).collect();
        urls.sort_unstable();
        let more = urls.len().saturating_sub(3);
        urls.truncate(3);
        let mut text = urls.join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        text
    }
}

/// The address that a tunnel for this WebSocket leads to.
fn socket_address(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
