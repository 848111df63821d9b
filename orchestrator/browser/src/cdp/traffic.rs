//! What is on its way to the pages: requests, sockets that are being opened, other documents for frames, and service workers, which the browser
//! starts by itself at some time after their scripts have come.
//!
//! ```text
//! request:     begun -> answered -> ended        unread: given up though answered in full
//!                    \-> in vain                 asked long ago; answered or ended when something happens
//! navigation:  asked -> started -> there, or nothing comes of it
//! ```

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::cdp::connection::SessionId;

/// The requests and navigations of all pages.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Requests that have begun and not ended, by id.
    requests: HashMap<String, Request>,
    /// Frames that have asked for another document and not got it.
    navigations: HashMap<String, Navigation>,
    /// Workers ever seen, by the browser's name for them.
    workers: HashSet<String>,
    /// Service workers that are being started, installed or activated; false for those that are no longer waited for.
    services: HashMap<String, bool>,
    /// Answers that a page has taken in full, or turned down.
    pub(crate) ended: u64,
    /// Requests ever begun.
    begun: u64,
}

#[derive(Debug)]
struct Request {
    session: SessionId,
    url: String,
    stream: bool,
    /// An event stream that is waited for to begin.
    opening: bool,
    /// Its head has been received.
    answered: bool,
    /// Asked long ago, and no answer has begun.
    in_vain: bool,
    /// No longer waited for, though not over.
    unread: bool,
    /// When a piece of its answer came last.
    heard: Instant,
    /// Its answer has begun, and nothing of it has come for long.
    open_ended: bool,
    document: bool,
    loader: String,
    method: String,
    /// How many had begun before it, or before the first of its redirects.
    number: u64,
    /// Others need not wait for its answer.
    put_off: bool,
    /// A WebSocket that the browser has not asked for yet: it lets a process that has been refused
    /// wait before it asks again.
    held_back: bool,
}

/// A request without an answer, and where that belongs among the others: see [`Traffic::order`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) place: Place,
    pub(crate) url: String,
    method: String,
    id: String,
}

/// Less is earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// A frame's document. The browser's own process asks for it, so its number may be any.
    Document(u64),
    /// What the page's main thread asked for, in its order.
    Page(u64),
    /// Workers ask side by side.
    Worker,
    /// It was waited for in vain.
    PutOff,
    /// Nothing is known of it.
    Unknown,
}

impl Asked {
    /// Whether an answer with this URL and method is the one; or an answer to the question that a
    /// browser asks before.
    pub(crate) fn is(&self, url: &str, method: &str) -> bool {
        self.url == url && (self.method == method || method == "OPTIONS")
    }
}

impl Request {
    fn new(session: &SessionId, url: &str) -> Self {
        Self {
            method: "GET".to_owned(),
            number: 0,
            put_off: false,
            held_back: false,
            session: session.clone(),
            url: url.to_owned(),
            stream: false,
            opening: false,
            answered: false,
            in_vain: false,
            unread: false,
            heard: Instant::now(),
            open_ended: false,
            document: false,
            loader: String::new(),
        }
    }

    fn is_waited_for(&self) -> bool {
        !(self.stream || self.unread)
    }
}

#[derive(Debug)]
struct Navigation {
    url: String,
    /// The browser is at it. Before, it may be that the page has only put it off, as it does with forms, until its time runs on.
    started: bool,
}

