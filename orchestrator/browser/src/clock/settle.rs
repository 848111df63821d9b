//! When a page is done: when nothing is on its way and its own time has run for a while.
//!
//! In a frozen world the page's time stands still between slices. What happens in real time
//! (responses, frames on the screen, input, workers) happens in these pauses, all at one instant of
//! the page's time. A pause ends when nothing of that is left. Then the page gets the next slice of
//! its time, in which timers run. The slices are always the same ([`crate::clock::pace`]), and the
//! last one ends by a [`Schedule`](crate::clock::schedule::Schedule). So the page's time at each
//! event does not depend on the speed of the machine. A new document starts the slices again.
//!
//! A live browser has no such clock. There a page is done after a [lull](crate::clock::lull).

use std::time::{Duration, Instant};

use in_flight::{InFlight, InFlightCounts};
use tokio::time::timeout;

use crate::cdp::connection::MAX_DRAWING;
use crate::cdp::targets;
use crate::cdp::tracker::{BrowserState, Page};
use crate::clock::idle;
use crate::clock::liveness::{LivenessWait, TimeLimit};
use crate::clock::pace::SliceProgress;
use crate::clock::socket_messages::{ANSWER, TALK};
use crate::clock::state::{ActivityCounts, ClockState};
use crate::clock::virtual_time::{self, Outbox};
use crate::{Error, Session};

/// How long a page may need to notice a complete response, on an idle machine. This and the next
/// one are spent by a [`LivenessWait`].
pub(super) const DELIVERY: Duration = Duration::from_millis(250);
/// How long the gateway may be busy before [`Session::detect_streams`] checks for the reason. The
/// browser answers a ping before each check: one that gets no time of the processor has not read
/// what has come.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// How many checks a response other than a document may take to begin (10 s). After that the page's
/// time runs on without it.
const MAX_CHECKS_FIRST_BYTE: u32 = 40;
/// How many checks a response may pause for (2 s). After that it counts as endless.
const MAX_SILENT_CHECKS: u32 = 8;
/// How many times a request on its way to the gateway is waited for.
const MAX_ARRIVAL_WAITS: u32 = 20;
/// How many times a service worker is waited for that is at work, or that is being started.
const MAX_SERVICE_WORKER_WAITS: u32 = 20;
/// Inner waits know better what they wait for, so their errors come before that of the whole
/// settling.
const GRACE: Duration = Duration::from_millis(100);
/// How long it may take to read a complete response, or to begin a requested navigation.
const BODY_READ: Duration = Duration::from_millis(40);

/// The result of [`Session::settle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettleOutcome {
    /// How far the page's own clock has moved; zero in a live browser.
    pub page_time: Duration,
    /// How long settling took.
    pub real_time: Duration,
    /// False if a live page was still busy at the deadline.
    pub idle: bool,
}

/// Fails at the limit, for a page that goes on asking for more.
fn asks_on(limit: TimeLimit) -> Result<(), Error> {
    if !limit.remaining().is_zero() {
        return Ok(());
    }
    let condition = "the page to stop sending requests".to_owned();
    Err(Error::Deadline { condition, waited: limit.whole })
}

