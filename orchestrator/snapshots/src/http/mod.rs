//! HTTP/1.1 messages as they lie in a record: head, framing and content codings.
//!
//! Reading is lenient, because what real servers sent is kept as it came: bare line feeds, missing
//! reason phrases, folded lines, bytes that are no text. Writing is strict.

mod chunked;
mod coding;
mod head;

pub use chunked::Dechunk;
pub use coding::{decode_content, decoder};
pub(crate) use head::fields;
pub use head::{
    RequestHead, ResponseHead, find_end, parse_request, parse_response, write_request, write_response,
};

/// The longest message head that is read.
pub const MAX_HEAD: usize = 1 << 20;

/// What is wrong with a stored message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The first line is no request or status line.
    #[error("the first line {0:?} is no HTTP")]
    FirstLine(String),
    /// The head does not end within [`MAX_HEAD`].
    #[error("the head is longer than {MAX_HEAD} bytes")]
    HeadTooLong,
    /// A content coding that is not known here.
    #[error("the content coding {0:?} is unknown")]
    UnknownCoding(String),
    /// The coded bytes are wrong.
    #[error("the {coding} coding is broken: {reason}")]
    BadCoding {
        /// Name of the coding.
        coding: String,
        /// What the decoder said.
        reason: String,
    },
    /// The decoded body is larger than the caller allows.
    #[error("the decoded body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}
