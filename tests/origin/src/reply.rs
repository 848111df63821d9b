//! What a site answers, before validators and content encoding are applied.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use hyper::body::Bytes;
use serde::Serialize;

/// An answer in the making.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The header fields set by the site.
    pub headers: HeaderMap,
    /// What follows the head.
    pub content: Content,
}

/// The part of an answer after its head.
#[derive(Debug, Clone)]
pub enum Content {
    /// Known in full: sent with a length, an `ETag`, and encoded when the client allows.
    Whole(Bytes),
    /// Sent piece by piece without a length (chunked on HTTP/1.1), each after a pause.
    Pieces(Vec<Piece>),
    /// A WebSocket on which the server sends these messages and then listens until the client
    /// leaves.
    WebSocket(Vec<Piece>),
}

/// One piece of a stream.
#[derive(Debug, Clone)]
pub struct Piece {
    /// How long after the piece before it.
    pub after: Duration,
    /// The bytes, or the text of a WebSocket message.
    pub data: Bytes,
}

impl Piece {
    /// A piece `after_ms` milliseconds after the one before.
    pub fn new(after_ms: u64, data: impl Into<Bytes>) -> Piece {
        Piece { after: Duration::from_millis(after_ms), data: data.into() }
    }

    /// Waits until the piece is due.
    #[expect(
        clippy::disallowed_methods,
        reason = "a live source speaks at its own pace; the pause is what is served"
    )]
    pub(crate) async fn due(&self) {
        tokio::time::sleep(self.after).await;
    }
}

impl Reply {
    /// An answer with a body of a given media type.
    pub fn of(media_type: &'static str, body: impl Into<Bytes>) -> Reply {
        Reply::with_content(media_type, Content::Whole(body.into()))
    }

    /// An answer with any content.
    pub fn with_content(media_type: &'static str, content: Content) -> Reply {
        let mut headers = HeaderMap::new();
        if !media_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        Reply { status: StatusCode::OK, headers, content }
    }

    /// A page that must be asked for again each time, if only to hear that it has not changed.
    pub fn html(body: String) -> Reply {
        Reply::of("text/html; charset=utf-8", body).header(header::CACHE_CONTROL, "no-cache")
    }

    /// A JSON document that is never stored.
    pub fn json(value: &impl Serialize) -> Reply {
        match serde_json::to_vec(value) {
            Ok(body) => {
                Reply::of("application/json", body).header(header::CACHE_CONTROL, "no-store")
            }
            Err(_) => Reply::status(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// An empty answer.
    pub fn status(status: StatusCode) -> Reply {
        let mut reply = Reply::with_content("", Content::Whole(Bytes::new()));
        reply.status = status;
        reply
    }

    /// A redirect.
    pub fn redirect(status: StatusCode, location: &str) -> Reply {
        Reply::status(status).header(header::LOCATION, location)
    }

    /// The same answer under another status.
    #[must_use]
    pub fn under(mut self, status: StatusCode) -> Reply {
        self.status = status;
        self
    }

    /// Adds a header field; a value that no header may carry is left out.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Reply {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.append(name, value);
        }
        self
    }

    /// Adds the fields that let pages of `origin` read this answer.
    #[must_use]
    pub fn readable_by(self, origin: &str) -> Reply {
        self.header(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin).header(header::VARY, "Origin")
    }

    /// The whole body; empty for streams.
    pub fn body(&self) -> &[u8] {
        match &self.content {
            Content::Whole(body) => body,
            Content::Pieces(_) | Content::WebSocket(_) => &[],
        }
    }
}
