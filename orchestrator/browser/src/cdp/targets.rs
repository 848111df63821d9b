//! Prepares every page, frame and worker before its first script runs.
//!
//! New targets wait for a debugger. The listener sends all commands that a target needs, in order,
//! and then lets it run. It awaits none of them, so a target is held for one round trip only.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use in_flight::PageClock;
use serde_json::{Value, json};

use crate::cdp::connection::{Cdp, SessionId};
use crate::cdp::tracker::{BrowserState, Page, Tracker, Worker};
use crate::clock::virtual_time;
use crate::{Capture, Determinism, Device, Error, Launch, inject, order};

/// Pages and workers both know this command.
const USER_AGENT_OVERRIDE: &str = "Network.setUserAgentOverride";

/// How long the browser may take to report that a page or worker has gone, after that target
/// refused a command for this reason.
const DETACH_GRACE: Duration = Duration::from_secs(5);

/// How the targets of one episode are prepared.
#[derive(Debug)]
pub(crate) struct TargetSetup {
    /// The browser context of the episode; `None` in attach mode, where the whole browser is the
    /// episode's.
    pub(crate) context: Option<String>,
    determinism: Option<Determinism>,
    /// How far clocks are shifted from the machine's, in milliseconds; `None` where virtual time
    /// replaces them.
    clock_shift: Option<f64>,
    /// The same clock, for the gateway.
    page_clock: Option<PageClock>,
    script: Option<String>,
    keeps_order: bool,
    /// The limit of all downloads together, in bytes.
    pub(crate) downloads: u64,
    /// The folder of the downloads.
    pub(crate) download_folder: PathBuf,
    device: Device,
    /// See [`crate::Session::user_agent_override`].
    user_agent: Option<Value>,
    /// Where pages tell what a person does in them.
    pub(crate) capture: Option<Capture>,
}

impl TargetSetup {
    pub(crate) fn new(
        launch: &Launch,
        determinism: Option<Determinism>,
        context: Option<String>,
        user_agent: Option<Value>,
        download_folder: PathBuf,
    ) -> Self {
        let clock_shift = determinism.filter(|_| launch.attach_mode).map(virtual_time::clock_shift);
        let script = determinism
            .as_ref()
            .map(|determinism| inject::page(determinism, clock_shift, launch.keeps_order));
        let page_clock = launch.in_flight.as_ref().map(|in_flight| in_flight.page_clock().clone());
        let (device, downloads) = (launch.device.clone(), launch.downloads);
        let capture = launch.capture.clone();
        Self {
            context,
            script,
            keeps_order: launch.keeps_order,
            downloads,
            download_folder,
            clock_shift,
            page_clock,
            determinism,
            device,
            user_agent,
            capture,
        }
    }

    /// Tells the gateway what the clock of the pages shows, in milliseconds since 1970, if it
    /// stands, and what it will show after the next piece of time.
    pub(crate) fn tell_clock(&self, page_clock: f64, next: f64) {
        match &self.page_clock {
            Some(clock) if self.is_frozen() => clock.stand_between(page_clock as i64..=next as i64),
            Some(clock) => clock.run(self.clock_shift.unwrap_or_default() as i64),
            None => {}
        }
    }

    /// Whether other programs drive the pages.
    pub(crate) fn is_attach_mode(&self) -> bool {
        self.clock_shift.is_some()
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.determinism.is_some() && !self.is_attach_mode()
    }

    fn includes_context(&self, context: &str) -> bool {
        self.context.as_deref().is_none_or(|own| own == context)
    }
}

/// The targets to which a page, or the browser as a whole, is told to attach.
pub(crate) fn auto_attach(of_page: bool) -> Value {
    let mut filter = vec![
        json!({ "type": "browser", "exclude": true }),
        json!({ "type": "browser_ui", "exclude": true }),
        json!({ "type": "tab", "exclude": true }),
    ];
    if of_page {
        // These belong to no page. The browser attaches to them.
        filter.push(json!({ "type": "service_worker", "exclude": true }));
        filter.push(json!({ "type": "shared_worker", "exclude": true }));
    }
    filter.push(json!({}));
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter })
}

