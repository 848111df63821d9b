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
    cdp::tracker::State,
    clock::{
        liveness::{LivenessWait, TimeLimit},
        virtual_time::{self, STREAM_WAIT, SYNCHRONOUS},
    },
};

/// How late an answer may come beside a stream, in the page's own time.
const STEP: Duration = Duration::from_millis(25);
/// The shortest grant: brings a grant to its end whose time is over.
const LEAST: Duration = Duration::from_millis(1);

/// How a grant of time came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Granted {
    /// All of it has run.
    Whole,
    /// The page waits for something at the instant at which its time stands now.
    Stopped,
}

/// How often a slice is stopped for what the page asks for, before it is run in steps.
const STOPS: u32 = 20;

impl Session {
    /// Lets the page's time run on until its clock shows `end`, in milliseconds since 1970.
    pub(crate) async fn run_until(
        &self,
        end: f64,
        activity: &Activity,
        limit: TimeLimit,
    ) -> Result<(), Error> {
        for _ in 0..STOPS {
            if self.has_streams() {
                break;
            }
            let hold = self.hold_frames(activity, limit).await?;
            let (page, left) = {
                let state = self.watch.lock();
                (state.active()?, end - state.clock)
            };
            let left = Duration::try_from_secs_f64(left / 1000.0).unwrap_or_default().max(LEAST);
            if self.grant(self.liveness_wait(&page, limit), left, activity).await? == Granted::Whole {
                return Ok(());
            }
            drop(hold);
            self.rest(activity, limit).await?;
        }
        self.run_steps(end, activity, limit).await
    }

    /// Lets the page's time run on by `slice`, or until it stands as the page waits for something.
    /// No answer is handed over meanwhile.
    ///
    /// Chromium moves the time by 10 ms when a request is over; requests that overlap share these.
    /// Whether they do is the machine's: so the time is stopped before anything is answered.
    async fn grant(
        &self,
        wait: LivenessWait<'_>,
        slice: Duration,
        activity: &Activity,
    ) -> Result<Granted, Error> {
        let LivenessWait { watch, page, limit, .. } = wait;
        let (condition, ran_out) = virtual_time::running(wait, slice);
        let began = Instant::now();
        let mut asked = watch.lock().asked;
        let _held = virtual_time::set_policy_holding(wait, slice, "pauseIfNetworkFetchesPending").await?;
        loop {
            let stops = |state: &State| ran_out(state) || state.asked != asked;
            if wait.until(STREAM_WAIT, &condition, stops).await? {
                let now = watch.lock().asked;
                if ran_out(&watch.lock()) {
                    return Ok(Granted::Whole);
                }
                // A page that is about to give way to another one answers when that one is there.
                let leaves = watch.lock().traffic.leaves(&page.target);
                // What ends without the gateway moves the time as well, if it is not stopped yet.
                if !leaves {
                    self.wait_until_idle().await;
                }
                let stands = leaves || self.time_stands(wait).await?;
                if ran_out(&watch.lock()) {
                    return Ok(Granted::Whole);
                }
                if stands {
                    break;
                }
                asked = now;
            } else if self.waits_for_streams_only(activity, began) {
                tracing::debug!("a stream holds the page's time; it runs on without it");
                break;
            } else if limit.remaining().is_zero() {
                return Err(Error::Deadline { condition: condition(&watch.lock()), waited: limit.whole });
            }
        }
        virtual_time::pause(wait).await;
        Ok(Granted::Stopped)
    }

    /// Whether the page's time stands: then it is the same before and after the page has had the
    /// time to move it. Some of what a page asks for does not stop it, such as an object or a shared
    /// worker. A script that waits for an answer does stop it.
    async fn time_stands(&self, wait: LivenessWait<'_>) -> Result<bool, Error> {
        let LivenessWait { page, limit, .. } = wait;
        let mut seen = Vec::new();
        while seen.len() < 2 {
            let look = self.evaluate_apart(page, &page.target, "Date.now()", limit.remaining());
            match timeout(SYNCHRONOUS, look).await {
                Err(_) | Ok(Err(Error::Refused { .. })) => return Ok(true),
                Ok(now) => seen.push(now?),
            }
        }
        Ok(seen[0] == seen[1])
    }

    /// Does so until the page's clock shows `end`, in milliseconds since 1970.
    async fn run_steps(&self, end: f64, activity: &Activity, limit: TimeLimit) -> Result<(), Error> {
        loop {
            let left = end - self.watch.lock().clock;
            let step = Duration::try_from_secs_f64(left / 1000.0).unwrap_or_default().clamp(LEAST, STEP);
            let before = self.begun(activity);
            {
                let _hold = self.hold_frames(activity, limit).await?;
                let page = self.watch.lock().active()?;
                virtual_time::step(self.liveness_wait(&page, limit), step).await?;
            }
            let step = step.as_secs_f64() * 1000.0;
            if step >= left {
                return Ok(());
            }
            if self.begun(activity) == before {
                self.watch.lock().clock += step;
            } else {
                self.rest(activity, limit).await?;
            }
        }
    }

    /// Keeps messages of WebSockets from the page, when it has all that were sent to it.
    async fn hold_frames(&self, activity: &Activity, limit: TimeLimit) -> Result<Hold, Error> {
        loop {
            let hold = activity.hold_frames();
            if self.has_all_frames(activity) {
                return Ok(hold);
            }
            // One slipped through between the look and the hold.
            drop(hold);
            self.rest(activity, limit).await?;
        }
    }

    fn begun(&self, activity: &Activity) -> (u64, u64) {
        (self.watch.lock().begun, activity.counts().begun)
    }

    fn has_streams(&self) -> bool {
        self.watch.lock().traffic.streams() > 0
    }

    /// Whether a page waits for streams, and for nothing that has an end; it has waited for them
    /// since then.
    fn waits_for_streams_only(&self, activity: &Activity, since: Instant) -> bool {
        self.look_for_streams(since);
        if !self.has_no_more_to_say(&activity.counts()) {
            return false;
        }
        let state = &mut *self.watch.lock();
        let unread = state.traffic.unread_are_streams();
        unread
            || state.traffic.only_streams(|session| state.pages.iter().any(|page| page.session == *session))
    }
}
