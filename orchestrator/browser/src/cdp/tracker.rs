//! What the browser has told so far: which pages and workers there are, and what is still on its way.
//!
//! Kept by the listener of the DevTools socket, so it is up to date with every answered command.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};

use crate::{
    Error,
    act::{
        dialogs::{self, Dialog, Manners},
        downloads::Saving,
        upload::Chooser,
    },
    cdp::{
        connection::{Cdp, Event, SessionId},
        targets,
        traffic::{Asked, Traffic},
    },
    clock::{idle::Processes, screen::Frames},
};

/// As long as it takes: what is waited for is somebody else's to do.
pub(crate) const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// Shared by the session and its listener.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// How targets of the present episode are prepared; targets of other contexts are let go.
    pub(crate) setup: Option<Arc<targets::Setup>>,
    /// Open tabs, in the order of their opening.
    pub(crate) pages: Vec<Page>,
    /// Tabs that have come to no document yet, as far as is known.
    pub(crate) vacant: HashSet<SessionId>,
    /// The tab that was chosen to be the active one; otherwise that is the last.
    pub(crate) chosen: Option<SessionId>,
    /// How many dialogs there were, and downloads, when the last action began.
    pub(crate) dialogs_before: usize,
    pub(crate) downloads_before: usize,
    /// Dialogs, as they were answered.
    pub(crate) dialogs: Vec<Dialog>,
    /// How the agent wants them to be answered.
    pub(crate) manners: Option<Manners>,
    /// Files that pages have the browser save.
    pub(crate) downloads: Vec<Saving>,
    /// Events of mouse and keyboard are on their way.
    pub(crate) striking: bool,
    /// A page's wish for files.
    pub(crate) chooser: Option<Chooser>,
    /// What the browser has let us drag.
    pub(crate) dragged: Option<Value>,
    pub(crate) workers: Vec<Worker>,
    /// What is on its way to them.
    pub(crate) traffic: Traffic,
    /// Everything that ever began: requests, navigations, frames of sockets, pages, workers. Tells a lull from silence.
    pub(crate) begun: u64,
    /// How many requests have begun, those of workers apart: they do not stop the time of a page.
    pub(crate) asked: u64,
    /// How many grants of virtual time have run out, by session.
    expired: HashMap<SessionId, u64>,
    /// Documents that have come into a tab.
    pub(crate) documents: u64,
    /// Where documents came from that have been in a tab or frame.
    pub(crate) origins: BTreeSet<String>,
    /// Changes of a tab's address, with a new document or without.
    pub(crate) addresses: u64,
    /// Messages of WebSockets.
    pub(crate) sockets: Sockets,
    /// What the gateway had sent and taken before the first of them.
    pub(crate) socket_offset: Option<(i64, i64)>,
    /// Workers ever seen, by address, so that each has its own ordinal.
    pub(crate) ordinals: HashMap<String, usize>,
    /// The page's time in milliseconds, as last seen.
    pub(crate) clock: f64,
    /// The page's time runs without waiting for answers, and none is handed over.
    pub(crate) keeps_answers: bool,
    /// When the episode began, by the machine's clock.
    pub(crate) began: Option<Instant>,
    /// The times of the frames that are drawn.
    pub(crate) frames: Frames,
    /// Where a frame is being drawn.
    pub(crate) drawing: HashSet<SessionId>,
    /// The pages that tabs have come to, where other programs open them.
    pub(crate) visited: Vec<String>,
    /// Another program drives the pages by now.
    pub(crate) handed_over: bool,
    pub(crate) processes: Processes,
    pub(crate) news: News,
    /// Pages, frames and workers that have gone.
    left: HashSet<SessionId>,
    /// How many pages and workers refused it and may be about to go away.
    pub(crate) doubts: usize,
    /// What did not take the world's clock, randomness or device, and why.
    pub(crate) unprepared: Option<(String, String)>,
    crashed: bool,
    gone: bool,
}

/// What had begun and come to an end when a rest last looked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    /// Requests, as the gateway counts them.
    pub(crate) asked: u64,
}