/// Prepares a new target.
pub(crate) fn on_attached(
    tracker: &Arc<Tracker>,
    cdp: &Cdp,
    parent: Option<&SessionId>,
    params: &Value,
) {
    let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let session = SessionId::from(text("/sessionId"));
    let kind = text("/targetInfo/type");
    let context = text("/targetInfo/browserContextId");
    if tracker.is_own(text("/targetInfo/targetId"), kind) {
        return;
    }
    let setup = tracker.lock().setup.clone();
    let Some(setup) = setup.filter(|setup| setup.includes_context(context)) else {
        // Chromium's first window, or a rest of the episode before.
        cdp.send(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
        cdp.send(parent, "Target.detachFromTarget", json!({ "sessionId": &*session }));
        return;
    };
    tracker.lock().contexts.insert(context.to_owned());
    if let Some(capture) = &setup.capture
        && matches!(kind, "page" | "iframe")
    {
        capture.on_attached(&session, parent, &params["targetInfo"]);
    }
    match kind {
        "page" => {
            let (clock, first) = {
                let mut state = tracker.lock();
                state.started_count += 1;
                let first = state.pages.is_empty();
                state.focused_tab = None;
                state.without_document.insert(Arc::clone(&session));
                state.pages.push(Page {
                    session: Arc::clone(&session),
                    target: text("/targetInfo/targetId").to_owned(),
                });
                (state.page_clock, first)
            };
            prepare_page(tracker, cdp, &session, &setup);
            if setup.is_frozen() {
                if first {
                    virtual_time::stop(cdp, &session, clock);
                } else {
                    // It shares the process and so the clock of the page that opened it. Stopping
                    // that clock now would take away a granted budget.
                    virtual_time::stop_if_own(cdp, &session, clock);
                }
            }
        }
        "iframe" => {
            let clock = tracker.lock().page_clock;
            prepare_page(tracker, cdp, &session, &setup);
            if setup.is_frozen() {
                virtual_time::stop(cdp, &session, clock);
            }
        }
        "worker" | "shared_worker" | "service_worker" => {
            tracker.lock().worker_attached(text("/targetInfo/targetId"));
            let place = prepare_worker(tracker, cdp, &session, &setup, &params["targetInfo"]);
            if kind == "worker" && setup.is_frozen() {
                return tracker.lock().worker_order.hold(place, session);
            }
        }
        "worklet" | "auction_worklet" | "shared_storage_worklet" => {
            prepare_worklet(tracker, cdp, &session, &setup, text("/targetInfo/url"));
        }
        // Parts of the browser's own, without scripts of a page.
        "other" | "webview" | "background_page" => {}
        _ => {
            let (tracker, session) = (Arc::clone(tracker), Arc::clone(&session));
            let (setup, what) = (Arc::downgrade(&setup), format!("a {kind}"));
            tokio::spawn(async move {
                let reason = "this kind of target is not known".to_owned();
                report_unprepared(&tracker, &session, &setup, &what, reason).await;
            });
        }
    }
    run(cdp, &session);
}

/// Lets a target run that was held.
pub(crate) fn run(cdp: &Cdp, session: &SessionId) {
    drop(cdp.send(Some(session), "Runtime.runIfWaitingForDebugger", json!({})));
}

fn prepare_page(tracker: &Arc<Tracker>, cdp: &Cdp, session: &SessionId, setup: &Arc<TargetSetup>) {
    let mut answers = Vec::new();
    let mut send = |method: &'static str, params: Value| {
        answers.push((method, cdp.send(Some(session), method, params)))
    };
    send("Page.enable", json!({}));
    send("Network.enable", json!({ "maxTotalBufferSize": 1, "maxResourceBufferSize": 1 }));
    send("Target.setAutoAttach", auto_attach(true));
    send("ServiceWorker.enable", json!({}));
    if setup.is_frozen() {
        send("Console.enable", json!({}));
        send("Log.enable", json!({}));
    }
    send("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
    for (method, params) in setup.device.page_overrides() {
        send(method, params);
    }
    if let Some(user_agent) = &setup.user_agent {
        send(USER_AGENT_OVERRIDE, user_agent.clone());
    }
    // The gateway has to see every request: to replay it each time, and to record it whole instead
    // of as a 304.
    send("Network.setCacheDisabled", json!({ "cacheDisabled": true }));
    if let Some(script) = &setup.script {
        send(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": script, "runImmediately": true }),
        );
    }
    if setup.keeps_order && setup.is_frozen() {
        let source = order::CHANGES.replace("ORDER_MARK", order::MARK);
        let script = json!({ "source": source, "worldName": order::WORLD, "runImmediately": true });
        send("Page.addScriptToEvaluateOnNewDocument", script);
    }
    if let Some(capture) = &setup.capture {
        Capture::commands().into_iter().for_each(|(method, params)| send(method, params));
        capture.hold_command().into_iter().for_each(|(method, params)| send(method, params));
    }
    let (tracker, session) = (Arc::clone(tracker), Arc::clone(session));
    let setup = Arc::downgrade(setup);
    tokio::spawn(async move {
        for (method, answer) in answers {
            // The locale belongs to the process. A page that is not the first one there has it
            // already.
            if let Ok(Err(refusal)) = answer.await
                && !refusal.mentions("Another locale override is already in effect")
            {
                report_unprepared(
                    &tracker,
                    &session,
                    &setup,
                    "a page",
                    format!("{method}: {refusal}"),
                )
                .await;
            }
        }
    });
}

/// Gives a worklet the page's time of its beginning, which does not move, and the world's
/// randomness.
fn prepare_worklet(
    tracker: &Arc<Tracker>,
    cdp: &Cdp,
    session: &SessionId,
    setup: &Arc<TargetSetup>,
    url: &str,
) {
    let Some(determinism) = &setup.determinism else { return };
    let now = virtual_time::script_time(*determinism, tracker.lock().page_clock);
    let script = inject::worklet(determinism, stable_url(url), now, setup.clock_shift);
    let answer = cdp.send(Some(session), "Runtime.evaluate", json!({ "expression": script }));
    let (tracker, session, what) =
        (Arc::clone(tracker), Arc::clone(session), format!("the worklet {url}"));
    let setup = Arc::downgrade(setup);
    tokio::spawn(async move {
        let reason = match answer.await {
            Ok(Ok(text)) if text.get().contains("exceptionDetails") => text.get().to_owned(),
            Ok(Err(refusal)) => refusal.to_string(),
            // The connection is lost, and with it the browser.
            Ok(Ok(_)) | Err(_) => return,
        };
        report_unprepared(&tracker, &session, &setup, &what, reason).await;
    });
}

/// Ends the episode for a page or worker that has the machine's clock and randomness. If the target
/// is about to go away, that is a good reason for its refusal, and nothing happens.
async fn report_unprepared(
    tracker: &Tracker,
    session: &SessionId,
    setup: &Weak<TargetSetup>,
    what: &str,
    reason: String,
) {
    let condition = |_: &BrowserState| format!("{what} to go away");
    let is_gone = |state: &BrowserState| !state.is_attached(session) || setup.strong_count() == 0;
    tracker.lock().unverified_targets += 1;
    let wait =
        tracker.wait_for(DETACH_GRACE, condition, |state| is_gone(state).then_some(())).await;
    {
        let mut state = tracker.lock();
        state.unverified_targets = state.unverified_targets.saturating_sub(1);
        if !matches!(wait, Err(Error::Deadline { .. })) || is_gone(&state) {
            return;
        }
        if setup.upgrade().is_some_and(|setup| setup.determinism.is_some()) {
            tracing::warn!(what, reason, "it runs with the machine's time and randomness");
            state.unprepared_target.get_or_insert((what.to_owned(), reason));
        } else {
            tracing::debug!(what, reason, "it is not as the others");
        }
    }
    tracker.notify();
}

/// The part of a URL that is the same in every run. The browser makes up the name of a blob.
pub(crate) fn stable_url(url: &str) -> &str {
    if url.starts_with("blob:") { url.rfind('/').map_or(url, |end| &url[..end]) } else { url }
}

/// Prepares a worker. Returns its place among all workers.
fn prepare_worker(
    tracker: &Arc<Tracker>,
    cdp: &Cdp,
    session: &SessionId,
    setup: &Arc<TargetSetup>,
    info: &Value,
) -> u64 {
    let text = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, url) = (text("type"), text("url"));
    let send = |method: &str, params: Value| cdp.send(Some(session), method, params);
    drop(send("Network.enable", json!({ "maxTotalBufferSize": 1, "maxResourceBufferSize": 1 })));
    drop(send("Target.setAutoAttach", auto_attach(true)));
    drop(send("Network.setCacheDisabled", json!({ "cacheDisabled": true })));
    if let Some(user_agent) = &setup.user_agent {
        drop(send(USER_AGENT_OVERRIDE, user_agent.clone()));
    }
    let Some(determinism) = &setup.determinism else { return 0 };
    let (place, ordinal, now) = {
        let mut state = tracker.lock();
        state.started_count += 1;
        let (place, ordinal) = state.worker_order.attached(text("targetId"), url);
        if setup.is_frozen() {
            let (session, url) = (Arc::clone(session), url.to_owned());
            state.workers.push(Worker { session, place, url, handle: None });
            state.workers.sort_by_key(|worker| worker.place);
        }
        (place, ordinal, virtual_time::script_time(*determinism, state.page_clock))
    };
    if let Some(clock_shift) = setup.clock_shift {
        let script = inject::running_worker(determinism, stable_url(url), ordinal, clock_shift);
        drop(send("Runtime.evaluate", json!({ "expression": script })));
        return place;
    }
    let script = inject::worker(determinism, kind, stable_url(url), ordinal, now);
    let answer = send("Runtime.evaluate", json!({ "expression": script }));
    let (tracker, session, url) = (Arc::clone(tracker), Arc::clone(session), url.to_owned());
    let setup = Arc::downgrade(setup);
    tokio::spawn(async move {
        let answer = answer.await;
        let result: Option<Value> = match &answer {
            Ok(Ok(text)) => serde_json::from_str(text.get()).ok(),
            _ => None,
        };
        let handle =
            result.as_ref().and_then(|result| result.pointer("/result/objectId")?.as_str());
        let Some(handle) = handle else {
            let reason = match answer {
                Ok(Err(refusal)) => refusal.to_string(),
                Ok(Ok(text)) => text.get().to_owned(),
                // The connection is lost, and with it the browser.
                Err(_) => return,
            };
            return report_unprepared(
                &tracker,
                &session,
                &setup,
                &format!("the worker {url}"),
                reason,
            )
            .await;
        };
        let handle = Arc::from(handle);
        if let Some(worker) =
            tracker.lock().workers.iter_mut().find(|worker| worker.session == session)
        {
            worker.handle = Some(handle);
        }
        tracker.notify();
    });
    place
}
