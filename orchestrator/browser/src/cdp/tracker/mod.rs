//! The state of the browser as its events have told it: the open pages and workers, and what is on
//! its way to them.
//!
//! The listener of the DevTools socket updates it. So it is up to date whenever a command has its
//! reply.

mod events;
mod parts;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::timeout;

use self::parts::Parts;
pub(crate) use self::parts::{BrowserEvent, EventSink};
use crate::Error;
use crate::cdp::connection::SessionId;
use crate::cdp::targets;
use crate::cdp::traffic::{PendingRequest, Traffic};
use crate::cdp::worker_order::WorkerOrder;

/// No deadline: somebody else decides when the condition comes true.
pub(crate) const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// How far a page's clock moves at most until it is read again, in milliseconds.
const FARTHEST_CLOCK: f64 = 60.0 * 60.0 * 1000.0;

/// Shared by the session and its listener.
#[derive(Debug)]
pub(crate) struct Tracker {
    state: Mutex<BrowserState>,
    changed: Notify,
    /// The target of Chromium's first tab, which is attached to and belongs to no episode.
    first_tab: OnceLock<String>,
}

#[derive(Debug, Default)]
pub(crate) struct BrowserState {
    /// The preparation of targets of the present episode. Targets of other contexts are released.
    pub(crate) setup: Option<Arc<targets::TargetSetup>>,
    /// The browser contexts of all targets so far. In attach mode a client may create its own.
    pub(crate) contexts: BTreeSet<String>,
    /// Open tabs, in the order of their opening.
    pub(crate) pages: Vec<Page>,
    /// Tabs that have no document yet, as far as is known.
    pub(crate) without_document: HashSet<SessionId>,
    /// The tab that was made the active one. If there is none, the last tab is active.
    pub(crate) focused_tab: Option<SessionId>,
    pub(crate) workers: Vec<Worker>,
    /// Requests and navigations of the pages and workers.
    pub(crate) traffic: Traffic,
    /// Counts everything that ever started: requests, navigations, frames of sockets, pages,
    /// workers. If it stays the same, nothing new has begun.
    pub(crate) started_count: u64,
    /// Requests that have started. Those of workers do not count, because they do not stop a page's
    /// time.
    pub(crate) request_count: u64,
    /// How many budgets of virtual time have expired, by session.
    expired_budgets: HashMap<SessionId, u64>,
    /// Documents that tabs have loaded.
    pub(crate) document_count: u64,
    /// Origins of all documents that were in a tab or frame.
    pub(crate) visited_origins: BTreeSet<String>,
    /// URL changes of tabs, with a new document or within one.
    pub(crate) url_changes: u64,
    /// The order of workers, and those that have not begun.
    pub(crate) worker_order: WorkerOrder,
    /// The page's time in milliseconds, as last read.
    pub(crate) page_clock: f64,
    /// When the episode began, by the machine's clock.
    pub(crate) started_at: Option<Instant>,
    /// The URLs that tabs have opened in attach mode.
    pub(crate) navigations: Vec<String>,
    /// Another program drives the pages.
    pub(crate) externally_driven: bool,
    /// Pages, frames and workers that have gone.
    detached: HashSet<SessionId>,
    /// How many targets refused a command and may be about to go away.
    pub(crate) unverified_targets: usize,
    /// A target that did not take the world's clock, randomness or device, and the reason.
    pub(crate) unprepared_target: Option<(String, String)>,
    /// When a page has crashed, at last.
    crashed: Option<Instant>,
    /// Tabs that have crashed and were not replaced.
    crashed_pages: Vec<Page>,
    disconnected: bool,
    parts: Parts,
}

#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) session: SessionId,
    pub(crate) target: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Worker {
    pub(crate) session: SessionId,
    /// Its place among all workers, by the calls that have made them.
    pub(crate) place: u64,
    pub(crate) url: String,
    /// The remote object whose `tick` moves the worker's time. It comes a moment after the worker
    /// itself.
    pub(crate) handle: Option<Arc<str>>,
}

impl BrowserState {
    /// Clears the state for the targets of a new episode, whose clock shows `page_clock`
    /// milliseconds.
    pub(crate) fn begin_episode(&mut self, setup: targets::TargetSetup, page_clock: f64) {
        let started_at = Some(Instant::now());
        setup.tell_clock(page_clock, page_clock);
        self.reset();
        self.setup = Some(Arc::new(setup));
        self.page_clock = page_clock;
        self.started_at = started_at;
    }

    /// Releases the present episode's targets and returns its browser context.
    pub(crate) fn end_episode(&mut self) -> Option<String> {
        let setup = self.setup.take();
        self.reset();
        setup.and_then(|setup| setup.context.clone())
    }

    /// Forgets the episode.
    fn reset(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.iter_mut().for_each(EventSink::reset);
        *self = Self { disconnected: self.disconnected, parts, ..Self::default() };
    }

    /// The tab on which actions are carried out.
    pub(crate) fn active(&self) -> Result<Page, Error> {
        if self.disconnected {
            return Err(Error::Gone { waiting_for: "the active page".to_owned() });
        }
        if self.crashed.is_some() {
            return Err(Error::NoPage { reason: "the page has crashed" });
        }
        self.check_prepared()?;
        let chosen =
            self.pages.iter().find(|page| Some(&page.session) == self.focused_tab.as_ref());
        let page = chosen.or(self.pages.last()).cloned();
        page.ok_or(Error::NoPage { reason: "all pages were closed" })
    }

