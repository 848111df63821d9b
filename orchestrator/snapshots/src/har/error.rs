//! What can be wrong with a HAR file, said with the entry's number and its place in the text.

use std::io;

use camino::Utf8PathBuf;

/// Why a HAR could not be read or written.
///
/// Entries are counted from 1, as a person counts them in a viewer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file, or a file of bodies beside it, could not be opened or read.
    #[error("read {path}: {source}")]
    File {
        /// The file asked for.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not JSON, or JSON of another shape than HAR has.
    #[error("read the HAR at line {line} column {column}{}: {reason}", in_entry(*.entry))]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1; 0 at the end of a line.
        column: usize,
        /// The entry being read, if any.
        entry: Option<u64>,
        /// What was expected and what was found.
        reason: String,
    },
    /// JSON without the object `log`, which makes a HAR.
    #[error("read the HAR: the document has no `log` object with `entries`")]
    NoLog,
    /// One entry is JSON of the right shape, but its values cannot be an exchange.
    #[error("read entry {entry} of the HAR: {field} {reason}")]
    Entry {
        /// Number of the entry, from 1.
        entry: u64,
        /// The field at fault, as HAR names it.
        field: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// An entry is larger than the reader was allowed to hold.
    #[error("read entry {entry} of the HAR: it is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Number of the entry, from 1.
        entry: u64,
        /// The limit that it passed, in bytes.
        limit: u64,
    },
    /// A body kept in a file beside the log is not there, or its name leads elsewhere.
    #[error("read the body {name:?} of entry {entry} of the HAR: {reason}")]
    Attachment {
        /// Number of the entry, from 1.
        entry: u64,
        /// The name that the entry gives.
        name: String,
        /// Why it cannot be taken.
        reason: String,
    },
    /// A `.zip` that holds no HAR, or is broken.
    #[error("read the HAR in {path}: {reason}")]
    Zip {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A body to be exported could not be read.
    #[error("read the body of {url}: {source}")]
    Body {
        /// URL of the exchange.
        url: String,
        /// What the system said.
        source: io::Error,
    },
    /// The HAR could not be written.
    #[error("write the HAR: {0}")]
    Write(#[source] io::Error),
}

fn in_entry(entry: Option<u64>) -> String {
    entry.map(|n| format!(", in entry {n}")).unwrap_or_default()
}
