//! Answers from snapshots.

use hyper::body::Bytes;

use crate::{Answer, Episode, Reply, RequestHead, body, socket::SocketScript};

/// A set of snapshots to answer from. Without any, everything is a miss.
#[derive(Debug, Default)]
pub struct Replay {}

impl Replay {
    /// Answers one request, or says that it was never recorded. Blocking, but only for a few reads of local files.
    pub fn answer(&self, _head: &RequestHead, _body: &Bytes, _episode: &Episode) -> Reply {
        Reply {
            status: http::StatusCode::NOT_FOUND,
            headers: http::HeaderMap::new(),
            body: body::empty(),
            answer: Answer::Miss { near: Vec::new() },
        }
    }

    /// The recorded WebSocket connection that a handshake asks for: `Ok` with what the ledger should say, or the refusal to send.
    pub fn socket(&self, head: &RequestHead, episode: &Episode) -> Result<(SocketScript, Answer), Reply> {
        Err(self.answer(head, &Bytes::new(), episode))
    }
}
