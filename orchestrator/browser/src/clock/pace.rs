//! How much time a page gets in a step, and in which slices.
//!
//! A page is looked at as soon as nothing but timers is left in it, but not before
//! [`Pace::least`]. While it still changes it gets more, up to [`Pace::most`]:
//!
//! - its content changes, or a worker speaks;
//! - an animation or a transition is under way that has an end.
//!
//! A slice ends early where something is due beside the page: what an animation does next, and, as
//! long as there are workers, each step of the time that scripts see ([`STEP`]).
//! Then frames are drawn and workers run at their time, before the page's later timers.

use std::time::Duration;

use in_flight::InFlight;
use serde_json::Value;

use crate::cdp::connection::CALL_TIMEOUT;
use crate::cdp::tracker::{BrowserState, Page};
use crate::clock::liveness::TimeLimit;
use crate::clock::state::ClockState;
use crate::clock::virtual_time::{self, Outbox, STEP, script_time};
use crate::{Determinism, Error, Pace, Session};

const CHANGES: &str = include_str!("changes.js");
/// Short slices first, while pages start one thing after another; longer ones for late timers. In
/// milliseconds.
const SLICES: [f64; 9] = [10.0, 40.0, 50.0, 100.0, 300.0, 500.0, 1000.0, 1000.0, 2000.0];
/// How many times a new document starts the slices again.
const MAX_RESTARTS: u32 = 3;
/// How far the page's clock, which shows whole milliseconds, may be behind.
const CLOCK_TOLERANCE_MS: f64 = 2.0;
/// How many times a slice runs at most, where the end of an earlier one has ended it too early.
const MAX_EARLY_ENDS: u32 = 3;
/// How much earlier than the page a worker begins a step of the time that scripts see, in
/// milliseconds.
const LEAD: f64 = 3.0;
/// While a worker and its page exchange messages, time runs by the smallest step for every message.
/// In milliseconds.
const MESSAGE_STEP: f64 = 1.0;
const MAX_MESSAGE_STEPS: u32 = 200;
/// How many slices of a step end early for animations.
const MAX_ANIMATION_STOPS: u32 = 50;
/// How many times a page's requests may move its clock past the end of a step.
const MAX_EXTENSIONS: u32 = 5;

/// How far a page has come in its [`SLICES`].
#[derive(Debug)]
pub(super) struct SliceProgress {
    restarts: u32,
    message_steps: u32,
    animation_stops: u32,
    extensions: u32,
    /// The next slice.
    next: usize,
    /// The sum of the slices so far, in milliseconds.
    passed: f64,
    /// The document count at the last start.
    documents: u64,
    /// The times that the page's clock is to show at the end of the slice, and at the end of its
    /// part that runs now. In milliseconds since 1970.
    slice_end: f64,
    end: f64,
    /// Whether something has changed in this slice.
    changed: bool,
}

impl SliceProgress {
    pub(super) fn new(state: &BrowserState) -> Self {
        Self {
            restarts: 0,
            message_steps: 0,
            animation_stops: 0,
            extensions: 0,
            next: 0,
            passed: 0.0,
            documents: state.document_count,
            slice_end: f64::NEG_INFINITY,
            end: f64::NEG_INFINITY,
            changed: false,
        }
    }

    /// Starts again, with the document of this number.
    fn restart(&mut self, documents: u64, begin: f64) {
        self.documents = documents;
        self.restarts += 1;
        (self.next, self.passed) = (0, 0.0);
        self.slice_end = begin;
    }

    /// Whether the page has had its time.
    fn is_enough(&self, pace: Pace) -> bool {
        let has_all = self.next == SLICES.len() || self.passed >= millis(pace.most);
        has_all || self.passed >= millis(pace.least) && !self.changed
    }
}

/// The report of [`CHANGES`] on a document.
#[derive(Debug, Default)]
struct Changes {
    is_changed: bool,
    /// After how much of the page's time something of an animation is due, in milliseconds.
    animation: Option<f64>,
}

