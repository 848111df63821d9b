//! Responses reach a page one at a time, in the same order in each run.
//!
//! The behaviour of a page depends on the order of its responses: which of two scripts comes first,
//! or whether a frame finds a style sheet pending and waits for it. So the gateway holds responses
//! back, and a task of the session releases them in the order of the page's requests. When the page
//! requests nothing more, the first response is released. Then the task waits until the page has
//! read it, and for the requests that follow from it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use in_flight::{InFlight, InFlightCounts, ResponseQueue};
use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::Error;
use crate::cdp::connection::Cdp;
use crate::cdp::tracker::{BrowserState, FOREVER, Tracker};
use crate::cdp::traffic::{PendingRequest, Priority};
use crate::clock::blocked::BlockWatch;
use crate::clock::idle::{self, ping_browser};
use crate::clock::state::ClockState;

/// How long the others wait for the slowest response. A request that is answered only when
/// something happens delays them no longer.
pub(crate) const SLOW_RESPONSE: Duration = Duration::from_secs(5);
/// How often to probe a page that has to read a response.
///
/// Some responses do not go to a page (icons, preflights), so no event shows their arrival. So the
/// wait has rounds, and between them the browser process answers a ping, however long that takes.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
const PROBES: u32 = 5;
/// The same for a request on its way from the page to the gateway. It has more pings in the same
/// time, because pings distinguish a busy machine from an idle one. A probe counts only if nothing
/// is on its way: the network process is idle, no tunnel is opening, and the gateway looks for no
/// response.
const ARRIVAL_INTERVAL: Duration = Duration::from_millis(5);
const ARRIVAL_PROBES: u32 = 20;
/// How many probes of reading a busy page gets.
const BUSY_PROBES: u32 = 20;
/// How long an input may take before responses are released regardless.
const SLOW_INPUT: Duration = Duration::from_secs(20);
/// How long a page may be at work before it counts as waiting for a response in a script.
const BUSY_PAGE: Duration = Duration::from_secs(2);
/// How long the others wait while media are decoded.
const MEDIA_WAIT: Duration = Duration::from_secs(2);
/// How many times a page gets time for more requests.
const MAX_FOLLOW_UPS: u32 = 50;

/// The task. Dropping this ends it, and then responses are no longer held back.
#[derive(Debug)]
pub(crate) struct ResponseOrdering {
    task: AbortHandle,
}

