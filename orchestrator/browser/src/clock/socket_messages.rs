//! The messages of WebSockets, which reach a page while its time stands still.

use gateway::InFlight;

use crate::{
    Error, Session,
    cdp::tracker::{BrowserState, SocketCounts},
    clock::{liveness::LivenessWait, settle::DELIVERY},
};

impl Session {
    /// Whether the page has received every message that was sent to it.
    pub(crate) fn has_all_socket_messages(&self, in_flight: &InFlight) -> bool {
        let state = self.tracker.lock();
        let sent = in_flight.counts().frames_sent.cast_signed();
        state.socket_offset.is_none_or(|offset| offset.0 + state.sockets.received.cast_signed() >= sent)
    }

    /// Waits until the messages of WebSockets have arrived, by counting them on both sides.
    pub(super) async fn wait_for_socket_messages(
        &self,
        in_flight: &InFlight,
        wait: LivenessWait<'_>,
    ) -> Result<(), Error> {
        let (sockets, offset) = {
            let mut state = self.tracker.lock();
            let counts = in_flight.counts();
            let offset = (counts.frames_sent.cast_signed(), counts.frames_received.cast_signed());
            (state.sockets, *state.socket_offset.get_or_insert(offset))
        };
        if sockets == SocketCounts::default() && in_flight.counts().frames_sent.cast_signed() == offset.0 {
            return Ok(());
        }
        let mut rounds = wait.rounds(DELIVERY);
        while let Some(share) = rounds.next().await? {
            let is_taken = in_flight.wait_until(share, |counts| {
                let sent = self.tracker.lock().sockets.sent.cast_signed();
                counts.frames_received.cast_signed() >= offset.1 + sent
            });
            if !is_taken.await || in_flight.idle(share).await.is_err() {
                continue;
            }
            let received = |state: &BrowserState| {
                let sent = in_flight.counts().frames_sent.cast_signed();
                (offset.0 + state.sockets.received.cast_signed() >= sent).then_some(())
            };
            let condition = |_: &BrowserState| "the WebSocket messages to reach the page".to_owned();
            match self.tracker.wait_for(share, condition, received).await {
                Ok(()) => return Ok(()),
                Err(Error::Deadline { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        // Some were lost with a page that has gone, or the socket is not a replayed one. They will
        // not come any more.
        let mut state = self.tracker.lock();
        let counts = in_flight.counts();
        tracing::debug!(?counts, sockets = ?state.sockets, "WebSocket messages were lost");
        state.socket_offset = Some((
            counts.frames_sent.cast_signed() - state.sockets.received.cast_signed(),
            counts.frames_received.cast_signed() - state.sockets.sent.cast_signed(),
        ));
        Ok(())
    }
}