impl Changes {
    /// Adds those of one document. Returns in how many frames it may not look.
    fn add(&mut self, told: &Value) -> u64 {
        let count = |at: usize| told.get(at).and_then(Value::as_u64).unwrap_or(0);
        self.is_changed |= count(0) > 0;
        let animation = told.get(1).and_then(Value::as_f64);
        self.animation = self.animation.into_iter().chain(animation).reduce(f64::min);
        count(2)
    }
}

impl Session {
    /// Lets the active page have its time, slice by slice.
    pub(super) async fn run_slices(
        &self,
        determinism: Determinism,
        in_flight: &InFlight,
        limit: TimeLimit,
        progress: &mut SliceProgress,
    ) -> Result<(), Error> {
        let mut messages = 0;
        loop {
            messages += self.drain(in_flight, limit).await?;
            let page = self.tracker.lock().active()?;
            let changes = self.changes(&page, limit).await?;
            progress.changed |= changes.is_changed || changes.animation.is_some() || messages > 0;
            let (documents, clock) = {
                let state = self.tracker.lock();
                (state.document_count, state.page_clock)
            };
            // A stopped budget sometimes ends a later one too early.
            let begin = progress.end.max(clock);
            if documents != progress.documents && progress.restarts < MAX_RESTARTS {
                progress.restart(documents, begin);
            }
            let mut end = begin + MESSAGE_STEP;
            if messages > 0 && progress.message_steps < MAX_MESSAGE_STEPS {
                progress.message_steps += 1;
            } else {
                if begin + CLOCK_TOLERANCE_MS >= progress.slice_end {
                    if !progress.is_enough(self.launch.pace) {
                        self.begin_slice(determinism, begin, progress);
                    } else if clock + CLOCK_TOLERANCE_MS > progress.slice_end {
                        if self.load_blank_document(&page).await? {
                            continue;
                        }
                        if is_at(determinism, clock, progress.slice_end) {
                            return self.wait_until_verified(limit).await;
                        }
                        self.extend_slice(determinism, clock, progress)?;
                    }
                }
                end = progress.slice_end;
                if let Some(due) =
                    changes.animation.filter(|_| progress.animation_stops < MAX_ANIMATION_STOPS)
                {
                    progress.animation_stops += 1;
                    end = end.min(step_after(determinism, begin, due));
                }
            }
            let part = (begin, end);
            (progress.end, messages) =
                self.run_with_workers(determinism, part, in_flight, limit).await?;
        }
    }

    /// Begins the next slice. All that may be the last one end by the schedule.
    fn begin_slice(&self, determinism: Determinism, begin: f64, progress: &mut SliceProgress) {
        let slice = SLICES[progress.next];
        progress.next += 1;
        progress.passed += slice;
        progress.changed = false;
        let mut state = self.tracker.lock();
        let schedule = &mut state.part_mut::<ClockState>().schedule;
        schedule.resume(determinism, begin);
        schedule.add(slice);
        let is_last =
            progress.next == SLICES.len() || progress.passed >= millis(self.launch.pace.least);
        progress.slice_end =
            if is_last { schedule.end(determinism, begin, slice) } else { begin + slice };
    }

    /// Plans a later end for a page whose requests have moved its clock past the planned one.
    fn extend_slice(
        &self,
        determinism: Determinism,
        clock: f64,
        progress: &mut SliceProgress,
    ) -> Result<(), Error> {
        if progress.extensions == MAX_EXTENSIONS {
            let [shown, planned] =
                [clock, progress.slice_end].map(|time| virtual_time::elapsed(determinism, time));
            return Err(Error::OffSchedule { shown, planned });
        }
        progress.extensions += 1;
        let slice = SLICES[progress.next.saturating_sub(1)];
        progress.slice_end =
            self.tracker.lock().part_mut::<ClockState>().schedule.end(determinism, clock, slice);
        Ok(())
    }

