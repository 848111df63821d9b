//! Reads and writes HAR 1.2, the JSON log that browsers and proxies export, as
//! [`Exchange`](crate::Exchange) values.
//!
//! HAR is a view of the traffic, not the traffic itself. Bodies are usually decoded while the
//! headers still name gzip. HTTP/2 pseudo headers are mixed with real headers. Repeated headers are
//! merged. Some bodies are missing.
//!
//! Reading converts each entry back into an exchange that a server could have sent. Every deviation
//! is reported as a [`Note`] of that entry. Nothing is invented: an entry whose body is not in the
//! log has [`Note::BodyMissing`] and is never presented as an empty response.
//!
//! Entries are read and written one at a time. Memory is bounded by the largest entry, and that by
//! [`Limits`]: its text, the number of its values, the size of its headers, and the body that it
//! names. Pages are kept, so they have a most number. What comes out of a file, log and bodies
//! together, is bounded in proportion to it, and a log is unpacked only while the disk keeps a
//! reserve.
//!
//! Supported dialects: Chrome, Firefox, Safari, Charles, Insomnia, mitmproxy, Playwright (bodies
//! beside the log, or log and bodies in one `.zip`), Polly.js (bodies as lists of hex or base64
//! chunks, header values as lists).

mod attachments;
mod body;
mod convert;
mod error;
#[cfg(test)]
mod limit_tests;
mod messages;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use attachments::Attachments;
pub use convert::{Entry, Note};
pub use error::Error;
pub(crate) use read::MOST_PAGES;
pub use read::{Limits, Log, PageRef, read, read_file};
pub use write::Writer;