impl Session {
    /// Waits until the active page is done. In a frozen world a page that is still busy at the
    /// deadline is an error.
    pub async fn settle(
        &mut self,
        in_flight: &InFlight,
        deadline: Duration,
    ) -> Result<SettleOutcome, Error> {
        let started = Instant::now();
        let limit = TimeLimit::after(deadline);
        let Some(determinism) = self.frozen() else {
            let idle = match self.wait_for_lull(in_flight, limit).await {
                Ok(()) => true,
                Err(Error::Deadline { .. } | Error::Network(_)) => false,
                Err(error) => return Err(error),
            };
            return Ok(SettleOutcome {
                page_time: Duration::ZERO,
                real_time: started.elapsed(),
                idle,
            });
        };
        let before = self.tracker.lock().page_clock;
        let mut progress = SliceProgress::new(&self.tracker.lock());
        let mut limit = limit;
        loop {
            let slices = self.run_slices(determinism, in_flight, limit, &mut progress);
            let error = match timeout(deadline + GRACE, slices).await {
                Ok(Ok(())) => break,
                Ok(Err(error @ Error::Deadline { .. })) => error,
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    let condition =
                        "the page to answer (one of its scripts does not end)".to_owned();
                    Error::Deadline { condition, waited: deadline }
                }
            };
            // A page that is being drawn is not stuck.
            if started.elapsed() > MAX_DRAWING || !self.cdp().is_drawing().await {
                return Err(error);
            }
            limit = TimeLimit::after(deadline);
        }
        let moved = self.tracker.lock().page_clock - before;
        let page_time = Duration::try_from_secs_f64(moved / 1000.0).unwrap_or_default();
        Ok(SettleOutcome { page_time, real_time: started.elapsed(), idle: true })
    }

    /// Lets pending events arrive, while the page's time stands still.
    pub(crate) async fn drain_within(
        &self,
        in_flight: &InFlight,
        deadline: Duration,
    ) -> Result<(), Error> {
        let limit = TimeLimit::after(deadline);
        match self.drain(in_flight, limit).await {
            Ok(_) => Ok(()),
            Err(Error::Deadline { .. } | Error::Network(_)) if self.frozen().is_none() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits until every page and worker is known to have the world's clock.
    pub(super) async fn wait_until_verified(&self, limit: TimeLimit) -> Result<(), Error> {
        let condition = |_: &BrowserState| "an unprepared page or worker to go away".to_owned();
        let verified =
            |state: &BrowserState| (state.unverified_targets == 0).then(|| state.check_prepared());
        self.tracker.wait_for(limit.remaining(), condition, verified).await?
    }

    /// Lets everything arrive that is on its way, while the page's time stands still. Returns how
    /// many messages workers had for their pages.
    ///
    /// The order is fixed: all responses, with those to requests that follow from them; then a
    /// frame; then the messages of workers. If anything has begun meanwhile, it starts again. So a
    /// frame never overtakes a response, however fast either is.
    pub(crate) async fn drain(&self, in_flight: &InFlight, limit: TimeLimit) -> Result<u64, Error> {
        let mut messages = 0;
        loop {
            let before = self.receive_responses(in_flight, limit).await?;
            let page = self.tracker.lock().active()?;
            let wait = self.liveness_wait(&page, limit);
            self.present_frame(wait).await?;
            self.ensure_idle().await;
            if before != self.started_counts(in_flight) {
                asks_on(limit)?;
                continue;
            }
            if let Some(determinism) = self.frozen() {
                self.wait_for_socket_messages(in_flight, wait).await?;
                let now = virtual_time::script_time(determinism, self.tracker.lock().page_clock);
                messages += self.tick_workers(now, Outbox::Sent).await?;
            }
            if before == self.started_counts(in_flight) {
                return Ok(messages);
            }
            asks_on(limit)?;
        }
    }

    /// The same without a frame, for workers alone: their clocks come to `now`. If they have
    /// something to say, or ask for something, all else follows.
    pub(super) async fn drain_workers(
        &self,
        now: f64,
        outbox: Outbox,
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<u64, Error> {
        let before = self.receive_responses(in_flight, limit).await?;
        let page = self.tracker.lock().active()?;
        self.read_clock(self.liveness_wait(&page, limit)).await?;
        let messages = self.tick_workers(now, outbox).await?;
        if messages == 0 && before == self.started_counts(in_flight) {
            return Ok(0);
        }
        Ok(messages + self.drain(in_flight, limit).await?)
    }

    /// Moves the clocks of all workers to `now`, one worker after the other. Returns how many
    /// messages have left them.
    async fn tick_workers(&self, now: f64, outbox: Outbox) -> Result<u64, Error> {
        let workers = self.tracker.lock().workers.clone();
        let mut messages = 0;
        for worker in &workers {
            let told =
                virtual_time::tick_worker(self.cdp(), &self.tracker, worker, now, outbox).await?;
            // What the page makes of it comes before the next one's.
            if told > 0 {
                self.wait_until_idle().await;
            }
            messages += told;
        }
        Ok(messages)
    }

    /// Lets all responses arrive, and those to what the pages request meanwhile, until the pages
    /// have nothing to do and nothing is on its way to them. Returns the counts of what has
    /// started.
    async fn receive_responses(
        &self,
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<(u64, u64), Error> {
        loop {
            let before = self.started_counts(in_flight);
            let page = self.tracker.lock().active()?;
            self.wait_for_responses(in_flight, self.liveness_wait(&page, limit)).await?;
            if self.has_new_activity(in_flight) {
                self.wait_until_answered().await;
            } else {
                self.ensure_idle().await;
            }
            if before == self.started_counts(in_flight) {
                // Workers begin one by one, when all else is quiet, so that their order is the same
                // in each run.
                let Some(worker) = self.tracker.lock().worker_order.next() else {
                    return Ok(before);
                };
                targets::run(self.cdp(), &worker);
                self.wait_until_idle().await;
            }
            asks_on(limit)?;
        }
    }

    /// Whether something has started or ended since the last call. Only then may something be on
    /// its way to the pages from another process. Otherwise the pages' work, such as after a slice
    /// or a click, is in their own processes, and one check is enough.
    fn has_new_activity(&self, in_flight: &InFlight) -> bool {
        let mut state = self.tracker.lock();
        let counts = ActivityCounts {
            started_count: state.started_count,
            ended: state.traffic.ended_count,
            request_count: in_flight.counts().started,
        };
        std::mem::replace(&mut state.part_mut::<ClockState>().seen_activity, counts) != counts
    }

    pub(crate) async fn ensure_idle(&self) {
        if self.frozen().is_some() {
            idle::ensure_idle(&self.tracker, self.cdp()).await;
        }
    }

    /// Waits until the pages have done everything that they can do while their time stands still.
    /// Returns false if they do not come to an end.
    pub(crate) async fn wait_until_idle(&self) -> bool {
        self.frozen().is_none() || idle::wait_until_idle(&self.tracker, self.cdp()).await
    }

    /// The same, and until no other process has a reply for the pages.
    async fn wait_until_answered(&self) {
        if self.frozen().is_some() {
            idle::wait_until_answered(&self.tracker, self.cdp()).await;
        }
    }

    pub(crate) fn liveness_wait<'a>(
        &'a self,
        page: &'a Page,
        limit: TimeLimit,
    ) -> LivenessWait<'a> {
        LivenessWait { cdp: self.cdp(), tracker: &self.tracker, page, limit }
    }

    /// Waits until the page has all responses, and the gateway has no more.
    async fn wait_for_responses(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        let limit = wait.limit;
        let condition =
            |state: &BrowserState| format!("the network (pending: {})", state.traffic.describe());
        let answered = |state: &BrowserState| {
            state.traffic.without_response() == 0 && state.traffic.navigation_count() == 0
        };
        let start = Instant::now();
        let mut arrival_waits = 0;
        loop {
            self.wait_for_gateway(in_flight, wait).await?;
            let before = (self.tracker.lock().started_count, in_flight.counts().started);
            let notice = if self.tracker.lock().traffic.has_only_requested_navigations() {
                BODY_READ
            } else {
                DELIVERY
            };
            let is_answered = wait.until(notice, condition, answered).await?;
            for place in in_flight.take_answered_sockets() {
                self.tracker.lock().traffic.end_answered_socket(place);
            }
            if !is_answered {
                let counts = in_flight.counts();
                if arrival_waits < MAX_ARRIVAL_WAITS && self.is_arriving(&counts).await {
                    arrival_waits += 1;
                    continue;
                }
                let waits = {
                    let traffic = &self.tracker.lock().traffic;
                    traffic.throttled() > 0 && start.elapsed() < traffic.longest_socket_delay()
                };
                if !waits
                    && self.is_gateway_idle(&counts)
                    && before == (self.tracker.lock().started_count, counts.started)
                {
                    self.tracker.lock().traffic.abandon_pending();
                }
                continue;
            }
            if wait.until(BODY_READ, condition, |state| state.traffic.pending() == 0).await? {
                break;
            }
            let mut state = self.tracker.lock();
            // A page need not read its responses.
            if before == (state.started_count, in_flight.counts().started) {
                state.traffic.abandon_pending();
                break;
            }
        }
        let condition = |_: &BrowserState| "an event stream to begin".to_owned();
        if !wait.until(DELIVERY, condition, |state| state.traffic.awaits_first_byte() == 0).await? {
            self.tracker.lock().traffic.stop_waiting_for_event_streams();
        }
        self.hear_streams(wait).await?;
        self.wait_for_service_workers(in_flight, wait).await?;
        self.wait_for_gateway(in_flight, wait).await?;
        // The browser has received all of it, and may still be writing.
        let condition = |_: &BrowserState| "a download to be saved".to_owned();
        wait.until(limit.remaining(), condition, |state| !state.is_downloading()).await?;
        Ok(())
    }

    /// Waits until streams have said what they have to say at this time of the page. A server that
    /// speaks goes on within moments of real time.
    async fn hear_streams(&self, wait: LivenessWait<'_>) -> Result<(), Error> {
        let condition = |_: &BrowserState| "a stream to go on".to_owned();
        let start = Instant::now();
        loop {
            let news = {
                let state = &mut *self.tracker.lock();
                let (clock, traffic) = (state.page_clock, &mut state.traffic);
                let news = traffic.stream_news;
                let is_silent = std::mem::replace(&mut traffic.heard_news, news) == news;
                if is_silent || traffic.listened_at == Some(clock) {
                    return Ok(());
                }
                if start.elapsed() > TALK {
                    tracing::debug!("a stream speaks on; the page does not wait for it");
                    traffic.listened_at = Some(clock);
                    return Ok(());
                }
                news
            };
            wait.until(ANSWER, condition, |state| state.traffic.stream_news != news).await?;
        }
    }

    /// Waits until service workers are installed, or their installation waits for the page's own
    /// time. A worker that is being started, or that runs, requests or stores something, does not.
    async fn wait_for_service_workers(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        let condition = |_: &BrowserState| "a service worker to be installed".to_owned();
        for _ in 0..MAX_SERVICE_WORKER_WAITS {
            let before = in_flight.counts().started;
            if wait
                .until(DELIVERY, condition, |state| !state.traffic.service_workers.are_waited_for())
                .await?
            {
                return Ok(());
            }
            let is_starting = || self.tracker.lock().traffic.service_workers.is_one_starting();
            let starting = is_starting();
            self.wait_until_idle().await;
            self.wait_for_gateway(in_flight, wait).await?;
            let counts = in_flight.counts();
            // Only a round in which nothing moves shows that the worker waits for the page's time.
            let requests = counts.started != before || self.is_arriving(&counts).await;
            if !starting
                && !requests
                && idle::repliers_stay_idle(&self.tracker, self.cdp()).await
                && !is_starting()
            {
                break;
            }
        }
        self.tracker.lock().traffic.service_workers.stop_waiting();
        Ok(())
    }

    /// Waits until the gateway is idle. A page may have a request that is answered only when
    /// something happens, and that may need the page's own time.
    async fn wait_for_gateway(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        let limit = wait.limit;
        let mut checks = 0;
        let mut drawing = None;
        loop {
            let share = limit.remaining().min(CHECK_INTERVAL);
            if in_flight.wait_until(share, |counts| self.is_gateway_idle(counts)).await {
                return Ok(());
            }
            if self.determinism.is_none() || limit.remaining().is_zero() {
                return Ok(in_flight.idle(limit.remaining()).await?);
            }
            wait.ping_network().await?;
            // A page that waits for its drawing reads nothing, and the gateway waits for it.
            let before = drawing.replace(self.cdp().drawing_watch());
            if !before.is_some_and(|watch| watch.is_drawing()) {
                checks += 1;
                self.detect_streams(checks);
            }
        }
    }

    /// Finds requests that will not be answered before the page's time runs on. This is the
    /// `checks`-th call during one wait.
    pub(crate) fn detect_streams(&self, checks: u32) {
        let traffic = &mut self.tracker.lock().traffic;
        traffic.mark_open_ended(MAX_SILENT_CHECKS);
        if checks >= MAX_CHECKS_FIRST_BYTE {
            traffic.mark_stalled();
        }
    }

    /// Whether a request may be on its way from the browser to the gateway.
    async fn is_arriving(&self, counts: &InFlightCounts) -> bool {
        counts.opening_tunnels > 0
            || self.frozen().is_some() && !idle::is_network_idle(&self.tracker, self.cdp()).await
    }

    pub(crate) fn is_gateway_idle(&self, counts: &InFlightCounts) -> bool {
        counts.frames == 0 && counts.requests <= self.tracker.lock().traffic.ignored_count()
    }
}
