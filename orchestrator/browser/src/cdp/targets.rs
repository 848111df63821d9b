//! Prepares every page, frame and worker before its first script runs.
//!
//! New targets wait for a debugger. The listener sends all commands that a target needs, in order,
//! and then lets it run. It awaits none of them, so a target is held for one round trip only.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use in_flight::PageClock;
use serde_json::{Value, json};

use crate::Error;
use crate::cdp::connection::{Cdp, SessionId};
use crate::cdp::tracker::{BrowserState, Page, Tracker, Worker};

/// Pages and workers both know this command.
const USER_AGENT_OVERRIDE: &str = "Network.setUserAgentOverride";

/// How long the browser may take to report that a page or worker has gone, after that target
/// refused a command for this reason.
const DETACH_GRACE: Duration = Duration::from_secs(5);

/// A command and its parameters.
pub(crate) type Command = (&'static str, Value);

/// The preparation of an episode's targets.
#[derive(Debug)]
pub(crate) struct TargetSetup {
    /// The browser context of the episode; `None` in attach mode, where the whole browser is the
    /// episode's.
    pub(crate) context: Option<String>,
    /// Targets have the clock and the randomness of a world.
    pub(crate) is_world: bool,
    /// How far clocks are shifted from the machine's, in milliseconds; `None` where virtual time
    /// replaces them.
    pub(crate) clock_shift: Option<f64>,
    /// The same clock, for the gateway.
    pub(crate) page_clock: Option<PageClock>,
    /// The limit of all downloads together, in bytes.
    pub(crate) downloads: u64,
    /// The folder of the downloads.
    pub(crate) download_folder: PathBuf,
    /// The user agent and languages, where they differ from the browser's own.
    pub(crate) user_agent: Option<Value>,
    pub(crate) preparation: Box<dyn Preparation>,
}

/// A further preparation of targets, besides that of all. It hears of them before the tracker does.
pub(crate) trait Preparation: Debug + Send + Sync {
    /// The commands that make a page or frame see the device.
    fn page_overrides(&self) -> Vec<Command>;

    /// The commands that bring scripts into a page or frame. They come last.
    fn page_scripts(&self) -> Vec<Command>;

    /// The script for a worker, the `ordinal`-th with its URL. Its value is an object whose `tick`
    /// moves the worker's time, unless the clock is shifted. `page_clock` is in milliseconds.
    fn worker_script(&self, kind: &str, url: &str, ordinal: usize, page_clock: f64) -> String;

    /// The script for a worklet.
    fn worklet_script(&self, url: &str, page_clock: f64) -> String;

    /// Stops the clock of a new page's process, at `clock` milliseconds. The command is sent, not
    /// awaited.
    fn stop_clock(&self, cdp: &Cdp, session: &SessionId, clock: f64);

    /// The same for a page that another page has opened, if it has a process of its own after all.
    fn stop_clock_if_own(&self, cdp: &Cdp, session: &SessionId, clock: f64);

    /// A page or frame has its session.
    fn on_attached(&self, session: &SessionId, parent: Option<&SessionId>, target: &Value);

    /// The browser has said something. Nothing is locked.
    fn on_event(&self, cdp: &Cdp, session: Option<&SessionId>, method: &str, params: &Value);

    /// Whether it answers paused requests.
    fn holds_requests(&self) -> bool;
}

impl TargetSetup {
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
        self.is_world && !self.is_attach_mode()
    }

    fn includes_context(&self, context: &str) -> bool {
        self.context.as_deref().is_none_or(|own| own == context)
    }
}

/// Adds a browser context to a command's parameters. Without one they mean the browser's own
/// profile.
pub(crate) fn with_browser_context(mut params: Value, context: Option<&str>) -> Value {
    if let Some(context) = context {
        params["browserContextId"] = json!(context);
    }
    params
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
    if matches!(kind, "page" | "iframe") {
        setup.preparation.on_attached(&session, parent, &params["targetInfo"]);
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
                    setup.preparation.stop_clock(cdp, &session, clock);
                } else {
                    // It shares the process and so the clock of the page that opened it. Stopping
                    // that clock now would take away a granted budget.
                    setup.preparation.stop_clock_if_own(cdp, &session, clock);
                }
            }
        }
        "iframe" => {
            let clock = tracker.lock().page_clock;
            prepare_page(tracker, cdp, &session, &setup);
            if setup.is_frozen() {
                setup.preparation.stop_clock(cdp, &session, clock);
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
    for (method, params) in setup.preparation.page_overrides() {
        send(method, params);
    }
    if let Some(user_agent) = &setup.user_agent {
        send(USER_AGENT_OVERRIDE, user_agent.clone());
    }
    // The gateway has to see every request: to replay it each time, and to record it whole instead
    // of as a 304.
    send("Network.setCacheDisabled", json!({ "cacheDisabled": true }));
    for (method, params) in setup.preparation.page_scripts() {
        send(method, params);
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
    if !setup.is_world {
        return;
    }
    let page_clock = tracker.lock().page_clock;
    let script = setup.preparation.worklet_script(stable_url(url), page_clock);
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
    // While it is counted, the step does not end: a page that stays must end the episode.
    tracker.lock().unverified_targets += 1;
    let wait =
        tracker.wait_for(DETACH_GRACE, condition, |state| is_gone(state).then_some(())).await;
    {
        let mut state = tracker.lock();
        state.unverified_targets = state.unverified_targets.saturating_sub(1);
        if !matches!(wait, Err(Error::Deadline { .. })) || is_gone(&state) {
            return;
        }
        if setup.upgrade().is_some_and(|setup| setup.is_world) {
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
    // Nobody asks for bodies over this session, so the browser need not keep any.
    drop(send("Network.enable", json!({ "maxTotalBufferSize": 1, "maxResourceBufferSize": 1 })));
    drop(send("Target.setAutoAttach", auto_attach(true)));
    drop(send("Network.setCacheDisabled", json!({ "cacheDisabled": true })));
    if let Some(user_agent) = &setup.user_agent {
        drop(send(USER_AGENT_OVERRIDE, user_agent.clone()));
    }
    if !setup.is_world {
        return 0;
    }
    let (place, ordinal, page_clock) = {
        let mut state = tracker.lock();
        state.started_count += 1;
        let (place, ordinal) = state.worker_order.attached(text("targetId"), url);
        if setup.is_frozen() {
            let (session, url) = (Arc::clone(session), url.to_owned());
            state.workers.push(Worker { session, place, url, handle: None });
            state.workers.sort_by_key(|worker| worker.place);
        }
        (place, ordinal, state.page_clock)
    };
    let script = setup.preparation.worker_script(kind, stable_url(url), ordinal, page_clock);
    let answer = send("Runtime.evaluate", json!({ "expression": script }));
    if setup.is_attach_mode() {
        return place;
    }
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
