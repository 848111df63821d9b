//! A slice of the page's time, past requests that never end.
//!
//! Chromium stops a page's time while one of its requests is under way, and a slice is stopped
//! there: what is asked for in the course of a slice is answered at the instant at which it was
//! asked for. A stream would stop the time for good. From then on time is moved without regard to
//! requests, in steps of [`STEP`]; answers are kept back in a step and handed over between two of
//! them. So there, too, the machine's speed has no part in what the page sees: an answer comes at
//! the end of the step in which it was asked for.
//!
//! ```text
//! no request  |---------------------------- slice ---------------------------|
//! requests    |------- until one begins |rest|------------|rest|-------------|
//! stream      |------- until it begins |rest| step | step | step |rest| step |
//! ```

use std::time::{Duration, Instant};

use gateway::{Activity, Hold};
use tokio::time::timeout;

use crate::{
    Error, Session,
    cdp::tracker::BrowserState,
    clock::{
        liveness::{LivenessWait, TimeLimit},
        virtual_time::{self, STREAM_WAIT, SYNC_REQUEST_WAIT},
    },
};

/// How late an answer may come beside a stream, in the page's own time.
const STEP: Duration = Duration::from_millis(25);
/// The shortest grant: brings a grant to its end whose time is over.
const MIN_GRANT: Duration = Duration::from_millis(1);

/// How a grant of time came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrantOutcome {
    /// All of it has run.
    Whole,
    /// The page waits for something at the instant at which its time stands now.
    Stopped,
}

/// How often a slice is stopped for what the page asks for, before it is run in steps.
const MAX_STOPS: u32 = 20;

impl Session {
    /// Lets the page's time run on until its clock shows `end`, in milliseconds since 1970.
    pub(crate) async fn run_until(
        &self,
        end: f64,
        activity: &Activity,
        limit: TimeLimit,
    ) -> Result<(), Error> {
        for _ in 0..MAX_STOPS {
            if self.has_streams() {
                break;
            }
            let hold = self.hold_socket_messages(activity, limit).await?;
            let (page, left) = {
                let state = self.tracker.lock();
                (state.active()?, end - state.page_clock)
            };
            let left = Duration::try_from_secs_f64(left / 1000.0).unwrap_or_default().max(MIN_GRANT);
            if self.grant_time(self.liveness_wait(&page, limit), left, activity).await? == GrantOutcome::Whole
            {
                return Ok(());
            }
            drop(hold);
            self.drain(activity, limit).await?;
        }
        self.run_steps(end, activity, limit).await
    }

    /// Lets the page's time run on by `slice`, or until it stands as the page waits for something.
    /// No answer is handed over meanwhile.
    ///
    /// Chromium moves the time by 10 ms when a request is over; requests that overlap share these.
    /// Whether they do is the machine's: so the time is stopped before anything is answered.
    async fn grant_time(
        &self,
        wait: LivenessWait<'_>,
        slice: Duration,
        activity: &Activity,
    ) -> Result<GrantOutcome, Error> {
        let LivenessWait { tracker, page, limit, .. } = wait;
        let (condition, ran_out) = virtual_time::budget_wait(wait, slice);
        let began = Instant::now();
        let mut asked = tracker.lock().request_count;
        let _hold =
            virtual_time::set_policy_holding_responses(wait, slice, "pauseIfNetworkFetchesPending").await?;
        loop {
            let has_stopped = |state: &BrowserState| ran_out(state) || state.request_count != asked;
            if wait.until(STREAM_WAIT, &condition, has_stopped).await? {
                let now = tracker.lock().request_count;
                if ran_out(&tracker.lock()) {
                    return Ok(GrantOutcome::Whole);
                }
                // A page that is about to give way to another one answers when that one is there.
                let navigates = tracker.lock().traffic.is_navigating(&page.target);
                // What ends without the gateway moves the time as well, if it is not stopped yet.
                if !navigates {
                    self.wait_until_idle().await;
                }
                let is_stopped = navigates || self.is_time_stopped(wait).await?;
                if ran_out(&tracker.lock()) {
                    return Ok(GrantOutcome::Whole);
                }
                if is_stopped {
                    break;
                }
                asked = now;
            } else if self.waits_only_for_streams(activity, began) {
                tracing::debug!("a stream holds the page's time; it runs on without it");
                break;
            } else if limit.remaining().is_zero() {
                return Err(Error::Deadline { condition: condition(&tracker.lock()), waited: limit.whole });
            }
        }
        virtual_time::pause(wait).await;
        Ok(GrantOutcome::Stopped)
    }

    /// Whether the page's time stands: then it is the same before and after the page has had the
    /// time to move it. Some of what a page asks for does not stop it, such as an object or a shared
    /// worker. A script that waits for an answer does stop it.
    async fn is_time_stopped(&self, wait: LivenessWait<'_>) -> Result<bool, Error> {
        let LivenessWait { page, limit, .. } = wait;
        let mut seen = Vec::new();
        while seen.len() < 2 {
            let probe = self.evaluate_isolated(page, &page.target, "Date.now()", limit.remaining());
            match timeout(SYNC_REQUEST_WAIT, probe).await {
                Err(_) | Ok(Err(Error::Refused { .. })) => return Ok(true),
                Ok(now) => seen.push(now?),
            }
        }
        Ok(seen[0] == seen[1])
    }

    /// Does so until the page's clock shows `end`, in milliseconds since 1970.
    async fn run_steps(&self, end: f64, activity: &Activity, limit: TimeLimit) -> Result<(), Error> {
        loop {
            let left = end - self.tracker.lock().page_clock;
            let step = Duration::try_from_secs_f64(left / 1000.0).unwrap_or_default().clamp(MIN_GRANT, STEP);
            let before = self.begun(activity);
            {
                let _hold = self.hold_socket_messages(activity, limit).await?;
                let page = self.tracker.lock().active()?;
                virtual_time::step(self.liveness_wait(&page, limit), step).await?;
            }
            let step = step.as_secs_f64() * 1000.0;
            if step >= left {
                return Ok(());
            }
            if self.begun(activity) == before {
                self.tracker.lock().page_clock += step;
            } else {
                self.drain(activity, limit).await?;
            }
        }
    }

    /// Keeps messages of WebSockets from the page, when it has all that were sent to it.
    async fn hold_socket_messages(&self, activity: &Activity, limit: TimeLimit) -> Result<Hold, Error> {
        loop {
            let hold = activity.hold_frames();
            if self.has_all_socket_messages(activity) {
                return Ok(hold);
            }
            // One slipped through between the look and the hold.
            drop(hold);
            self.drain(activity, limit).await?;
        }
    }

    fn begun(&self, activity: &Activity) -> (u64, u64) {
        (self.tracker.lock().started_count, activity.counts().begun)
    }

    fn has_streams(&self) -> bool {
        self.tracker.lock().traffic.streams() > 0
    }

    /// Whether a page waits for streams, and for nothing that has an end; it has waited for them
    /// since then.
    fn waits_only_for_streams(&self, activity: &Activity, since: Instant) -> bool {
        self.detect_streams(since);
        if !self.is_gateway_idle(&activity.counts()) {
            return false;
        }
        let state = &mut *self.tracker.lock();
        let unread = state.traffic.turn_abandoned_into_streams();
        unread
            || state.traffic.only_streams(|session| state.pages.iter().any(|page| page.session == *session))
    }
}
