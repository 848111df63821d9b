//! Records the frames of a WebSocket.
//!
//! The handshake is on disk before the client receives it, and each frame before it is forwarded. A
//! killed recording therefore holds everything that either side has received. When the connection
//! ends, for whatever reason, its frames become one record.

use std::sync::Arc;

use parking_lot::Mutex;
use snapshots::OpenSocket;
use tokio::time::Instant;

use super::{Draft, Recorder};
use crate::socket::{Payload, Side, SocketFrame};

/// Writes the frames of a WebSocket.
pub(crate) struct SocketLog {
    recorder: Arc<Recorder>,
    url: String,
    since: Instant,
    kept: Mutex<SocketRecording>,
}

struct SocketRecording {
    /// `None` once the connection has ended.
    socket: Option<OpenSocket>,
    bytes: u64,
    /// Set after too many frames or a disk error. Frames so far are kept, later ones are not.
    full: bool,
}

impl SocketLog {
    /// Writes the handshake; `None` if that fails, which has then been counted.
    pub(crate) fn open(draft: Draft) -> Option<Self> {
        let (recorder, opening) = draft.into_opening()?;
        let socket = recorder.open_socket(&opening)?;
        recorder.opened();
        let kept = Mutex::new(SocketRecording { socket: Some(socket), bytes: 0, full: false });
        Some(Self { recorder, url: opening.url, since: Instant::now(), kept })
    }

    /// Writes a frame before it is forwarded. Frames beyond the recorder's body limit are not kept.
    pub(crate) fn push(&self, from: Side, payload: Payload) {
        let at_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let size = match &payload {
            Payload::Text(text) => text.len(),
            Payload::Binary(bytes) => bytes.len(),
            Payload::Close { .. } => 0,
        };
        let mut kept = self.kept.lock();
        let SocketRecording { socket: Some(socket), bytes, full: full @ false } = &mut *kept else {
            return;
        };
        *bytes += size as u64;
        if *bytes > self.recorder.body_cap() {
            *full = true;
            self.recorder.too_large(&self.url);
            return;
        }
        let payload = self.recorder.redacted(payload);
        if let Err(error) = socket.append(&SocketFrame { at_ms, from, payload }.to_stored()) {
            *full = true;
            self.recorder.failed(&self.url, &error);
        }
    }
}

impl Drop for SocketLog {
    fn drop(&mut self) {
        let kept = self.kept.get_mut();
        if let Some(socket) = kept.socket.take() {
            self.recorder.close_socket(&self.url, socket);
        }
        self.recorder.ended();
    }
}
