//! The page's virtual clock. It stands still, except during slices that are granted one at a time
//! and awaited.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::cdp::connection::{Cdp, SessionId};
use crate::cdp::tracker::{BrowserState, Page, Tracker, Worker};
use crate::clock::blocked::unless_blocked;
use crate::clock::idle;
use crate::clock::liveness::LivenessWait;
use crate::clock::state::ClockState;
use crate::{Determinism, Error};

/// How far virtual time is ahead of real time at the start, more than any episode lasts.
///
/// A page's virtual clock replaces all clocks of its process. But the process that puts frames on
/// the screen has real time, and tells the page when it has shown a frame. If that is in the page's
/// future, the page waits until then:
///
/// - The compositor's deadlines are in real time. Chromium itself, which draws without a command,
///   would wait for ever, and no frame would reach the screen.
/// - Paint timings, such as the largest contentful paint, reach observers only when the page's
///   clock has passed the time of the frame. Where an episode takes longer than the page's time,
///   that would be at another time in each run.
const HEAD_START: Duration = Duration::from_secs(6 * 60 * 60);
const SET_POLICY: &str = "Emulation.setVirtualTimePolicy";
/// How long the head start may take. It usually takes 30 ms.
const HEAD_START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a slice that only endless requests delay waits for their next byte.
pub(crate) const STREAM_WAIT: Duration = Duration::from_millis(250);
/// How long a step may take. After that a script is taken to wait for a synchronous request.
pub(crate) const SYNC_REQUEST_WAIT: Duration = Duration::from_secs(1);
/// How long a page that may be about to go away has to stop its time.
const NAVIGATION_PAUSE: Duration = Duration::from_millis(100);
/// How long a worker's reply from another process may take while none is at work for it.
const REPLY_WAIT: Duration = Duration::from_millis(500);
/// The same for a WebSocket whose handshake has no answer yet.
const SOCKET_WAIT: Duration = Duration::from_secs(10);
/// How many replies a worker may await at one instant of its time.
const MAX_REPLIES: u64 = 5000;
/// How long a worker usually takes to answer.
const USUAL_ANSWER: Duration = Duration::from_millis(20);
/// How long a worker may take to run its due timers.
const WORKER_TIMEOUT: Duration = Duration::from_secs(10);

/// The step of the time that scripts see, in milliseconds. Every request that a page waits for
/// moves its virtual clock by 10 ms. Overlapping requests move it together, others one after the
/// other, and which of them overlap depends on the machine. Time that is rounded down to this step
/// does not depend on it.
pub(crate) const STEP: u32 = 100;

/// The time that scripts see at a time of the page's virtual clock, both in milliseconds since
/// 1970.
pub(crate) fn script_time(determinism: Determinism, clock: f64) -> f64 {
    let start = start_millis(determinism);
    start + ((clock - start) / f64::from(STEP)).floor() * f64::from(STEP)
}

/// How long an episode has lasted as scripts see it, in milliseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an episode lasts for hours at most"
)]
pub(crate) fn elapsed(determinism: Determinism, clock: f64) -> u64 {
    (script_time(determinism, clock) - start_millis(determinism)).max(0.0) as u64
}

/// The time of the first page's clock before its [`HEAD_START`], in milliseconds since 1970.
pub(crate) fn millis_before_head_start(determinism: Determinism) -> f64 {
    start_millis(determinism) - HEAD_START.as_secs_f64() * 1000.0
}

/// Moves the clock of the first, empty page to the start of the world's time.
pub(crate) async fn run_head_start(
    cdp: &Cdp,
    tracker: &Tracker,
    page: &Page,
    determinism: Determinism,
) -> Result<(), Error> {
    // Before the grant, whose end may come at once.
    let before = tracker.lock().expired_budgets(&page.session);
    set_policy(cdp, &page.session, HEAD_START, "advance", start_millis(determinism)).await?;
    let condition =
        |_: &BrowserState| "the empty page to reach the start of the world's time".to_owned();
    tracker
        .wait_for(HEAD_START_TIMEOUT, condition, |state| {
            (state.expired_budgets(&page.session) > before).then_some(())
        })
        .await?;
    tracker.lock().set_start(start_millis(determinism));
    Ok(())
}

