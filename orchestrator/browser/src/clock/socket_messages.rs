//! The messages of WebSockets, which reach a page while its time stands still.

use std::time::{Duration, Instant};

use in_flight::{InFlight, InFlightCounts};
use serde_json::Value;

use crate::cdp::tracker::BrowserState;
use crate::clock::liveness::LivenessWait;
use crate::clock::settle::DELIVERY;
use crate::clock::state::ClockState;
use crate::{Error, Session};

/// How long a server may take to answer a message of a WebSocket, or its opening, and a stream to
/// go on, on an idle machine. What it says later is heard at the next rest of the page.
pub(crate) const ANSWER: Duration = Duration::from_millis(100);
/// How long servers are listened to at one time of the page that have always more to say.
pub(crate) const TALK: Duration = Duration::from_millis(500);
/// How many times a page's time moves until an answered socket counts as lost of which no page has
/// heard.
const MAX_OPENING_WAITS: u32 = 5;

/// WebSockets and their messages, as the pages count them and as the gateway does.
#[derive(Debug, Default)]
pub(crate) struct SocketState {
    received: u64,
    sent: u64,
    /// The sockets that have opened, with those of earlier episodes.
    opened: u64,
    /// How many times the page's time has moved while it had not heard of an answered socket, and
    /// that time.
    opening_waits: u32,
    opening_clock: f64,
    /// The sockets that were not waited for any longer.
    given_up: u64,
    /// The page's time at which servers were listened to for long enough.
    listened_at: Option<f64>,
    /// The gateway's count of news, when answers were last waited for.
    news: u64,
    /// The gateway's counts of sent and received messages before the first of them.
    offset: (i64, i64),
}

impl SocketState {
    /// Counts from here on.
    pub(crate) fn begin(&mut self, counts: InFlightCounts) {
        *self = Self {
            opened: counts.sockets_opened,
            news: counts.socket_news,
            offset: (counts.frames_sent.cast_signed(), counts.frames_received.cast_signed()),
            ..Self::default()
        };
    }

    /// A page hears of an answer to its handshake.
    pub(crate) fn on_open(&mut self, params: &Value) {
        let is_open = params.pointer("/response/status").and_then(Value::as_u64) == Some(101);
        match (is_open, self.given_up.checked_sub(1)) {
            (false, _) => {}
            (true, None) => self.opened += 1,
            (true, Some(left)) => self.given_up = left,
        }
    }

    /// A page has received or sent a frame. Text and binary messages count.
    pub(crate) fn on_message(&mut self, method: &str, params: &Value) {
        if matches!(params.pointer("/response/opcode").and_then(Value::as_u64), Some(1 | 2)) {
            let count =
                if method.ends_with("Received") { &mut self.received } else { &mut self.sent };
            *count += 1;
        }
    }

    /// Whether a socket was answered, and no page has heard of it. It will as soon as its time
    /// moves. What the server says goes through the same pipe, so that it waits until then.
    fn is_one_opening(&mut self, counts: InFlightCounts, page_clock: f64) -> bool {
        if self.opened >= counts.sockets_opened {
            self.opening_waits = 0;
            return false;
        }
        if self.opening_waits == 0 || page_clock > self.opening_clock {
            self.opening_waits += 1;
            self.opening_clock = page_clock;
        }
        if self.opening_waits <= MAX_OPENING_WAITS {
            return true;
        }
        // Its page has gone.
        self.given_up += counts.sockets_opened - self.opened;
        (self.opened, self.opening_waits) = (counts.sockets_opened, 0);
        false
    }

    /// Whether nobody has said anything.
    fn are_silent(&self, counts: InFlightCounts) -> bool {
        (self.received, self.sent) == (0, 0) && counts.frames_sent.cast_signed() == self.offset.0
    }

    /// Whether the gateway has all that pages have sent.
    fn are_taken(&self, counts: InFlightCounts) -> bool {
        counts.frames_received.cast_signed() >= self.offset.1 + self.sent.cast_signed()
    }