impl Traffic {
    /// Takes an event of a page or worker; whether something has begun by it, or come to another state.
    pub(crate) fn hear(&mut self, session: &SessionId, method: &str, params: &Value) -> bool {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => {
                self.ended += u64::from(params.get("redirectResponse").is_some());
                let (id, url) = (text("/requestId"), text("/request/url"));
                // A worker's own script goes by the worker's name, and nobody tells of its end: the worker's coming is that.
                if !url.starts_with("http") || self.workers.contains(id) {
                    return false;
                }
                self.begun += 1;
                let number = self.requests.get(id).map_or(self.begun, |redirected| redirected.number);
                let request = Request {
                    stream: text("/type") == "EventSource",
                    opening: text("/type") == "EventSource",
                    document: text("/type") == "Document",
                    loader: text("/loaderId").to_owned(),
                    method: text("/request/method").to_owned(),
                    // A question that the browser asks before another one has the place of that.
                    put_off: text("/initiator/type") == "preflight",
                    number,
                    ..Request::new(session, url)
                };
                self.requests.insert(id.to_owned(), request);
            }
            "Network.responseReceived" => {
                if let Some(request) = self.requests.get_mut(text("/requestId")) {
                    (request.answered, request.in_vain, request.heard) = (true, false, Instant::now());
                    request.opening = false;
                    request.stream |= text("/response/mimeType") == "text/event-stream";
                }
                return false;
            }
            "Network.dataReceived" => {
                if let Some(request) = self.requests.get_mut(text("/requestId")) {
                    request.heard = Instant::now();
                }
                return false;
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.ended += 1;
                self.requests.remove(text("/requestId"));
                return false;
            }
            // Until it is open, a socket is a request like others: the gateway may not have heard of it yet.
            "Network.webSocketCreated" => {
                let socket = Request { held_back: true, ..Request::new(session, text("/url")) };
                self.requests.insert(text("/requestId").to_owned(), socket);
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                if let Some(socket) = self.requests.get_mut(text("/requestId")) {
                    socket.held_back = false;
                }
            }
            "Network.webSocketHandshakeResponseReceived" | "Network.webSocketClosed" => {
                self.requests.remove(text("/requestId"));
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
                // The document itself has come, and what the one before it still wanted is of no interest any more.
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
            "ServiceWorker.workerVersionUpdated" => {
                let versions = params.get("versions").and_then(Value::as_array);
                versions.into_iter().flatten().for_each(|version| self.hear_of_service(version));
            }
            _ => return false,
        }
        true
    }

    fn hear_of_service(&mut self, version: &Value) {
        let text = |name: &str| version.get(name).and_then(Value::as_str).unwrap_or_default();
        let settled = matches!(text("status"), "installed" | "activated" | "redundant");
        if settled && text("runningStatus") != "starting" {
            self.services.remove(text("versionId"));
        } else {
            self.services.entry(text("versionId").to_owned()).or_insert(true);
        }
    }

    /// What is asked for and not answered, in the order in which the answers are to be handed over.
    pub(crate) fn order(&self, is_page: impl Fn(&SessionId) -> bool) -> Vec<Asked> {
        let is_asked =
            |request: &Request| !request.answered && !request.stream && request.url.starts_with("http");
        let unanswered = self.requests.iter().filter(|(_, request)| is_asked(request));
        let asked = unanswered.map(|(id, request)| Asked {
            place: match request {
                Request { put_off: true, .. } => Place::PutOff,
                Request { document: true, number, .. } => Place::Document(*number),
                Request { session, number, .. } if is_page(session) => Place::Page(*number),
                _ => Place::Worker,
            },
            url: request.url.clone(),
            method: request.method.clone(),
            id: id.clone(),
        });
        let mut order: Vec<Asked> = asked.collect();
        order.sort_unstable_by_key(|asked| asked.place);
        order
    }

    /// No other answer is to wait for the one to this any more.
    pub(crate) fn put_off(&mut self, asked: &Asked) {
        if let Some(request) = self.requests.get_mut(&asked.id) {
            tracing::debug!(url = asked.url, "a request has not come to the gateway; others go before it");
            request.put_off = true;
        }
    }

    /// How many service workers are waited for.
    pub(crate) fn services(&self) -> usize {
        self.services.values().filter(|waited_for| **waited_for).count()
    }

    /// Waits no longer for those that are on their way now: what they do when they are installed may take the page's own time.
    pub(crate) fn give_up_services(&mut self) {
        self.services.values_mut().for_each(|waited_for| *waited_for = false);
    }

    /// A worker has come: the request for its script is over.
    pub(crate) fn meet(&mut self, worker: &str) {
        self.requests.remove(worker);
        self.workers.insert(worker.to_owned());
    }

