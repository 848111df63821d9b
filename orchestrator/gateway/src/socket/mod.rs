//! WebSockets: recorded frames, forwarding, and playback.

mod play;
mod relay;
mod script;

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::body::Bytes;
pub(crate) use play::{PlaybackContext, play};
pub(crate) use relay::relay;
pub(crate) use script::BY_COUNT;
use snapshots::{Frame, FrameSide};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};

/// The code for a close frame without a code.
const NO_STATUS: u16 = 1005;

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The server.
    Server,
    /// The browser.
    Client,
}

/// The content of a frame. Pings and pongs are answered on each side and never recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// A text message.
    Text(String),
    /// A binary message.
    Binary(Bytes),
    /// A close frame.
    Close {
        /// Status code; 1005 if none was sent.
        code: u16,
        /// Reason, often empty.
        reason: String,
    },
}

/// One recorded message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketFrame {
    /// Milliseconds since the handshake.
    pub at_ms: u64,
    /// The sender.
    pub from: Side,
    /// The message.
    pub payload: Payload,
}

/// A recorded connection ready for playback: the handshake response, and all frames in order.
#[derive(Debug, Clone, Default)]
pub struct SocketScript {
    /// End-to-end headers of the recorded 101 response, with `sec-websocket-protocol` and without
    /// `sec-websocket-accept`.
    pub headers: http::HeaderMap,
    /// The frames in recorded order.
    pub frames: Vec<SocketFrame>,
    /// Which capture it is.
    pub capture: Option<crate::GivenCapture>,
    /// Which of its messages are writes.
    pub writes: MessageWrites,
    /// Other recorded connections that begin with the same frames of the server.
    pub others: Vec<SocketScript>,
}

/// The messages of a connection that may change what its site shows.
#[derive(Debug, Clone, Default)]
pub struct MessageWrites {
    /// The site.
    pub site: String,
    /// The writes that were recorded before the connection was opened.
    pub before: Vec<u32>,
    /// The number of the write that a frame is, by its place among the frames.
    pub by_frame: BTreeMap<usize, u32>,
}

impl SocketFrame {
    /// Parses a line of a snapshot; `None` if it has no payload, or invalid base64.
    pub fn from_stored(frame: &Frame) -> Option<Self> {
        let payload = match (&frame.text, &frame.base64, frame.close) {
            (Some(text), None, None) => Payload::Text(text.clone()),
            (None, Some(base64), None) => {
                Payload::Binary(BASE64_STANDARD.decode(base64).ok()?.into())
            }
            (None, None, Some(code)) => {
                Payload::Close { code, reason: frame.reason.clone().unwrap_or_default() }
            }
            _ => return None,
        };
        let from = match frame.from {
            FrameSide::Server => Side::Server,
            FrameSide::Client => Side::Client,
        };
        Some(Self { at_ms: frame.at_ms, from, payload })
    }

    /// Converts into a line of a snapshot.
    pub fn to_stored(&self) -> Frame {
        let from = match self.from {
            Side::Server => FrameSide::Server,
            Side::Client => FrameSide::Client,
        };
        let mut frame =
            Frame { at_ms: self.at_ms, from, text: None, base64: None, close: None, reason: None };
        match &self.payload {
            Payload::Text(text) => frame.text = Some(text.clone()),
            Payload::Binary(bytes) => frame.base64 = Some(BASE64_STANDARD.encode(bytes)),
            Payload::Close { code, reason } => {
                frame.close = Some(*code);
                frame.reason = Some(reason.clone());
            }
        }
        frame
    }
}

impl Payload {
    /// Converts a message; `None` for messages that are answered on each side.
    fn of(message: &Message) -> Option<Self> {
        match message {
            Message::Text(text) => Some(Payload::Text(text.as_str().to_owned())),
            Message::Binary(bytes) => Some(Payload::Binary(bytes.clone())),
            Message::Close(None) => Some(Payload::Close { code: NO_STATUS, reason: String::new() }),
            Message::Close(Some(close)) => Some(Payload::Close {
                code: close.code.into(),
                reason: close.reason.as_str().to_owned(),
            }),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => None,
        }
    }

    fn into_message(self) -> Message {
        match self {
            Payload::Text(text) => Message::Text(text.into()),
            Payload::Binary(bytes) => Message::Binary(bytes),
            Payload::Close { code: NO_STATUS, .. } => Message::Close(None),
            Payload::Close { code, reason } => Message::Close(Some(CloseFrame {
                code: CloseCode::from(code),
                reason: reason.into(),
            })),
        }
    }
}

/// Limits on the messages of a peer.
fn config(max_message: usize) -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(max_message)).max_frame_size(Some(max_message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_from_a_snapshot() {
        for payload in [
            Payload::Text("grün".into()),
            Payload::Binary(Bytes::from_static(&[0, 255])),
            Payload::Close { code: 1000, reason: "done".into() },
        ] {
            let frame = SocketFrame { at_ms: 7, from: Side::Client, payload };
            assert_eq!(SocketFrame::from_stored(&frame.to_stored()), Some(frame.clone()));
            assert_eq!(Payload::of(&frame.payload.clone().into_message()), Some(frame.payload));
        }
    }

    #[test]
    fn a_line_without_a_payload_is_no_frame() {
        let empty = Frame {
            at_ms: 0,
            from: FrameSide::Server,
            text: None,
            base64: None,
            close: None,
            reason: None,
        };
        assert_eq!(SocketFrame::from_stored(&empty), None);
        assert_eq!(SocketFrame::from_stored(&Frame { base64: Some("?".into()), ..empty }), None);
    }
}
