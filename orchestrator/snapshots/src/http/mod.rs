//! Parses and writes stored HTTP/1.1 messages: head, framing and content codings.
//!
//! Parsing is lenient, because a record keeps what a real server sent: bare line feeds, missing
//! reason phrases, folded lines, bytes that are not text. Writing is strict.

mod chunked;
mod coding;
mod head;

pub use chunked::Dechunk;
pub use coding::{decode_content, decoder};
pub(crate) use head::fields;
pub use head::{
    RequestHead, ResponseHead, find_end, parse_request, parse_response, write_request,
    write_response,
};

/// The maximum size of a message head.
pub const MAX_HEAD: usize = 1 << 20;

/// Why a stored message is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The first line is not a request or status line.
    #[error("the first line {0:?} is no HTTP")]
    FirstLine(String),
    /// The head does not end within [`MAX_HEAD`].
    #[error("the head is longer than {MAX_HEAD} bytes")]
    HeadTooLong,
    /// An unsupported content coding.
    #[error("the content coding {0:?} is unknown")]
    UnknownCoding(String),
    /// The coded bytes are invalid.
    #[error("the {coding} coding is broken: {reason}")]
    BadCoding {
        /// Name of the coding.
        coding: String,
        /// The decoder's error.
        reason: String,
    },
    /// The decoded body is larger than the caller allows.
    #[error("the decoded body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}