/// Messages of WebSockets as the pages count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sockets {
    pub(crate) received: u64,
    pub(crate) sent: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) session: SessionId,
    pub(crate) target: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Worker {
    pub(crate) session: SessionId,
    pub(crate) url: String,
    /// The remote object whose `tick` moves the worker's time; comes a moment after the worker itself.
    pub(crate) handle: Option<Arc<str>>,
}

impl State {
    /// Starts with an empty slate for the targets of a new episode, whose clock shows `clock` milliseconds.
    pub(crate) fn begin(&mut self, setup: targets::Setup, clock: f64) {
        let began = Some(Instant::now());
        *self = Self { setup: Some(Arc::new(setup)), clock, began, gone: self.gone, ..Self::default() };
    }

    /// Lets go of the present episode's targets and returns its context.
    pub(crate) fn end(&mut self) -> Option<String> {
        let setup = self.setup.take();
        *self = Self { gone: self.gone, ..Self::default() };
        setup.and_then(|setup| setup.context.clone())
    }

    /// From now on, what happens is due to another action.
    pub(crate) fn begin_action(&mut self) {
        self.dialogs_before = self.dialogs.len();
        self.downloads_before = self.downloads.len();
    }

    /// The tab that is acted on.
    pub(crate) fn active(&self) -> Result<Page, Error> {
        if self.gone {
            return Err(Error::Gone { waiting_for: "the active page".to_owned() });
        }
        if self.crashed {
            return Err(Error::NoPage { reason: "the page has crashed" });
        }
        self.prepared()?;
        let chosen = self.pages.iter().find(|page| Some(&page.session) == self.chosen.as_ref());
        let page = chosen.or(self.pages.last()).cloned();
        page.ok_or(Error::NoPage { reason: "all pages were closed" })
    }

    /// Whether all that there is sees the world.
    pub(crate) fn prepared(&self) -> Result<(), Error> {
        match self.unprepared.clone() {
            Some((what, reason)) => Err(Error::NotPrepared { what, reason }),
            None => Ok(()),
        }
    }

    pub(crate) fn is_open(&self, session: &SessionId) -> bool {
        self.pages.iter().any(|page| page.session == *session)
    }

    /// Whether a page or worker is there. Frames with a session of their own are told by it alone.
    pub(crate) fn is_attached(&self, session: &SessionId) -> bool {
        !self.left.contains(session)
    }

    /// A worker has come: the request for its script is over.
    pub(crate) fn meet(&mut self, target: &str) {
        self.begun += 1;
        self.traffic.meet(target);
    }

    fn is_worker(&self, session: &SessionId) -> bool {
        self.workers.iter().any(|worker| worker.session == *session)
    }

    /// What is asked for, in the order in which the answers are to be handed over.
    pub(crate) fn order(&self) -> Vec<Asked> {
        self.traffic.order(|session| !self.is_worker(session))
    }

    pub(crate) fn expired(&self, session: &SessionId) -> u64 {
        self.expired.get(session).copied().unwrap_or(0)
    }

    /// A tab has come to another address.
    fn visit(&mut self, session: &SessionId, url: &str, fragment: &str) {
        if self.handed_over && self.is_open(session) {
            self.visited.push(format!("{url}{fragment}"));
        }
    }

    fn leave(&mut self, session: &SessionId) {
        self.left.insert(session.clone());
        self.pages.retain(|page| page.session != *session);
        self.workers.retain(|worker| worker.session != *session);
        self.traffic.leave(session);
        self.expired.remove(session);
        self.drawing.remove(session);
        self.vacant.remove(session);
    }
}