    /// A page or worker has gone, and what it asked for is of no interest any more.
    pub(crate) fn leave(&mut self, session: &SessionId) {
        self.requests.retain(|_, request| request.session != *session);
    }

    /// Requests on their way, without those known to be streams.
    pub(crate) fn pending(&self) -> usize {
        self.requests.values().filter(|request| request.is_waited_for()).count()
    }

    /// Those of them whose answer has not begun.
    pub(crate) fn unanswered(&self) -> usize {
        self.requests.values().filter(|request| request.is_waited_for() && !request.answered).count()
    }

    /// WebSockets that the browser lets wait.
    pub(crate) fn held_back(&self) -> usize {
        self.requests.values().filter(|request| request.held_back && request.is_waited_for()).count()
    }

    /// Requests that are known to be streams.
    pub(crate) fn streams(&self) -> usize {
        self.requests.values().filter(|request| request.stream).count()
    }

    /// Event streams that are waited for to begin.
    pub(crate) fn opening(&self) -> usize {
        self.requests.values().filter(|request| request.opening).count()
    }

    /// Waits no longer for those: some servers begin with the first event.
    pub(crate) fn give_up_opening(&mut self) {
        self.requests.values_mut().for_each(|request| request.opening = false);
    }

    /// Frames on their way to another document.
    pub(crate) fn navigating(&self) -> usize {
        self.navigations.len()
    }

    /// Whether a page, whose own frame this is, may be about to give way to another one.
    pub(crate) fn leaves(&self, frame: &str) -> bool {
        self.navigations.contains_key(frame)
    }

    /// Whether nothing is on its way but documents that frames have asked for and the browser has not begun to load.
    pub(crate) fn only_asked(&self) -> bool {
        self.unanswered() == 0 && !self.navigations.values().any(|navigation| navigation.started)
    }

    /// Gives up on what the page still waits for though the network has delivered all there is.
    pub(crate) fn give_up(&mut self) {
        for request in self.requests.values_mut().filter(|request| request.is_waited_for()) {
            tracing::debug!(
                url = request.url,
                "the page has not finished a request that was answered in full"
            );
            request.unread = true;
        }
        for (_, Navigation { url, .. }) in self.navigations.drain() {
            tracing::debug!(url, "a navigation came to nothing");
        }
    }

    /// Takes questions that no answer has begun for to be asked in vain, so far: they are waited
    /// for as little as streams are. Not while a document is on its way.
    pub(crate) fn ask_in_vain(&mut self) {
        let documents = self.requests.values().any(|request| request.document && !request.answered);
        if documents || !self.navigations.is_empty() {
            return;
        }
        for request in self.requests.values_mut() {
            if request.is_waited_for() && !request.answered {
                let url = &request.url;
                tracing::warn!(url, "no answer has come for long; the page's time goes on without it");
                (request.in_vain, request.stream) = (true, true);
            }
        }
    }

    /// Takes answers for streams of which nothing has come for this long.
    pub(crate) fn leave_open_ended(&mut self, silence: Duration) {
        for request in self.requests.values_mut() {
            if request.answered && !request.open_ended && request.heard.elapsed() >= silence {
                tracing::debug!(
                    url = request.url,
                    "an answer does not end; the page's time goes on without it"
                );
                (request.open_ended, request.stream) = (true, true);
            }
        }
    }

    /// How many requests are under way that nobody waits for, though the gateway has not done with
    /// them: asked in vain, or without an end.
    pub(crate) fn left_alone(&self) -> usize {
        self.requests.values().filter(|request| request.in_vain || request.open_ended).count()
    }

    /// Whether nothing is under way from these sessions but streams, and there is one.
    pub(crate) fn only_streams(&self, mut of: impl FnMut(&SessionId) -> bool) -> bool {
        self.pending() == 0 && self.requests.values().any(|request| request.stream && of(&request.session))
    }

