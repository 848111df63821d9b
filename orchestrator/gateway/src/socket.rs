//! WebSocket frames as a snapshot keeps them.

use hyper::body::Bytes;

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum From {
    /// The web site.
    Server,
    /// The browser.
    Client,
}

/// What a frame carries. Pings and pongs are answered on each side and never kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// A text message.
    Text(String),
    /// A binary message.
    Binary(Bytes),
    /// The closing handshake.
    Close {
        /// Status code, 1005 where none was sent.
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
    pub from: From,
    /// The message.
    pub payload: Payload,
}

/// A recorded connection, ready to be played back: the handshake's answer and every frame in order.
#[derive(Debug, Clone, Default)]
pub struct SocketScript {
    /// End-to-end headers of the recorded 101 answer, `sec-websocket-protocol` among them, `sec-websocket-accept` not.
    pub headers: http::HeaderMap,
    /// The frames in recorded order.
    pub frames: Vec<SocketFrame>,
}