    /// Forgets the tabs that have crashed, and gives them, and when the last of them has; nothing
    /// where none has.
    pub(crate) fn take_crashed(&mut self) -> Option<(Vec<Page>, Instant)> {
        let at = self.crashed.take()?;
        let crashed = std::mem::take(&mut self.crashed_pages);
        for page in &crashed {
            self.remove_session(&page.session);
        }
        Some((crashed, at))
    }

    /// Whether a page has crashed, or the browser has ended while pages were open, so that nobody
    /// has closed it.
    pub(crate) fn has_crashed(&self) -> bool {
        self.crashed.is_some() || (self.disconnected && !self.pages.is_empty())
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        self.disconnected
    }

    /// Whether a frozen world's clock cannot have come to this time.
    pub(crate) fn is_far(&self, now: f64) -> bool {
        let is_frozen = self.setup.as_ref().is_some_and(|setup| setup.is_frozen());
        is_frozen && (now - self.page_clock).abs() > FARTHEST_CLOCK
    }

    /// The page's clock has come to the start of the world's time, in milliseconds since 1970.
    pub(crate) fn set_start(&mut self, start: f64) {
        self.page_clock = start;
        self.tell_clock(start);
    }

    /// Takes note of what the active page's clock shows, in milliseconds since 1970.
    ///
    /// # Errors
    /// When a frozen world's clock cannot have come to that: the page's process has another one.
    pub(crate) fn set_clock(&mut self, now: f64) -> Result<(), Error> {
        if self.is_far(now) {
            let reason = format!(
                "its clock is {:.0} s away from the world's; it came into a process with another clock",
                (now - self.page_clock) / 1000.0
            );
            self.unprepared_target.get_or_insert(("a page".to_owned(), reason));
            return self.check_prepared();
        }
        self.page_clock = now;
        self.tell_clock(now);
        self.parts.iter_mut().for_each(|part| part.on_clock(now));
        Ok(())
    }

    /// Tells the gateway what the clock shows, and what it will show after the next piece of time.
    pub(crate) fn tell_clock(&self, next: f64) {
        if let Some(setup) = &self.setup {
            setup.tell_clock(self.page_clock, next);
        }
    }

    /// Fails if a target has the machine's clock, randomness or device.
    pub(crate) fn check_prepared(&self) -> Result<(), Error> {
        match self.unprepared_target.clone() {
            Some((what, reason)) => Err(Error::NotPrepared { what, reason }),
            None => Ok(()),
        }
    }

    pub(crate) fn is_open(&self, session: &SessionId) -> bool {
        self.pages.iter().any(|page| page.session == *session)
    }

    /// Whether a page or worker is there. For frames with a session of their own this is the only
    /// sign.
    pub(crate) fn is_attached(&self, session: &SessionId) -> bool {
        !self.detached.contains(session)
    }

    /// A worker has started, so the request for its script is over.
    pub(crate) fn worker_attached(&mut self, target: &str) {
        self.started_count += 1;
        self.traffic.worker_attached(target);
    }

    fn is_worker(&self, session: &SessionId) -> bool {
        self.workers.iter().any(|worker| worker.session == *session)
    }

    /// The pending requests, in the order in which their responses are to be released.
    pub(crate) fn response_order(&self) -> Vec<PendingRequest> {
        let worker =
            |session: &SessionId| self.workers.iter().find(|worker| worker.session == *session);
        self.traffic.response_order(|session| worker(session).map(|worker| worker.place))
    }

    pub(crate) fn expired_budgets(&self, session: &SessionId) -> u64 {
        self.expired_budgets.get(session).copied().unwrap_or(0)
    }

    /// A tab has opened another URL.
    fn record_navigation(&mut self, session: &SessionId, url: &str, fragment: &str) {
        if self.externally_driven && self.is_open(session) {
            self.navigations.push(format!("{url}{fragment}"));
        }
    }

    fn remove_session(&mut self, session: &SessionId) {
        self.detached.insert(session.clone());
        self.pages.retain(|page| page.session != *session);
        self.workers.retain(|worker| worker.session != *session);
        self.worker_order.left(session);
        self.traffic.remove_session(session);
        self.expired_budgets.remove(session);
        self.parts.iter_mut().for_each(|part| part.on_session_left(session));
        self.without_document.remove(session);
    }
}

impl Tracker {
    /// A tracker with these parts, of one type each.
    pub(crate) fn new(parts: Vec<Box<dyn EventSink>>) -> Self {
        let state = BrowserState { parts: Parts::new(parts), ..BrowserState::default() };
        Self { state: Mutex::new(state), changed: Notify::default(), first_tab: OnceLock::new() }
    }

    pub(crate) fn set_first_tab(&self, target: String) {
        // There is one.
        let _ = self.first_tab.set(target);
    }

    /// Whether a target is the browser's own and not a page's.
    pub(crate) fn is_own(&self, target: &str, kind: &str) -> bool {
        kind == "browser" || self.first_tab.get().is_some_and(|first| first == target)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BrowserState> {
        self.state.lock()
    }

    /// Wakes everyone who waits for a change.
    pub(crate) fn notify(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `ready` returns a value. `condition` describes it in the error.
    pub(crate) async fn wait_for<T>(
        &self,
        limit: Duration,
        condition: impl Fn(&BrowserState) -> String,
        mut ready: impl FnMut(&BrowserState) -> Option<T>,
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
                    if state.disconnected {
                        return Err(Error::Gone { waiting_for: condition(&state) });
                    }
                    if state.crashed.is_some() {
                        return Err(Error::NoPage { reason: "the page has crashed" });
                    }
                    state.check_prepared()?;
                }
                changed.await;
            }
        };
        match timeout(limit, waiting).await {
            Ok(result) => result,
            Err(_) => Err(Error::Deadline { condition: condition(&self.lock()), waited: limit }),
        }
    }
}
