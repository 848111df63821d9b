//! The state of the pages' time that the browser's events change.

use std::collections::HashSet;

use crate::cdp::connection::SessionId;
use crate::cdp::tracker::{BrowserEvent, BrowserState, EventSink};
use crate::clock::idle::BrowserProcesses;
use crate::clock::schedule::Schedule;
use crate::clock::screen::FrameClock;
use crate::clock::socket_messages::SocketState;

/// The part of the [`Tracker`](crate::cdp::tracker::Tracker)'s state about time.
#[derive(Debug, Default)]
pub(crate) struct ClockState {
    /// Input is under way: no response is released.
    pub(crate) input_in_flight: bool,
    /// A response is on its way to its page: no input begins.
    pub(crate) is_releasing: bool,
    /// The page's time runs without waiting for responses, so none is released.
    pub(crate) holds_responses: bool,
    /// The schedule that the page's time should keep.
    pub(crate) schedule: Schedule,
    /// The count at the document whose time Chromium does not let run by itself.
    pub(crate) stuck_document: Option<u64>,
    /// WebSockets and their messages.
    pub(crate) sockets: SocketState,
    /// Whether the active page has frames of other sites.
    pub(crate) has_foreign_frames: bool,
    /// The times of drawn frames.
    pub(crate) frame_clock: FrameClock,
    /// Sessions in which a frame is being drawn.
    pub(crate) drawing: HashSet<SessionId>,
    pub(crate) processes: BrowserProcesses,
    pub(crate) seen_activity: ActivityCounts,
}

/// The numbers of started and ended activities when [`Session::drain`](crate::Session) last looked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ActivityCounts {
    pub(crate) started_count: u64,
    pub(crate) ended: u64,
    /// Requests, as the gateway counts them.
    pub(crate) request_count: u64,
}

impl EventSink for ClockState {
    fn on_event(&mut self, state: &mut BrowserState, event: &BrowserEvent<'_>) {
        match event.method {
            "Network.webSocketHandshakeResponseReceived" => self.sockets.on_open(event.params),
            "Network.webSocketFrameReceived" | "Network.webSocketFrameSent" => {
                state.started_count += 1;
                self.sockets.on_message(event.method, event.params);
            }
            _ => {}
        }
    }

    fn on_session_left(&mut self, session: &SessionId) {
        self.drawing.remove(session);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}