/// The browser's ticks when virtual time began, before the [`HEAD_START`], in milliseconds.
pub(crate) async fn ticks(cdp: &Cdp, page: &Page, determinism: Determinism) -> Result<f64, Error> {
    let reply =
        cdp.call(Some(&page.session), SET_POLICY, paused(start_millis(determinism))).await?;
    let ticks = reply.get("virtualTimeTicksBase").and_then(Value::as_f64);
    ticks.ok_or(Error::Shape { method: SET_POLICY, field: "virtualTimeTicksBase" })
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^53")]
pub(crate) fn start_millis(determinism: Determinism) -> f64 {
    determinism.clock_start.as_millisecond() as f64
}

/// How far the clocks of a world that starts now are from the machine's, in whole milliseconds.
pub(crate) fn clock_shift(determinism: Determinism) -> f64 {
    start_millis(determinism)
        - start_millis(Determinism { clock_start: jiff::Timestamp::now(), ..determinism })
}

/// A stopped clock, which shows `clock` milliseconds to a document that comes into another process.
fn paused(clock: f64) -> Value {
    json!({ "policy": "pause", "initialVirtualTime": clock / 1000.0 })
}

/// Stops the clock of a new page's process, at `clock` milliseconds. The command is sent, not
/// awaited.
pub(crate) fn stop(cdp: &Cdp, session: &SessionId, clock: f64) {
    drop(cdp.send(Some(session), SET_POLICY, paused(clock)));
}

/// Stops the clock of a page that another page has opened, if it has a process of its own after
/// all. Then it shows the real time.
pub(crate) fn stop_if_own(cdp: &Cdp, session: &SessionId, clock: f64) {
    const DAY: f64 = 24.0 * 60.0 * 60.0 * 1000.0;
    let reply = cdp.send(Some(session), "Runtime.evaluate", json!({ "expression": "Date.now()" }));
    let (cdp, session) = (cdp.clone(), SessionId::clone(session));
    tokio::spawn(async move {
        if let Ok(Ok(answer)) = reply.await
            && let Ok(answer) = serde_json::from_str::<Value>(answer.get())
            && let Some(shown) = answer.pointer("/result/value").and_then(Value::as_f64)
            && (shown - clock).abs() > DAY
        {
            stop(&cdp, &session, clock);
        }
    });
}

/// The condition that ends a grant, as text and as a check. Must be created before the grant.
pub(crate) fn budget_wait(
    wait: LivenessWait<'_>,
    slice: Duration,
) -> (impl Fn(&BrowserState) -> String, impl Fn(&BrowserState) -> bool) {
    let session = &wait.page.session;
    let before = wait.tracker.lock().expired_budgets(session);
    let condition = move |state: &BrowserState| match state.traffic.describe() {
        urls if urls.is_empty() => format!("the page to run for {slice:?} of its own time"),
        urls => format!("the page to run for {slice:?} of its own time, while it waits for {urls}"),
    };
    (condition, move |state: &BrowserState| {
        state.expired_budgets(session) > before || !state.is_open(session)
    })
}

/// Holds responses back from the page until dropped.
pub(crate) struct ResponseHold<'a>(&'a Tracker);

impl<'a> ResponseHold<'a> {
    fn begin(tracker: &'a Tracker) -> Self {
        tracker.lock().part_mut::<ClockState>().holds_responses = true;
        Self(tracker)
    }
}

impl Drop for ResponseHold<'_> {
    fn drop(&mut self) {
        self.0.lock().part_mut::<ClockState>().holds_responses = false;
        self.0.notify();
    }
}

/// `end` is what the clock will show at the end of the slice, in milliseconds since 1970. Chromium
/// keeps it for a document that comes into another process, as one that is isolated from other
/// origins does. The clock of that process begins there. A command without it clears it.
async fn set_policy(
    cdp: &Cdp,
    session: &SessionId,
    slice: Duration,
    policy: &str,
    end: f64,
) -> Result<Value, Error> {
    let params = json!({
        "policy": policy,
        "budget": slice.as_secs_f64() * 1000.0,
        "initialVirtualTime": end / 1000.0,
        // Below this number of tasks, Chromium never forces the time forward.
        "maxVirtualTimeTaskStarvationCount": 100_000,
    });
    cdp.call(Some(session), SET_POLICY, params).await
}

/// Sets the policy while responses are held back. A page that waits for a response in a script gets
/// it first; then nothing is held any more.
pub(crate) async fn set_policy_holding_responses<'a>(
    wait: LivenessWait<'a>,
    slice: Duration,
    policy: &str,
) -> Result<Option<ResponseHold<'a>>, Error> {
    let hold = ResponseHold::begin(wait.tracker);
    let end = {
        let state = wait.tracker.lock();
        let end = state.page_clock + slice.as_secs_f64() * 1000.0;
        state.tell_clock(end);
        end
    };
    let set = set_policy(wait.cdp, &wait.page.session, slice, policy, end);
    tokio::pin!(set);
    match unless_blocked(wait.block_watch(), SYNC_REQUEST_WAIT, &mut set).await {
        Some(set) => set.map(|_| Some(hold)),
        None => {
            drop(hold);
            set.await.map(|_| None)
        }
    }
}

