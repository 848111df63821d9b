//! Filling: what snapshots do not hold is fetched from the live web once, recorded, and from then
//! on answered from the recording.
//!
//! ```text
//!  request ── snapshots ──────────────────────────> Reply
//!                 └ miss ── asked for before? ── the recording so far ──> Reply
//!                                  └ no ─────────────────┴ not in it ──> live web, recorded
//! ```
//!
//! The recording is indexed anew when something in it is asked for again that came after the last
//! time: seldom, as most requests are never repeated, and quick, as only the records' heads are
//! read.

use std::{collections::HashSet, fmt, sync::Arc};

use hyper::body::Bytes;
use parking_lot::Mutex;
use snapshots::{
    index::{IndexError, ReplaySet, SOCKET},
    matching::{self, Key, ReplayRequest},
};

use crate::{
    Answer, Episode, Recorder, Reply, RequestHead,
    replay::{Replay, asked},
    socket::SocketScript,
};

/// Snapshots, and the recording that takes what is missing from them.
pub struct Fill {
    replay: Replay,
    recorder: Arc<Recorder>,
    fetched: Mutex<FetchedPart>,
}

/// What has been fetched so far.
#[derive(Default)]
struct FetchedPart {
    /// What was asked of the live web.
    asked: HashSet<Key>,
    /// The recording at the time of the last repeated request, and its length then.
    replay: Option<(u64, Arc<Replay>)>,
}

impl Fill {
    /// Answers from `replay`; what it does not hold is fetched and kept by `recorder`.
    pub fn new(replay: Replay, recorder: Arc<Recorder>) -> Self {
        Fill { replay, recorder, fetched: Mutex::default() }
    }

    /// Who keeps what is fetched.
    pub fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Answers one request; a miss is to be fetched. Blocking.
    pub fn answer(&self, head: &RequestHead, body: &Bytes, episode: &Episode) -> Reply {
        let reply = self.replay.answer(head, body, episode);
        if !matches!(reply.answer, Answer::Miss { .. }) {
            return reply;
        }
        match self.fetched(&asked(head, body)) {
            Some(replay) => replay.answer(head, body, episode),
            None => reply,
        }
    }

    /// The recorded WebSocket connection that a handshake asks for; a miss is to be opened.
    /// Blocking.
    pub fn socket(
        &self,
        head: &RequestHead,
        episode: &Episode,
    ) -> Result<(SocketScript, Answer), Box<Reply>> {
        self.replay.socket(head, episode).or_else(|reply| {
            match self.fetched(&ReplayRequest::bare(SOCKET, &head.url)) {
                Some(replay) if matches!(reply.answer, Answer::Miss { .. }) => replay.socket(head, episode),
                _ => Err(reply),
            }
        })
    }

    /// What was fetched so far, if this request or one like it was asked before.
    fn fetched(&self, asked: &ReplayRequest<'_>) -> Option<Arc<Replay>> {
        let mut fetched = self.fetched.lock();
        let (exact, normalised) = (matching::exact(asked), matching::normalised(asked).0);
        let new = [fetched.asked.insert(exact), fetched.asked.insert(normalised)];
        if new == [true, true] {
            return None;
        }
        let recording = self.recorder.recording()?;
        let bytes = recording.bytes();
        if let Some((read, replay)) = &fetched.replay
            && *read == bytes
        {
            return Some(Arc::clone(replay));
        }
        let opened: Result<ReplaySet, IndexError> =
            ReplaySet::open(&[recording.data_path()], None, &mut |_, _| {});
        let set = opened
            .inspect_err(|error| {
                let error = error_text::with_causes(error);
                tracing::warn!(%error, "failed to look into the recording; the live web is asked once more");
            })
            .ok()?;
        let replay = Arc::new(Replay::new(set, self.replay.options()));
        fetched.replay = Some((bytes, Arc::clone(&replay)));
        Some(replay)
    }
}

impl fmt::Debug for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fill").field("replay", &self.replay).finish_non_exhaustive()
    }
}