impl Drop for ResponseOrdering {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts to release the gateway's responses in order.
pub(crate) fn start(in_flight: &InFlight, tracker: &Arc<Tracker>, cdp: &Cdp) -> ResponseOrdering {
    let queue = in_flight.queue_responses();
    let (in_flight, tracker, cdp) = (in_flight.clone(), Arc::clone(tracker), cdp.clone());
    let task = tokio::spawn(async move {
        let mut slow = 0;
        loop {
            slow = release_next(&in_flight, &queue, &tracker, &cdp, slow).await;
        }
    });
    ResponseOrdering { task: task.abort_handle() }
}

/// Releases one response. `slow` requests have been waited for without success, and are not waited
/// for again. Returns their new number.
async fn release_next(
    in_flight: &InFlight,
    queue: &ResponseQueue,
    tracker: &Tracker,
    cdp: &Cdp,
    mut slow: usize,
) -> usize {
    in_flight.wait_until(FOREVER, |counts| counts.queued > 0).await;
    for _ in 0..MAX_FOLLOW_UPS {
        slow = wait_for_other_responses(in_flight, tracker, slow).await;
        let before = (tracker.lock().started_count, in_flight.counts().started);
        round_trip(tracker, cdp).await;
        if (tracker.lock().started_count, in_flight.counts().started) == before {
            break;
        }
    }
    wait_for_first(in_flight, queue, tracker, cdp, slow).await;
    let Some(released) = release(queue, tracker, cdp).await else { return slow };
    let Released { ended, is_media, .. } = released;
    slow = wait_for_other_responses(in_flight, tracker, slow).await;
    let condition = |_: &BrowserState| "the page to read a response".to_owned();
    let has_ended = |state: &BrowserState| (state.traffic.ended_count > ended).then_some(());
    let (start, mut probes, mut busy) = (Instant::now(), 0, 0);
    while probes < PROBES && start.elapsed() < SLOW_RESPONSE {
        // The result does not matter: a page need not read its responses.
        if tracker.wait_for(PROBE_INTERVAL, condition, has_ended).await.is_ok() {
            break;
        }
        ping_browser(tracker, cdp).await;
        // A worker that gets no time of the processor has not read it yet.
        if busy < BUSY_PROBES && !idle::are_renderers_idle(tracker, cdp).await {
            busy += 1;
        } else if idle::is_network_idle(tracker, cdp).await {
            probes += 1;
        }
    }
    if is_media {
        // Otherwise the events of two media elements come in any order.
        let _ = timeout(MEDIA_WAIT, idle::wait_for_all_threads(tracker, cdp)).await;
    }
    drop(released);
    slow
}

/// Waits for the response to the first request in the order. Some requests never reach the gateway:
/// the page's own workers answer them, or the browser delays them for more important ones. They are
/// deferred, so that others go first.
async fn wait_for_first(
    in_flight: &InFlight,
    queue: &ResponseQueue,
    tracker: &Tracker,
    cdp: &Cdp,
    slow: usize,
) {
    let is_waiting =
        |pending: &PendingRequest| queue.contains(|url, method| pending.is(url, method));
    let (start, mut probes) = (Instant::now(), 0);
    while probes < ARRIVAL_PROBES && start.elapsed() < SLOW_RESPONSE {
        let is_first_waiting = |_: &InFlightCounts| {
            let order = tracker.lock().response_order();
            order
                .first()
                .is_none_or(|first| first.priority >= Priority::Deferred || is_waiting(first))
        };
        if in_flight.wait_until(ARRIVAL_INTERVAL, is_first_waiting).await {
            return;
        }
        ping_browser(tracker, cdp).await;
        let counts = in_flight.counts();
        // While the gateway answers something, or a connection opens, the request may still arrive.
        let is_answering = counts.queued + slow < counts.requests;
        if !is_answering && counts.opening_tunnels == 0 && idle::is_network_idle(tracker, cdp).await
        {
            probes += 1;
        }
    }
    let state = &mut *tracker.lock();
    for pending in state
        .response_order()
        .iter()
        .take_while(|pending| pending.priority < Priority::Deferred && !is_waiting(pending))
    {
        state.traffic.defer(pending);
    }
}

/// A response on its way to its page. No input begins until this is dropped.
struct Released<'a> {
    /// How many responses had ended when it was released.
    ended: u64,
    /// It is for a media element.
    is_media: bool,
    tracker: &'a Tracker,
}

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.tracker.lock().part_mut::<ClockState>().is_releasing = false;
        self.tracker.notify();
    }
}

/// Releases the next response, once the page's time does not run and no input is under way. `None`
/// if none was waiting.
async fn release<'a>(
    queue: &ResponseQueue,
    tracker: &'a Tracker,
    cdp: &Cdp,
) -> Option<Released<'a>> {
    let mut may_interrupt = false;
    loop {
        let condition = |_: &BrowserState| "the page's time to stand still".to_owned();
        // Whatever waited for a response before the time ran, another input may have begun since.
        may_interrupt &= !tracker.lock().part::<ClockState>().holds_responses;
        // A page that has gone gets nothing.
        let stands = tracker
            .wait_for(FOREVER, condition, |state| {
                (!state.part::<ClockState>().holds_responses).then_some(())
            })
            .await;
        if stands.is_err() {
            tokio::task::yield_now().await;
        }
        {
            let mut state = tracker.lock();
            let clock = state.part::<ClockState>();
            if !clock.holds_responses && (may_interrupt || !clock.input_in_flight) {
                let order = state.response_order();
                let place = |url: &str, method: &str| {
                    let pending = order.iter().find(|pending| pending.is(url, method));
                    pending.map_or((Priority::Unknown, false), |pending| {
                        (pending.priority, pending.is_media)
                    })
                };
                let (_, is_media) = queue.release_next_by(place)?;
                state.part_mut::<ClockState>().is_releasing = true;
                return Some(Released { ended: state.traffic.ended_count, is_media, tracker });
            }
        }
        may_interrupt = needs_response_for_input(tracker, cdp).await;
    }
}