/// Stops the page's time. A process that takes over has its clock as last read. A script that waits
/// for a response delays this until the response has come, and so does a page that is being
/// replaced. Then the command is left to itself.
pub(crate) async fn pause(wait: LivenessWait<'_>) {
    let clock = wait.tracker.lock().page_clock;
    let pause = wait.cdp.send(Some(&wait.page.session), SET_POLICY, paused(clock));
    let leaves = wait.tracker.lock().traffic.is_navigating(&wait.page.target);
    let limit = if leaves { NAVIGATION_PAUSE } else { SYNC_REQUEST_WAIT };
    let _ = unless_blocked(wait.block_watch(), limit, pause).await;
}

/// The handling of messages that a worker has for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outbox {
    /// They leave the worker now.
    Sent,
    /// They leave it with those of a later call.
    Kept,
}

/// Moves a worker's clock to the page's time. Returns how many messages have left it.
///
/// The replies that the worker awaits from other processes come first. One that has not come after
/// [`REPLY_WAIT`] never comes, unless a process is still at work. A worker that always awaits
/// another reply gets [`MAX_REPLIES`].
pub(crate) async fn tick_worker(
    cdp: &Cdp,
    tracker: &Tracker,
    worker: &Worker,
    until: f64,
    outbox: Outbox,
) -> Result<u64, Error> {
    let (mut last, mut first_count, mut last_count) = (Instant::now(), None, None);
    let mut gives_up = false;
    loop {
        let Some(tick) = call_tick(cdp, tracker, worker, (until, gives_up, outbox)).await? else {
            return Ok(0);
        };
        let wait = match tick.get("pending").and_then(Value::as_str) {
            None => return Ok(tick.get("messages").and_then(Value::as_u64).unwrap_or(0)),
            Some("socket") if tracker.lock().traffic.has_unanswered_socket() => SOCKET_WAIT,
            Some(_) => REPLY_WAIT,
        };
        let count = tick.get("answered").and_then(Value::as_u64).unwrap_or(0);
        if last_count.replace(count) != Some(count) {
            last = Instant::now();
        }
        gives_up = last.elapsed() > wait && idle::repliers_become_idle(tracker, cdp).await
            || last.elapsed() > WORKER_TIMEOUT
            || count - *first_count.get_or_insert(count) > MAX_REPLIES;
    }
}

/// Calls a worker's `tick` once; `None` if the worker has ended.
async fn call_tick(
    cdp: &Cdp,
    tracker: &Tracker,
    worker: &Worker,
    (until, gives_up, outbox): (f64, bool, Outbox),
) -> Result<Option<Value>, Error> {
    let session = Arc::clone(&worker.session);
    let handle = tracker
        .wait_for(
            WORKER_TIMEOUT,
            |_| format!("the worker {} to be prepared", worker.url),
            |state| match state.workers.iter().find(|candidate| candidate.session == session) {
                Some(found) => found.handle.clone().map(Some),
                None => Some(None),
            },
        )
        .await?;
    let Some(handle) = handle else { return Ok(None) };
    let params = json!({
        "objectId": &*handle,
        "functionDeclaration": "function(...args) { return this.tick(...args); }",
        "arguments": [{ "value": until }, { "value": gives_up }, { "value": outbox == Outbox::Kept }],
        "awaitPromise": true,
        "returnByValue": true,
    });
    let reply = cdp.call_within(Some(&session), "Runtime.callFunctionOn", params, WORKER_TIMEOUT);
    tokio::pin!(reply);
    let answer = timeout(USUAL_ANSWER, &mut reply).await.ok();
    let ended = tracker.wait_for(
        WORKER_TIMEOUT,
        |_| format!("the worker {} to end or to answer", worker.url),
        |state| (!state.workers.iter().any(|candidate| candidate.session == session)).then_some(()),
    );
    let answer = match answer {
        Some(answer) => answer,
        None => tokio::select! {
            biased;
            answer = &mut reply => answer,
            _ = ended => return Ok(None),
            // It has not begun, or waits for another worker. It has no time of its own yet.
            () = idle::wait_for_all_threads(tracker, cdp) => return Ok(None),
        },
    };
    match answer {
        Ok(answer) => Ok(answer.pointer("/result/value").cloned()),
        // It has just ended.
        Err(Error::Refused { .. }) => Ok(None),
        // It is busy for ever. The page must not wait for it.
        Err(Error::Deadline { .. }) => {
            tracing::warn!(url = worker.url, "a worker does not become idle; its time stops");
            tracker.lock().workers.retain(|candidate| candidate.session != session);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