impl Watch {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Tells everyone who waits that something has changed.
    pub(crate) fn touch(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `ready` finds what it looks for. `condition` names that in the error.
    pub(crate) async fn until<T>(
        &self,
        limit: Duration,
        condition: impl Fn(&State) -> String,
        mut ready: impl FnMut(&State) -> Option<T>,
    ) -> Result<T, Error> {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                // Registered before the state is read, so that no change in between is lost.
                changed.as_mut().enable();
                {
                    let state = self.lock();
                    if let Some(found) = ready(&state) {
                        return Ok(found);
                    }
                    if state.gone {
                        return Err(Error::Gone { waiting_for: condition(&state) });
                    }
                    if state.crashed {
                        return Err(Error::NoPage { reason: "the page has crashed" });
                    }
                    state.prepared()?;
                }
                changed.await;
            }
        };
        match timeout(limit, waiting).await {
            Ok(result) => result,
            Err(_) => Err(Error::Deadline { condition: condition(&self.lock()), waited: limit }),
        }
    }

    /// Takes one event; `None` is the end of the connection.
    pub(crate) fn hear(self: &Arc<Self>, cdp: &Cdp, event: Option<Event>) {
        match event {
            None => self.lock().gone = true,
            Some(Event { session, method, params }) => self.note(cdp, session, &method, &params),
        }
        self.touch();
    }

    fn note(self: &Arc<Self>, cdp: &Cdp, session: Option<SessionId>, method: &str, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if method == "Target.attachedToTarget" {
            targets::attached(self, cdp, session.as_ref(), params);
            return;
        }
        let mut state = self.lock();
        if let Some(session) = &session {
            let begun = state.traffic.hear(session, method, params);
            state.begun += u64::from(begun);
            if begun && !state.is_worker(session) {
                state.asked += u64::from(match method {
                    "Network.requestWillBeSent" => text("/initiator/type") != "preflight",
                    "Network.webSocketCreated" => true,
                    _ => false,
                });
            }
        }
        match method {
            "Target.detachedFromTarget" => {
                let left = SessionId::from(text("/sessionId"));
                state.leave(&left);
                cdp.abandon(&left);
            }
            "Inspector.targetCrashed" => {
                if let Some(session) = session {
                    // Where another program drives the pages it knows of others, or opens them.
                    state.crashed |= state.is_open(&session) && !state.handed_over;
                    state.workers.retain(|worker| worker.session != session);
                    state.left.insert(session.clone());
                    cdp.abandon(&session);
                }
            }
            "Emulation.virtualTimeBudgetExpired" => {
                if let Some(session) = session {
                    *state.expired.entry(session).or_default() += 1;
                }
            }
            "Input.dragIntercepted" => state.dragged = params.get("data").cloned(),
            "Browser.downloadWillBegin" => state.download_begins(cdp, params),
            "Browser.downloadProgress" => state.download_goes_on(cdp, params),
            // Only where storage is read or written: see `storage`.
            "Fetch.requestPaused" => {
                let answer = json!({
                    "requestId": text("/requestId"),
                    "responseCode": 200,
                    "responseHeaders": [{ "name": "Content-Type", "value": "text/html" }],
                    "body": "",
                });
                drop(cdp.send(session.as_ref(), "Fetch.fulfillRequest", answer));
            }
            "Page.fileChooserOpened" => state.chooser = Chooser::of(params),
            "Network.webSocketFrameReceived" | "Network.webSocketFrameSent" => {
                state.begun += 1;
                // Text and binary messages only.
                if matches!(params.pointer("/response/opcode").and_then(Value::as_u64), Some(1 | 2)) {
                    let sockets = &mut state.sockets;
                    let count =
                        if method.ends_with("Received") { &mut sockets.received } else { &mut sockets.sent };
                    *count += 1;
                }
            }
            "Page.frameNavigated" => {
                if let Some(session) = session {
                    let top = params.pointer("/frame/parentId").is_none();
                    let origin = text("/frame/securityOrigin");
                    if origin.starts_with("http") {
                        state.origins.insert(origin.to_owned());
                    }
                    if top {
                        state.vacant.remove(&session);
                        state.visit(&session, text("/frame/url"), text("/frame/urlFragment"));
                    }
                    state.documents += u64::from(top);
                    state.addresses += u64::from(top);
                }
            }
            "Page.navigatedWithinDocument" => {
                state.addresses += 1;
                let page =
                    |page: &Page| Some(&page.session) == session.as_ref() && page.target == text("/frameId");
                if let Some(page) = state.pages.iter().find(|open| page(open)) {
                    let session = page.session.clone();
                    state.visit(&session, text("/url"), "");
                }
            }
            "Page.javascriptDialogOpening" if !state.handed_over => {
                let (answer, dialog) = dialogs::answer(params, state.manners.as_ref());
                cdp.send(session.as_ref(), "Page.handleJavaScriptDialog", answer);
                state.dialogs.push(dialog);
            }
            _ => {}
        }
    }
}
