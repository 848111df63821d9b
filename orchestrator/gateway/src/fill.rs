//! Fill mode: a request that the snapshots do not hold is fetched from the live web once and
//! recorded. Repetitions are answered from that recording.
//!
//! ```text
//!  request ── snapshots ──────────────────────────> Reply
//!                 └ miss ── requested before? ── the recording so far ──> Reply
//!                                  └ no ─────────────────┴ not in it ──> live web, recorded
//! ```
//!
//! The recording is indexed again only when a request is repeated and the recording has grown since
//! the last indexing. This is rare, because most requests are never repeated. It is fast, because
//! only the heads of the records are read.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use hyper::body::Bytes;
use parking_lot::Mutex;
use snapshots::index::{IndexError, ReplaySet, SOCKET, site_of};
use snapshots::matching::{self, Key, ReplayRequest};

use crate::replay::{Replay, StatePolicy, replay_request};
use crate::socket::SocketScript;
use crate::{Answer, Episode, Recorder, Reply, RequestHead, Visit};

/// Snapshots, and the recording that receives what they lack.
pub struct Fill {
    replay: Replay,
    recorder: Arc<Recorder>,
    /// Whether everything is live.
    whole: bool,
    fetched: Mutex<FetchedPart>,
}

/// What has been fetched so far.
#[derive(Default)]
struct FetchedPart {
    /// The requests sent to the live web.
    sent: HashSet<Key>,
    /// The recording at the time of the last repeated request, and its length at that time.
    replay: Option<(u64, Arc<Replay>)>,
}

impl Fill {
    /// Answers from `replay`. Misses are fetched and recorded by `recorder`. The states of sites do
    /// not count: what is done goes to the live web in part.
    pub fn new(replay: Replay, recorder: Arc<Recorder>) -> Self {
        Fill {
            replay: replay.with_states(StatePolicy::Order),
            recorder,
            whole: false,
            fetched: Mutex::default(),
        }
    }

    /// The same for episodes that are visits, of which all writes go to the live web: so the states
    /// of sites count until then.
    pub fn of_visits(replay: Replay, recorder: Arc<Recorder>) -> Self {
        Fill { replay, recorder, whole: false, fetched: Mutex::default() }
    }

    /// The same, which answers nothing from the snapshots: all is recorded from start to end.
    pub fn whole(self) -> Self {
        Fill { whole: true, ..self }
    }

    /// Whether a request goes to the live web whatever was recorded. In a visit writes do, and then
    /// all of their site: what was recorded is of another state.
    pub(crate) fn is_live(
        &self,
        visit: Option<&Arc<Visit>>,
        head: &RequestHead,
        body: &Bytes,
    ) -> bool {
        let has_written =
            |visit: &Arc<Visit>| visit.has_written(&site_of(&head.host)) || head.may_change(body);
        self.whole || visit.is_some_and(has_written)
    }

    /// The recorder of fetched responses.
    pub fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Answers one request. The caller must fetch a miss. Blocking.
    pub fn answer(&self, head: &RequestHead, body: &Bytes, episode: &Episode) -> Reply {
        let reply = self.replay.answer(head, body, episode);
        if !matches!(reply.answer, Answer::Miss { .. }) {
            return reply;
        }
        match self.fetched(&replay_request(head, body)) {
            // Captures are named by their numbers in the snapshots, not in what is being recorded.
            Some(replay) => Reply { capture: None, ..replay.answer(head, body, episode) },
            None => reply,
        }
    }

    /// The recorded WebSocket connection for a handshake. The caller must open a missing one live.
    /// Blocking.
    pub fn socket(
        &self,
        head: &RequestHead,
        episode: &Episode,
    ) -> Result<(SocketScript, Answer), Box<Reply>> {
        self.replay.socket(head, episode).or_else(|reply| {
            match self.fetched(&ReplayRequest::bare(SOCKET, &head.url)) {
                Some(replay) if matches!(reply.answer, Answer::Miss { .. }) => {
                    let (script, answer) = replay.socket(head, episode)?;
                    // Captures and writes are named by their numbers in the snapshots.
                    let SocketScript { headers, frames, .. } = script;
                    Ok((SocketScript { headers, frames, ..SocketScript::default() }, answer))
                }
                _ => Err(reply),
            }
        })
    }

    /// The recording so far, if this request or a similar one was sent before.
    fn fetched(&self, request: &ReplayRequest<'_>) -> Option<Arc<Replay>> {
        let mut fetched = self.fetched.lock();
        let (exact, normalised) = (matching::exact(request), matching::normalised(request).0);
        let new = [fetched.sent.insert(exact), fetched.sent.insert(normalised)];
        if new == [true, true] {
            return None;
        }
        let recording = self.recorder.recording()?;
        let bytes = recording.bytes();
        // Nothing was recorded since this was opened.
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