/// Waits until no input is under way. True if a page handles an input and waits for a response
/// meanwhile, or is not done within [`SLOW_INPUT`].
///
/// Otherwise no response may come before the input is over: the second click of a double click
/// cancels the requests of the first, and what is pressed must still be where the mouse was moved.
async fn needs_response_for_input(tracker: &Tracker, cdp: &Cdp) -> bool {
    let condition = |_: &BrowserState| "the input events to be handled".to_owned();
    let is_over =
        |state: &BrowserState| (!state.part::<ClockState>().input_in_flight).then_some(());
    let page = tracker.lock().active().ok();
    let mut watch = page.map(|page| BlockWatch::new(tracker, cdp, &page.session));
    let start = Instant::now();
    while start.elapsed() < SLOW_INPUT {
        match tracker.wait_for(PROBE_INTERVAL, condition, is_over).await {
            Ok(()) => return false,
            Err(Error::Deadline { .. }) => {}
            Err(_) => break,
        }
        if let Some(watch) = &mut watch
            && watch.is_blocked().await
        {
            break;
        }
    }
    true
}

/// Waits until all requests have a response or one that waits for its release, apart from slow
/// ones. Returns the number of slow ones.
async fn wait_for_other_responses(in_flight: &InFlight, tracker: &Tracker, slow: usize) -> usize {
    let slow = || slow.max(tracker.lock().traffic.ignored_count());
    let in_time = in_flight
        .wait_until(SLOW_RESPONSE, |counts| counts.queued + slow() >= counts.requests)
        .await;
    let slow = slow();
    let counts = in_flight.counts();
    let unanswered = counts.requests.saturating_sub(counts.queued);
    if in_time { unanswered.min(slow) } else { unanswered }
}

/// Pings the page and the browser until the page is idle. By then the page has sent its requests.
async fn round_trip(tracker: &Tracker, cdp: &Cdp) {
    let Ok(page) = tracker.lock().active() else { return };
    // A page that is being replaced is not pinged: it would answer only after the replacement.
    let is_navigating = |state: &BrowserState| state.traffic.is_navigating(&page.target);
    if !is_navigating(&tracker.lock()) {
        let mut answer =
            cdp.send(Some(&page.session), "Runtime.evaluate", json!({ "expression": "0" }));
        let condition = |_: &BrowserState| "the page to be replaced".to_owned();
        let (start, mut watch) = (Instant::now(), BlockWatch::new(tracker, cdp, &page.session));
        while start.elapsed() < BUSY_PAGE {
            let leaves = tracker
                .wait_for(PROBE_INTERVAL, condition, |state| is_navigating(state).then_some(()));
            tokio::select! {
                _ = &mut answer => break,
                leaves = leaves => if leaves.is_ok() { break },
            }
            if watch.is_blocked().await {
                break;
            }
        }
    }
    idle::wait_until_answered(tracker, cdp).await;
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cdp::connection::Connection;
    use crate::cdp::pipe::Pipe;

    /// However late we are with the next event.
    #[tokio::test]
    async fn no_response_comes_while_input_is_under_way_and_no_page_owes_a_reply() {
        // A browser that says nothing.
        let (_read, commands) = std::io::pipe().unwrap();
        let (replies, _written) = std::io::pipe().unwrap();
        let pipe = Pipe::new(commands.into(), replies.into()).unwrap();
        let connection = Connection::open(pipe, |_, _| ());
        let (in_flight, tracker) =
            (InFlight::default(), Tracker::new(vec![Box::<ClockState>::default()]));
        let queue = in_flight.queue_responses();
        tracker.lock().part_mut::<ClockState>().input_in_flight = true;
        let mut releasing = Box::pin(release(&queue, &tracker, &connection.cdp));
        // Longer than a round of probes takes.
        let early = timeout(PROBE_INTERVAL * PROBES * 10, &mut releasing).await;
        assert!(early.is_err());
        tracker.lock().part_mut::<ClockState>().input_in_flight = false;
        tracker.notify();
        assert!(timeout(SLOW_RESPONSE, releasing).await.unwrap().is_none(), "none was waiting");
    }
}