    /// From now on what is missing is not expected.
    fn forget_lost(&mut self, counts: InFlightCounts) {
        self.offset = (
            counts.frames_sent.cast_signed() - self.received.cast_signed(),
            counts.frames_received.cast_signed() - self.sent.cast_signed(),
        );
    }

    /// Whether pages have received all that the gateway has sent.
    fn has_all(&self, counts: InFlightCounts) -> bool {
        self.offset.0 + self.received.cast_signed() >= counts.frames_sent.cast_signed()
    }
}

impl Session {
    /// Whether the page has received every message that was sent to it.
    pub(crate) fn has_all_socket_messages(&self, in_flight: &InFlight) -> bool {
        self.tracker.lock().part::<ClockState>().sockets.has_all(in_flight.counts())
    }

    /// Waits until the messages of WebSockets have arrived, and until servers that run behind the
    /// gateway have answered: a server speaks at the instant at which it is spoken to.
    pub(super) async fn wait_for_socket_messages(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        let (is_one_opening, has_listened) = {
            let state = &mut *self.tracker.lock();
            let clock = state.page_clock;
            let sockets = &mut state.part_mut::<ClockState>().sockets;
            (sockets.is_one_opening(in_flight.counts(), clock), sockets.listened_at == Some(clock))
        };
        if is_one_opening || has_listened {
            return self.wait_for_sent_messages(in_flight, wait).await;
        }
        let _released = ServersReleased::begin(in_flight);
        self.hear_servers(in_flight, wait).await
    }

    async fn hear_servers(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            self.wait_for_sent_messages(in_flight, wait).await?;
            let news = in_flight.counts().socket_news;
            if std::mem::replace(
                &mut self.tracker.lock().part_mut::<ClockState>().sockets.news,
                news,
            ) == news
            {
                return Ok(());
            }
            let mut rounds = wait.rounds(ANSWER);
            while let Some(share) = rounds.next().await? {
                if in_flight.wait_until(share, |counts| counts.socket_news != news).await {
                    break;
                }
            }
            if start.elapsed() > TALK {
                tracing::debug!(
                    "a server speaks on over a WebSocket; the page does not wait for it"
                );
                let state = &mut *self.tracker.lock();
                let clock = state.page_clock;
                state.part_mut::<ClockState>().sockets.listened_at = Some(clock);
                return Ok(());
            }
        }
    }

    /// Waits until the messages of WebSockets have arrived, by counting them on both sides.
    async fn wait_for_sent_messages(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        if self.tracker.lock().part::<ClockState>().sockets.are_silent(in_flight.counts()) {
            return Ok(());
        }
        let mut rounds = wait.rounds(DELIVERY);
        while let Some(share) = rounds.next().await? {
            let is_taken = in_flight.wait_until(share, |counts| {
                self.tracker.lock().part::<ClockState>().sockets.are_taken(*counts)
            });
            if !is_taken.await || in_flight.idle(share).await.is_err() {
                continue;
            }
            let received = |state: &BrowserState| {
                state.part::<ClockState>().sockets.has_all(in_flight.counts()).then_some(())
            };
            let condition =
                |_: &BrowserState| "the WebSocket messages to reach the page".to_owned();
            match self.tracker.wait_for(share, condition, received).await {
                Ok(()) => return Ok(()),
                Err(Error::Deadline { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // Some were lost with a page that has gone. They will not come any more.
        let counts = in_flight.counts();
        let mut state = self.tracker.lock();
        let sockets = &mut state.part_mut::<ClockState>().sockets;
        tracing::debug!(?counts, ?sockets, "WebSocket messages were lost");
        sockets.forget_lost(counts);
        Ok(())
    }
}

/// Servers may speak until this is dropped.
struct ServersReleased<'a>(&'a InFlight);

impl<'a> ServersReleased<'a> {
    fn begin(in_flight: &'a InFlight) -> Self {
        in_flight.hold_servers(false);
        Self(in_flight)
    }
}

impl Drop for ServersReleased<'_> {
    fn drop(&mut self) {
        self.0.hold_servers(true);
    }
}
