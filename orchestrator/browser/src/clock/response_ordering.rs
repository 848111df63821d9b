//! Answers of the network reach a page one at a time, in the same order each time.
//!
//! What a page does depends on the order in which it gets what it asked for: which of two scripts comes first, whether a frame finds a style
//! sheet still on its way and waits for that one. So the gateway keeps answers back, and a task of the session lets them go in the order in
//! which the page has asked: once it asks for nothing more, the first of them; then that one is awaited, and what the page asks for because
//! of it.

use std::{sync::Arc, time::Duration};

use gateway::{Activity, Counts, Turns};
use serde_json::json;
use tokio::task::AbortHandle;

use crate::{
    cdp::{
        connection::Cdp,
        tracker::{FOREVER, State, Watch},
        traffic::{Asked, Place},
    },
    clock::idle::{self, ask_browser},
};

/// How long the others wait for the slowest answer; a question that is answered only when something happens holds them no longer.
const SLOW_RESPONSE: Duration = Duration::from_secs(5);
/// How long a page may take to take what it was given, and one that is busy to say that it is there, on a machine with time for it. What does
/// not go to a page (icons, checks before a request) is not seen to arrive; a page that waits for an answer and does nothing meanwhile says
/// nothing. So both are waited for in rounds, between which the browser's own process answers a question, however long that takes it.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
const PROBES: u32 = 5;
/// The same for a request on its way from the page to the gateway: more questions to the browser in the same time, as that is what tells a
/// machine that is busy from one that is not.
const ARRIVAL_INTERVAL: Duration = Duration::from_millis(5);
const ARRIVAL_PROBES: u32 = 20;
/// How many times as long a page may be busy before it is taken for one that waits for an answer
/// and does nothing meanwhile.
const BUSY_PROBES: u32 = 20;
/// How often a page that asks for more is given the time to.
const MAX_FOLLOW_UPS: u32 = 50;

/// The task; it ends when this is dropped, and then nothing is kept back any more.
#[derive(Debug)]
pub(crate) struct ResponseOrdering {
    task: AbortHandle,
}

impl Drop for ResponseOrdering {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Begins to hand the gateway's answers over.
pub(crate) fn start(activity: &Activity, watch: &Arc<Watch>, cdp: &Cdp) -> ResponseOrdering {
    let turns = activity.take_turns();
    let (activity, watch, cdp) = (activity.clone(), Arc::clone(watch), cdp.clone());
    let task = tokio::spawn(async move {
        let mut slow = 0;
        loop {
            slow = release_next(&activity, &turns, &watch, &cdp, slow).await;
        }
    });
    ResponseOrdering { task: task.abort_handle() }
}

/// Lets one answer go. `slow` of the requests have been waited for in vain, and are not waited for again; returns how many there are now.
async fn release_next(
    activity: &Activity,
    turns: &Turns,
    watch: &Watch,
    cdp: &Cdp,
    mut slow: usize,
) -> usize {
    activity.until(FOREVER, |counts| counts.waiting > 0).await;
    for _ in 0..MAX_FOLLOW_UPS {
        slow = wait_for_other_responses(activity, watch, slow).await;
        let begun = (watch.lock().begun, activity.counts().begun);
        round_trip(watch, cdp).await;
        if (watch.lock().begun, activity.counts().begun) == begun {
            break;
        }
    }
    // The second half of a double click takes back what the first has asked for: before there is an
    // answer, or every time after it. But a page that asks in the midst of a click may wait for
    // that.
    let condition = |_: &State| "the mouse and the keyboard to rest".to_owned();
    for _ in 0..PROBES {
        if watch.until(PROBE_INTERVAL, condition, |state| (!state.striking).then_some(())).await.is_ok() {
            break;
        }
        ask_browser(watch, cdp).await;
    }
    wait_for_first(activity, turns, watch, cdp).await;
    let Some(ended) = release(turns, watch).await else { return slow };
    slow = wait_for_other_responses(activity, watch, slow).await;
    let condition = |_: &State| "the page to take an answer".to_owned();
    let taken = |state: &State| (state.traffic.ended > ended).then_some(());
    for _ in 0..PROBES {
        // What comes of it does not matter: a page need not take what it gets.
        if watch.until(PROBE_INTERVAL, condition, taken).await.is_ok() {
            break;
        }
        ask_browser(watch, cdp).await;
    }
    slow
}

/// Waits until the answer to the first of what is asked for is there. Some of it never goes to the
/// gateway: what the page's own workers answer, or what the browser keeps back while it asks for
/// more important things. Others go before that.
async fn wait_for_first(activity: &Activity, turns: &Turns, watch: &Watch, cdp: &Cdp) {
    let is_waiting = |asked: &Asked| turns.waits(|url, method| asked.is(url, method));
    for _ in 0..ARRIVAL_PROBES {
        let is_first_waiting = |_: &Counts| {
            let order = watch.lock().order();
            order.first().is_none_or(|first| first.place >= Place::PutOff || is_waiting(first))
        };
        if activity.until(ARRIVAL_INTERVAL, is_first_waiting).await {
            return;
        }
        ask_browser(watch, cdp).await;
    }
    let state = &mut *watch.lock();
    for asked in state.order().iter().take_while(|asked| asked.place < Place::PutOff && !is_waiting(asked)) {
        state.traffic.put_off(asked);
    }
}

/// Lets the next answer go, as soon as the page's time does not run without waiting for it. Returns
/// how many have arrived so far; none is that none waits.
async fn release(turns: &Turns, watch: &Watch) -> Option<u64> {
    loop {
        let condition = |_: &State| "the page's time to stand still".to_owned();
        // A page that is gone gets nothing.
        let _ = watch.until(FOREVER, condition, |state| (!state.keeps_answers).then_some(())).await;
        let state = watch.lock();
        if !state.keeps_answers {
            let order = state.order();
            let place = |url: &str, method: &str| {
                let asked = order.iter().find(|asked| asked.is(url, method));
                asked.map_or(Place::Unknown, |asked| asked.place)
            };
            return turns.next_by(place).then_some(state.traffic.ended);
        }
    }
}

/// Waits until all requests but the slow ones have answers that wait for their turn, or have been answered; returns how many slow ones there are.
async fn wait_for_other_responses(activity: &Activity, watch: &Watch, slow: usize) -> usize {
    let slow = slow.max(watch.lock().traffic.left_alone());
    let in_time = activity.until(SLOW_RESPONSE, |counts| counts.waiting + slow >= counts.requests).await;
    let counts = activity.counts();
    let unanswered = counts.requests.saturating_sub(counts.waiting);
    if in_time { unanswered.min(slow) } else { unanswered }
}

/// Questions to the page and to the browser, until the page is idle: what the page had to ask for is on its way then.
async fn round_trip(watch: &Watch, cdp: &Cdp) {
    let Ok(page) = watch.lock().active() else { return };
    // A page that is about to give way to another one is not asked: it would answer when that one is there.
    let is_navigating = |state: &State| state.traffic.leaves(&page.target);
    if !is_navigating(&watch.lock()) {
        let mut answer = cdp.send(Some(&page.session), "Runtime.evaluate", json!({ "expression": "0" }));
        let condition = |_: &State| "the page to give way to another one".to_owned();
        for _ in 0..BUSY_PROBES {
            let leaves =
                watch.until(PROBE_INTERVAL * PROBES, condition, |state| is_navigating(state).then_some(()));
            tokio::select! {
                _ = &mut answer => break,
                leaves = leaves => if leaves.is_ok() { break },
            }
            ask_browser(watch, cdp).await;
        }
    }
    idle::wait(watch, cdp).await;
}
