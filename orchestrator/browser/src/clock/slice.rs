//! A slice of the page's time, with and without requests that never end.
//!
//! Chromium stops a page's time while one of its requests is pending, and a slice stops there, too.
//! So a request during a slice is answered at the instant of the request. A stream would stop the
//! time for good. From then on time moves without regard to requests, in steps of [`STEP`].
//! Responses are held during a step and released between two steps. So the speed of the machine
//! does not matter there either: a response comes at the end of the step of its request. A page
//! that awaits what it has asked for, as a page with media does, lets no time pass; there the step
//! ends at the instant of the request.
//!
//! ```text
//! no request  |---------------------------- slice -----------------------------|
//! requests    |------ until one begins |drain|------------|drain|--------------|
//! stream      |------ until it begins |drain| step | step | step |drain| step |
//! ```

use std::time::{Duration, Instant};

use in_flight::{FrameHold, InFlight};

use crate::cdp::tracker::BrowserState;
use crate::clock::blocked::unless_blocked;
use crate::clock::liveness::{LivenessWait, TimeLimit};
use crate::clock::state::ClockState;
use crate::clock::virtual_time::{self, STREAM_WAIT, SYNC_REQUEST_WAIT};
use crate::{Error, Session};

/// The latest that a response may come beside a stream, in the page's own time.
const STEP: Duration = Duration::from_millis(25);
/// The shortest grant: it brings an expired budget to its end.
const MIN_GRANT: Duration = Duration::from_millis(1);

/// The end of a grant of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrantOutcome {
    /// All of it has run.
    Whole,
    /// The page waits for something, and its time stands still.
    Stopped,
}

/// How many times a slice stops for requests before it runs in steps.
const MAX_STOPS: u32 = 20;
/// How long a step with a request may take before its page is asked whether its time moves.
const STILL_WAIT: Duration = Duration::from_millis(20);
/// How many times in a row it has to say no.
const STILL_PROBES: u32 = 3;

