//! A recorded WebSocket played back to a client.
//!
//! The server's frames up to the client's next one go out at once; then the client's turn is awaited. What the client sends is taken for its next
//! recorded frame whether it is equal or not, as there is nothing better to go by; if it is not, the ledger says so. The recorded times are not
//! waited for: a page under virtual time would not notice them.

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, protocol::Role},
};
use tokio_util::sync::CancellationToken;

use super::{From, Payload, SocketFrame, config};
use crate::{Activity, Answer, Entry, Ledger};

/// What the ledger calls a frame that differed.
const BY_COUNT: &str = "websocket-frame-by-count";

/// Plays `frames` to a client until it closes, or the gateway ends.
pub(crate) async fn play(
    client: Upgraded,
    frames: Vec<SocketFrame>,
    max_message: usize,
    notes: Notes<'_>,
    cut: &CancellationToken,
) {
    let socket =
        WebSocketStream::from_raw_socket(TokioIo::new(client), Role::Server, Some(config(max_message))).await;
    tokio::select! {
        () = turns(socket, frames, notes) => {}
        () = cut.cancelled() => {}
    }
}

/// Where a playback reports to.
pub(crate) struct Notes<'a> {
    pub(crate) activity: &'a Activity,
    pub(crate) ledger: &'a Ledger,
    pub(crate) url: &'a str,
}

async fn turns(mut socket: WebSocketStream<TokioIo<Upgraded>>, frames: Vec<SocketFrame>, notes: Notes<'_>) {
    let mut frames = frames.into_iter().peekable();
    loop {
        let mut turn = Vec::new();
        while let Some(frame) = frames.next_if(|frame| frame.from == From::Server) {
            turn.push(frame.payload.into_message());
        }
        let due = Due::new(notes.activity, turn.len());
        for message in turn {
            let closing = message.is_close();
            if socket.send(message).await.is_err() || closing {
                // After a close the client's answer is read, so that it sees an orderly end.
                drop(due);
                while let Some(Ok(_)) = socket.next().await {}
                return;
            }
        }
        drop(due);
        let Some(said) = client_says(&mut socket).await else { return };
        match frames.next() {
            Some(expected) if expected.payload == said => {}
            Some(_) => notes.differed(&said, Answer::Normalised { rules: vec![BY_COUNT.to_owned()] }),
            None => notes.differed(&said, Answer::Miss { near: Vec::new() }),
        }
    }
}

/// The client's next text or binary message; `None` when it closes.
async fn client_says(socket: &mut WebSocketStream<TokioIo<Upgraded>>) -> Option<Payload> {
    loop {
        match socket.next().await? {
            Ok(Message::Close(_)) | Err(_) => {
                while let Some(Ok(_)) = socket.next().await {}
                return None;
            }
            Ok(message) => {
                if let Some(payload) = Payload::of(&message) {
                    return Some(payload);
                }
            }
        }
    }
}

impl Notes<'_> {
    fn differed(&self, said: &Payload, answer: Answer) {
        let bytes = match said {
            Payload::Text(text) => text.len(),
            Payload::Binary(bytes) => bytes.len(),
            Payload::Close { .. } => 0,
        };
        tracing::warn!(url = self.url, bytes, "a WebSocket frame is not the recorded one");
        self.ledger.push(Entry {
            seq: self.ledger.next_seq(),
            method: "FRAME".to_owned(),
            url: self.url.to_owned(),
            status: 0,
            answer,
            bytes: bytes as u64,
            destination: Some("websocket".to_owned()),
        });
    }
}

/// Frames counted as due until sent or given up.
struct Due<'a> {
    activity: &'a Activity,
    frames: usize,
}

impl<'a> Due<'a> {
    fn new(activity: &'a Activity, frames: usize) -> Self {
        activity.due(frames);
        Self { activity, frames }
    }
}

impl Drop for Due<'_> {
    fn drop(&mut self) {
        self.activity.delivered(self.frames);
    }
}
