//! HAR 1.2, the JSON log that browsers and proxies export, to and from
//! [`Exchange`](crate::Exchange).
//!
//! HAR is a view of the traffic and not the traffic: bodies are usually decoded while the headers
//! still speak of gzip, HTTP/2 pseudo headers stand among the real ones, repeated headers are
//! folded together, and some bodies are simply absent. Reading turns each entry back into an
//! exchange that a server could have sent, and every liberty taken on the way is a [`Note`] of that
//! entry; nothing is invented. An entry whose body the log does not hold says so
//! ([`Note::BodyMissing`]) and is never passed off as an empty answer.
//!
//! Entries are read and written one at a time. Memory is bounded by the largest entry, and that by
//! [`Limits`].
//!
//! Dialects known: Chrome, Firefox, Safari, Charles, Insomnia, mitmproxy, Playwright (bodies beside
//! the log, or log and bodies in one `.zip`), Polly.js (bodies as lists of hex or base64 chunks,
//! header values as lists).

mod attachments;
mod body;
mod convert;
mod error;
mod messages;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use attachments::Attachments;
pub use convert::{Entry, Note};
pub use error::Error;
pub use read::{Limits, Log, PageRef, read, read_file};
pub use write::Writer;