impl Session {
    /// Lets the page's time run until its clock shows `end`, in milliseconds since 1970.
    pub(crate) async fn run_until(
        &self,
        end: f64,
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<(), Error> {
        for _ in 0..MAX_STOPS {
            // Time would stop for good at a stream, and that of a stuck document does not run by
            // itself: both get it in steps.
            if self.has_streams() || self.has_stuck_document() {
                break;
            }
            let hold = self.hold_socket_messages(in_flight, limit).await?;
            let (page, left) = {
                let state = self.tracker.lock();
                (state.active()?, end - state.page_clock)
            };
            let left =
                Duration::try_from_secs_f64(left / 1000.0).unwrap_or_default().max(MIN_GRANT);
            if self.grant_time(self.liveness_wait(&page, limit), left, in_flight).await?
                == GrantOutcome::Whole
            {
                return Ok(());
            }
            drop(hold);
            self.drain(in_flight, limit).await?;
        }
        self.run_steps(end, in_flight, limit).await
    }

    /// Lets the page's time run by `slice`, or until it stops because the page waits for something.
    /// No response is released meanwhile.
    ///
    /// Chromium moves the time by 10 ms when a request is over, and overlapping requests share
    /// these. Whether they overlap depends on the machine. So the time is stopped before any
    /// response is released.
    async fn grant_time(
        &self,
        wait: LivenessWait<'_>,
        slice: Duration,
        in_flight: &InFlight,
    ) -> Result<GrantOutcome, Error> {
        let LivenessWait { tracker, page, limit, .. } = wait;
        let (condition, ran_out) = virtual_time::budget_wait(wait, slice);
        let mut checks = 0;
        // A page that registers a service worker is busy until its script has come.
        let counts = |state: &BrowserState| {
            (state.request_count, state.traffic.service_workers.script_count())
        };
        let mut before = counts(&tracker.lock());
        let _hold =
            virtual_time::set_policy_holding_responses(wait, slice, "pauseIfNetworkFetchesPending")
                .await?;
        loop {
            let has_stopped = |state: &BrowserState| ran_out(state) || counts(state) != before;
            if wait.until(STREAM_WAIT, &condition, has_stopped).await? {
                let now = counts(&tracker.lock());
                if ran_out(&tracker.lock()) {
                    return Ok(GrantOutcome::Whole);
                }
                // A page that is being replaced answers only after the replacement.
                let navigates = tracker.lock().traffic.is_navigating(&page.target);
                // Requests that end without the gateway move the time, too, unless it is stopped.
                if !navigates && now.0 != before.0 {
                    self.wait_until_idle().await;
                }
                let is_stopped = navigates || self.is_time_stopped(wait).await? != Some(false);
                if ran_out(&tracker.lock()) {
                    return Ok(GrantOutcome::Whole);
                }
                if is_stopped {
                    break;
                }
                before = now;
                continue;
            }
            checks += 1;
            if self.waits_only_for_streams(in_flight, checks) {
                tracing::debug!("a stream stops the page's time; the time runs on without it");
                break;
            }
            if self.is_stuck(wait, in_flight).await? {
                tracing::debug!(
                    "nothing is on its way, and the page's time stands still; it runs on in steps"
                );
                let state = &mut *self.tracker.lock();
                let documents = state.document_count;
                state.part_mut::<ClockState>().stuck_document = Some(documents);
                break;
            }
            if limit.remaining().is_zero() {
                return Err(Error::Deadline {
                    condition: condition(&tracker.lock()),
                    waited: limit.whole,
                });
            }
        }
        virtual_time::pause(wait).await;
        Ok(GrantOutcome::Stopped)
    }

    /// Whether the page's time stands still: it is the same before and after the page could have
    /// moved it. Some requests do not stop it, such as those for an object or a shared worker. A
    /// page that does not answer, as one whose script waits for a response, gives `None`.
    async fn is_time_stopped(&self, wait: LivenessWait<'_>) -> Result<Option<bool>, Error> {
        let LivenessWait { page, limit, .. } = wait;
        let mut times = Vec::new();
        while times.len() < 2 {
            let probe = self.evaluate_isolated(page, &page.target, "Date.now()", limit.remaining());
            let probe = std::pin::pin!(probe);
            match unless_blocked(wait.block_watch(), SYNC_REQUEST_WAIT, probe).await {
                None | Some(Err(Error::Refused { .. })) => return Ok(None),
                Some(now) => times.push(now?),
            }
        }
        if let Some(now) = times[1].as_f64() {
            self.tracker.lock().set_clock(now)?;
        }
        Ok(Some(times[0] == times[1]))
    }

    /// Lets the page's time run in steps until its clock shows `end`, in milliseconds since 1970.
    async fn run_steps(
        &self,
        end: f64,
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<(), Error> {
        loop {
            let left = end - self.tracker.lock().page_clock;
            let step = Duration::try_from_secs_f64(left / 1000.0)
                .unwrap_or_default()
                .clamp(MIN_GRANT, STEP);
            let before = self.started_counts(in_flight);
            let outcome;
            {
                // Dropped before `drain`, which waits for these messages.
                let _hold = self.hold_socket_messages(in_flight, limit).await?;
                let page = self.tracker.lock().active()?;
                outcome = self.step(self.liveness_wait(&page, limit), step).await?;
            }
            if outcome == GrantOutcome::Stopped {
                self.drain(in_flight, limit).await?;
                continue;
            }
            let step = step.as_secs_f64() * 1000.0;
            if step >= left {
                return Ok(());
            }
            // Nothing began, so only time has passed and there is nothing to wait for.
            if self.started_counts(in_flight) == before {
                self.tracker.lock().page_clock += step;
            } else {
                self.drain(in_flight, limit).await?;
            }
        }
    }

    /// Lets the page's time run by `step`, regardless of requests, and receives all events of the
    /// page. No response is released meanwhile, unless a script waits for one.
    async fn step(&self, wait: LivenessWait<'_>, step: Duration) -> Result<GrantOutcome, Error> {
        let LivenessWait { tracker, limit, .. } = wait;
        let (condition, ran_out) = virtual_time::budget_wait(wait, step);
        let requests = tracker.lock().request_count;
        let hold = virtual_time::set_policy_holding_responses(wait, step, "advance").await?;
        let (started, mut still) = (Instant::now(), 0);
        while started.elapsed() < SYNC_REQUEST_WAIT {
            let ends = |state: &BrowserState| ran_out(state).then_some(());
            match tracker.wait_for(STILL_WAIT, &condition, ends).await {
                Ok(()) => {
                    wait.ping_page().await?;
                    return Ok(GrantOutcome::Whole);
                }
                Err(Error::Deadline { .. }) => {}
                Err(error) => return Err(error),
            }
            if tracker.lock().request_count == requests {
                continue;
            }
            // A script that waits for a response gives no answer, and gets its response below.
            let Some(is_stopped) = self.is_time_stopped(wait).await? else { break };
            // A page whose tasks follow each other stands still for a while, too.
            still = if is_stopped { still + 1 } else { 0 };
            if still == STILL_PROBES && !ran_out(&tracker.lock()) {
                virtual_time::pause(wait).await;
                return Ok(GrantOutcome::Stopped);
            }
        }
        drop(hold);
        while !wait.until(STREAM_WAIT, &condition, &ran_out).await? {
            if limit.remaining().is_zero() {
                return Err(Error::Deadline {
                    condition: condition(&tracker.lock()),
                    waited: limit.whole,
                });
            }
        }
        Ok(GrantOutcome::Whole)
    }

    /// Holds WebSocket messages back, once the page has received all earlier ones.
    async fn hold_socket_messages(
        &self,
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<FrameHold, Error> {
        loop {
            let hold = in_flight.hold_frames();
            if self.has_all_socket_messages(in_flight) {
                return Ok(hold);
            }
            // A message was sent between the check and the hold.
            drop(hold);
            self.drain(in_flight, limit).await?;
        }
    }

    pub(super) fn started_counts(&self, in_flight: &InFlight) -> (u64, u64) {
        (self.tracker.lock().started_count, in_flight.counts().started)
    }

    /// Whether the page's time stands still though nothing is on its way to the page. Chromium
    /// sometimes forgets that a request is over, as with one of a document that has just gone.
    async fn is_stuck(&self, wait: LivenessWait<'_>, in_flight: &InFlight) -> Result<bool, Error> {
        let is_quiet = || {
            let traffic = &self.tracker.lock().traffic;
            traffic.pending() == 0 && traffic.navigation_count() == 0
        };
        if !is_quiet() || !self.is_gateway_idle(&in_flight.counts()) {
            return Ok(false);
        }
        let is_stopped =
            self.wait_until_idle().await && self.is_time_stopped(wait).await? == Some(true);
        Ok(is_stopped && is_quiet() && self.is_gateway_idle(&in_flight.counts()))
    }

    fn has_stuck_document(&self) -> bool {
        let state = self.tracker.lock();
        state.part::<ClockState>().stuck_document == Some(state.document_count)
    }

    fn has_streams(&self) -> bool {
        self.tracker.lock().traffic.streams() > 0
    }

    /// Whether the page waits only for streams. This is the `checks`-th call during one wait.
    fn waits_only_for_streams(&self, in_flight: &InFlight, checks: u32) -> bool {
        self.detect_streams(checks);
        if !self.is_gateway_idle(&in_flight.counts()) {
            return false;
        }
        let state = &mut *self.tracker.lock();
        let unread = state.traffic.turn_abandoned_into_streams();
        unread
            || state
                .traffic
                .only_streams(|session| state.pages.iter().any(|page| page.session == *session))
    }
}