    /// Takes what was given up for streams; true where there was such a thing.
    pub(crate) fn unread_are_streams(&mut self) -> bool {
        let mut found = false;
        for request in self.requests.values_mut().filter(|request| request.unread && !request.stream) {
            request.stream = true;
            found = true;
        }
        found
    }

    /// Some of what is on its way, for an error's text.
    pub(crate) fn describe(&self) -> String {
        let navigations = self.navigations.values().map(|navigation| navigation.url.as_str());
        let requests = self.requests.values().filter(|request| !request.stream);
        let mut urls: Vec<&str> = navigations.chain(requests.map(|request| request.url.as_str())).collect();
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_worker_is_waited_for_from_its_beginning_until_it_is_at_work() {
        let session = SessionId::from("page");
        let mut traffic = Traffic::default();
        let mut tell = |status: &str, running: &str| {
            let versions = json!([{ "versionId": "0", "status": status, "runningStatus": running }]);
            assert!(traffic.hear(
                &session,
                "ServiceWorker.workerVersionUpdated",
                &json!({ "versions": versions })
            ));
            traffic.services()
        };
        assert_eq!(tell("new", "stopped"), 1);
        assert_eq!(tell("installing", "running"), 1);
        assert_eq!(tell("activated", "running"), 0);
        assert_eq!(tell("activated", "starting"), 1, "after it was stopped");
        assert_eq!(tell("activated", "running"), 0);
        assert_eq!(tell("redundant", "stopped"), 0);
        tell("installing", "running");
        traffic.give_up_services();
        assert_eq!(traffic.services(), 0, "its installation waits for something else");
    }

    #[test]
    fn answers_belong_in_the_order_of_the_asking() {
        let (page, worker) = (SessionId::from("page"), SessionId::from("worker"));
        let mut traffic = Traffic::default();
        let mut ask = |session: &SessionId, id: &str, kind: &str, initiator: &str| {
            let request = json!({ "url": format!("https://a.test/{id}"), "method": "GET" });
            let initiator = json!({ "type": initiator });
            let asked = json!({ "requestId": id, "type": kind, "request": request, "initiator": initiator });
            traffic.hear(session, "Network.requestWillBeSent", &asked);
        };
        ask(&worker, "w", "Fetch", "script");
        ask(&page, "b", "Script", "parser");
        ask(&page, "a", "Fetch", "script");
        ask(&page, "question", "Other", "preflight");
        ask(&page, "events", "EventSource", "other");
        ask(&page, "frame", "Document", "parser");
        // Where a redirect leads has the place of what was asked first.
        ask(&page, "b", "Script", "parser");
        let order = |traffic: &Traffic| -> Vec<String> {
            let order = traffic.order(|session| *session == page);
            order.into_iter().map(|asked| asked.url.rsplit('/').next().unwrap().to_owned()).collect()
        };
        assert_eq!(order(&traffic), ["frame", "b", "a", "w", "question"]);
        let first = traffic.order(|session| *session == page).remove(1);
        assert!(first.is("https://a.test/b", "GET") && first.is("https://a.test/b", "OPTIONS"));
        assert!(!first.is("https://a.test/b", "POST") && !first.is("https://a.test/a", "GET"));
        traffic.put_off(&first);
        let left = order(&traffic);
        assert_eq!(left[..3], ["frame", "a", "w"]);
    }

    #[test]
    fn a_socket_is_on_its_way_until_it_is_open() {
        let session = SessionId::from("page");
        let mut traffic = Traffic::default();
        let socket = json!({ "requestId": "1", "url": "wss://a.test/" });
        assert!(traffic.hear(&session, "Network.webSocketCreated", &socket));
        assert_eq!((traffic.unanswered(), &*traffic.describe()), (1, "wss://a.test/"));
        assert_eq!(traffic.held_back(), 1);
        assert!(traffic.hear(&session, "Network.webSocketWillSendHandshakeRequest", &socket));
        assert_eq!((traffic.unanswered(), traffic.held_back()), (1, 0));
        traffic.hear(&session, "Network.webSocketHandshakeResponseReceived", &socket);
        assert_eq!(traffic.unanswered(), 0);
    }
}
