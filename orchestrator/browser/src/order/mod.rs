//! The order of what happens in the pages of an episode, for people who look for the reason why two
//! repeats differ.
//!
//! Chromium's own tracing tells of requests, responses, timers, frames, events and calls in all
//! threads, and pages do not notice. Two scripts add what it does not tell, as marks:
//! `changes.js` the changes of documents, and `inject/logged.js` the lines of the console.
//! [`lines`] makes text of it.
//!
//! A trace is taken after each step. Each thread is told by itself, because only the order within a
//! thread is the same in all repeats.

mod lines;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

pub(crate) use self::lines::OrderWriter;
use self::lines::TraceEvent;
use crate::cdp::tracker::{BrowserEvent, BrowserState, EventSink};
use crate::{Error, Session};

/// The script that marks changes of documents, and the isolated world in which it runs.
pub(crate) const CHANGES: &str = include_str!("changes.js");
pub(crate) const WORLD: &str = "sandbox-order";
/// Stands before what our scripts tell the trace.
pub(crate) const MARK: &str = "\u{2063}order\u{2063}";

const CATEGORIES: [&str; 2] = ["devtools.timeline", "blink.resource"];
/// Room for one step. What comes after that is lost.
const BUFFER_KIB: u64 = 256 << 10;
/// How long the browser may take to hand over a trace.
const HAND_OVER: Duration = Duration::from_secs(60);

/// The parts of a trace that have arrived.
#[derive(Debug, Default)]
pub(crate) struct TraceBuffer {
    events: Vec<TraceEvent>,
    /// When the active page's time was read, in microseconds of the machine's monotonic clock, and
    /// what it was, in milliseconds since 1970.
    clocks: Vec<(u64, f64)>,
    is_complete: bool,
    /// There was more than there is room for.
    has_lost: bool,
}

/// The trace that runs, if one does.
#[derive(Debug, Default)]
pub(crate) struct RunningTrace(Option<TraceBuffer>);

impl EventSink for RunningTrace {
    fn on_event(&mut self, _: &mut BrowserState, event: &BrowserEvent<'_>) {
        if let Some(trace) = &mut self.0 {
            trace.on_event(event.method, event.params);
        }
    }

    fn on_clock(&mut self, page_clock: f64) {
        if let Some(trace) = &mut self.0 {
            trace.note_clock(page_clock);
        }
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl TraceBuffer {
    /// Takes note of the active page's time.
    pub(crate) fn note_clock(&mut self, page_clock: f64) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec.unsigned_abs() * 1_000_000 + now.tv_nsec.unsigned_abs() / 1_000;
        self.clocks.push((micros, page_clock));
    }

    /// Takes an event of the DevTools domain `Tracing`.
    pub(crate) fn on_event(&mut self, method: &str, params: &Value) {
        match method {
            "Tracing.dataCollected" => {
                let events = params.get("value").and_then(Value::as_array);
                self.events.extend(events.into_iter().flatten().filter_map(TraceEvent::read));
            }
            "Tracing.tracingComplete" => {
                self.is_complete = true;
                self.has_lost = params.get("dataLossOccurred") == Some(&Value::Bool(true));
            }
            _ => {}
        }
    }
}

impl Session {
    /// Returns the events in the pages since the last call or the beginning of the episode, a line
    /// an event: the page's time in seconds, the place and the event. Empty without
    /// [`Launch::keeps_order`](crate::Launch::keeps_order), and where time runs by itself.
    ///
    /// # Errors
    /// When the browser has ended, or does not hand over its trace.
    pub async fn take_order(&mut self) -> Result<Vec<String>, Error> {
        let Some(determinism) = self.frozen().filter(|_| self.launch.keeps_order) else {
            return Ok(Vec::new());
        };
        let TraceBuffer { events, clocks, has_lost, .. } = self.end_trace().await?;
        let pages: Vec<String> =
            self.tracker.lock().pages.iter().map(|page| page.target.clone()).collect();
        let mut lines = self.order.write(events, &clocks, &pages, determinism);
        if has_lost {
            lines.push("     -             more events than there is room for".to_owned());
        }
        self.begin_trace().await?;
        Ok(lines)
    }

    /// Begins a trace, if the order is kept.
    pub(crate) async fn begin_trace(&self) -> Result<(), Error> {
        if !self.launch.keeps_order || self.frozen().is_none() {
            return Ok(());
        }
        let params = json!({
            "transferMode": "ReportEvents",
            "tracingBackend": "chrome",
            "traceConfig": {
                "recordMode": "recordUntilFull",
                "traceBufferSizeInKb": BUFFER_KIB,
                "includedCategories": CATEGORIES,
            },
        });
        // Before the start, whose events may come at once.
        {
            let mut state = self.tracker.lock();
            let mut trace = TraceBuffer::default();
            trace.note_clock(state.page_clock);
            state.part_mut::<RunningTrace>().0 = Some(trace);
        }
        self.cdp().call(None, "Tracing.start", params).await?;
        Ok(())
    }

    /// Ends the trace, if there is one.
    pub(crate) async fn end_trace(&self) -> Result<TraceBuffer, Error> {
        if self.tracker.lock().part::<RunningTrace>().0.is_none() {
            return Ok(TraceBuffer::default());
        }
        self.cdp().call(None, "Tracing.end", json!({})).await?;
        let condition = |_: &BrowserState| "the browser to hand over its trace".to_owned();
        let complete = |state: &BrowserState| {
            let RunningTrace(trace) = state.part();
            trace.as_ref().is_none_or(|trace| trace.is_complete).then_some(())
        };
        self.tracker.wait_for(HAND_OVER, condition, complete).await?;
        Ok(self.tracker.lock().part_mut::<RunningTrace>().0.take().unwrap_or_default())
    }
}
