//! The frames of a WebSocket under recording.
//!
//! The handshake is on disk before the client hears of it. Frames are gathered and written once a second, and at once when the connection ends
//! for whatever reason. One record a frame would survive a kill to the last one, but costs several hundred bytes for each of a ticker's; so a kill
//! may take the last second of a connection that is still open, and nothing of one that has closed.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use snapshots::{Exchange, Frame};
use tokio::{sync::Notify, time::Instant};

use super::{Draft, Recorder};
use crate::socket::{Payload, Side, SocketFrame};

/// How long a frame may wait for others.
const GATHER: Duration = Duration::from_secs(1);

/// A WebSocket's frames on their way to disk.
pub(crate) struct SocketLog {
    recorder: Arc<Recorder>,
    opening: Exchange,
    id: String,
    since: Instant,
    waiting: Mutex<Waiting>,
    first: Notify,
}

#[derive(Default)]
struct Waiting {
    frames: Vec<Frame>,
    bytes: u64,
    full: bool,
}

impl SocketLog {
    /// Writes the handshake; `None` if that is not possible, which has then been counted.
    pub(crate) fn open(draft: Draft) -> Option<Self> {
        let (recorder, opening) = draft.into_opening()?;
        let id = recorder.append_socket(&opening, &[])?;
        recorder.opened();
        let (since, waiting, first) = (Instant::now(), Mutex::default(), Notify::new());
        Some(Self { recorder, opening, id, since, waiting, first })
    }

    /// Takes a frame. Beyond the recorder's bound on bodies no more are kept.
    pub(crate) fn push(&self, from: Side, payload: Payload) {
        let at_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let size = match &payload {
            Payload::Text(text) => text.len(),
            Payload::Binary(bytes) => bytes.len(),
            Payload::Close { .. } => 0,
        };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.full {
            return;
        }
        waiting.bytes += size as u64;
        if waiting.bytes > self.recorder.body_cap() {
            waiting.full = true;
            self.recorder.too_large(&self.opening.url);
            return;
        }
        waiting.frames.push(SocketFrame { at_ms, from, payload }.to_stored());
        if waiting.frames.len() == 1 {
            self.first.notify_one();
        }
    }

    /// Writes what has been gathered, a second after the first of it came, again and again.
    pub(crate) async fn keep_writing(&self) {
        loop {
            self.first.notified().await;
            tokio::time::sleep_until(Instant::now() + GATHER).await;
            self.write();
        }
    }

    fn write(&self) {
        let frames = std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner).frames);
        if !frames.is_empty() {
            self.recorder.append_frames(&self.opening, &self.id, &frames);
        }
    }
}

impl Drop for SocketLog {
    fn drop(&mut self) {
        self.write();
        self.recorder.ended();
    }
}