    /// Lets the page's own time run on by `time` during an action, and lets the results arrive. A
    /// live browser waits in real time.
    pub(crate) async fn advance(&self, page: &Page, time: Duration) -> Result<(), Error> {
        let Some(determinism) = self.frozen() else {
            let wait = format!("new Promise(done => setTimeout(done, {}))", time.as_millis());
            return match self
                .evaluate_isolated(page, &page.target, &wait, time + CALL_TIMEOUT)
                .await
            {
                // The document has just been replaced.
                Ok(_) | Err(Error::Refused { .. }) => Ok(()),
                Err(error) => Err(error),
            };
        };
        let in_flight = self.launch.in_flight.clone().unwrap_or_default();
        let limit = TimeLimit::after(CALL_TIMEOUT);
        self.drain(&in_flight, limit).await?;
        let begin = self.tracker.lock().page_clock;
        let end = begin + millis(time);
        self.tracker.lock().part_mut::<ClockState>().schedule.add(millis(time));
        for _ in 0..MAX_EARLY_ENDS {
            let mut reached = begin;
            while reached < end {
                let part = (reached, end);
                (reached, _) = self.run_with_workers(determinism, part, &in_flight, limit).await?;
                self.drain(&in_flight, limit).await?;
            }
            if self.tracker.lock().page_clock + CLOCK_TOLERANCE_MS > end {
                break;
            }
        }
        Ok(())
    }

    /// Lets the page's time run from `begin` until its clock shows `end`, and that of workers with
    /// it. Ends earlier where workers have messages for the page. Returns where, and how many
    /// messages. Each step is taken once, also where the page cannot tell its clock.
    ///
    /// A step of the time that scripts see begins for workers just before it begins for the page:
    /// what the page sends them finds them at its own time.
    async fn run_with_workers(
        &self,
        determinism: Determinism,
        (begin, end): (f64, f64),
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<(f64, u64), Error> {
        let mut reached = begin;
        loop {
            let (has_workers, clock) = {
                let state = self.tracker.lock();
                (!state.workers.is_empty(), state.page_clock.max(reached))
            };
            let step = script_time(determinism, clock) + f64::from(STEP);
            if !has_workers || step > end {
                self.run_until(end, in_flight, limit).await?;
                return Ok((end, 0));
            }
            if step - LEAD > clock {
                self.run_until(step - LEAD, in_flight, limit).await?;
                self.drain_workers(step, Outbox::Kept, in_flight, limit).await?;
            }
            let stop = (step + CLOCK_TOLERANCE_MS).min(end);
            self.run_until(stop, in_flight, limit).await?;
            let messages = self.drain_workers(step, Outbox::Sent, in_flight, limit).await?;
            if messages > 0 || stop >= end {
                return Ok((stop, messages));
            }
            reached = stop;
        }
    }

    /// Returns the changes in the document of a page since the last call.
    async fn changes(&self, page: &Page, limit: TimeLimit) -> Result<Changes, Error> {
        let mut changes = Changes::default();
        // The first frame is the page itself.
        let foreign_frames = changes.add(&self.changes_in(page, &page.target, limit).await?);
        self.tracker.lock().part_mut::<ClockState>().has_foreign_frames = foreign_frames > 0;
        if foreign_frames == 0 {
            return Ok(changes);
        }
        let frames = match self.frames(page).await {
            // The page has just been closed.
            Err(Error::Refused { .. }) => return Ok(changes),
            frames => frames?,
        };
        for frame in frames.iter().skip(1) {
            changes.add(&self.changes_in(page, &frame.id, limit).await?);
        }
        Ok(changes)
    }

    async fn changes_in(&self, page: &Page, frame: &str, limit: TimeLimit) -> Result<Value, Error> {
        match self.evaluate_isolated(page, frame, CHANGES, limit.remaining()).await {
            // The document has just been replaced.
            Err(Error::Refused { .. }) => Ok(Value::Null),
            changes => changes,
        }
    }
}

/// Whether a clock shows scripts the planned time.
fn is_at(determinism: Determinism, clock: f64, planned: f64) -> bool {
    script_time(determinism, clock) == script_time(determinism, planned)
}

/// The begin of the step of the time that scripts see in which something is due `due` milliseconds
/// after `begin`.
fn step_after(determinism: Determinism, begin: f64, due: f64) -> f64 {
    let step = f64::from(STEP);
    script_time(determinism, begin) + (due / step).ceil().max(1.0) * step + CLOCK_TOLERANCE_MS
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
