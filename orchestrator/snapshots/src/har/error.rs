//! Errors of HAR files, with the entry's number and its position in the text.

use std::io;

use camino::Utf8PathBuf;

/// Why a HAR could not be read or written.
///
/// Entries are counted from 1, as in a viewer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file, or a body file beside it, could not be opened or read.
    #[error("read {path}: {source}")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Invalid JSON, or JSON with another structure than HAR.
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
    /// JSON without the object `log`.
    #[error("read the HAR: the document has no `log` object with `entries`")]
    NoLog,
    /// One entry has the right structure, but its values are not a valid exchange.
    #[error("read entry {entry} of the HAR: {field} {reason}")]
    Entry {
        /// Number of the entry, from 1.
        entry: u64,
        /// The invalid field, by its HAR name.
        field: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// An entry exceeds the reader's size limit.
    #[error("read entry {entry} of the HAR: it is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Number of the entry, from 1.
        entry: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// What comes out of the file is too much for its size.
    #[error("read the HAR: log and bodies, all together, are larger than {limit} bytes")]
    AllTogether {
        /// The limit in bytes.
        limit: u64,
    },
    /// The log lists too many pages.
    #[error("read the HAR: it lists more than {most} pages, or more than {bytes} bytes of them")]
    TooManyPages {
        /// The maximum number of pages.
        most: usize,
        /// The maximum size of their texts.
        bytes: usize,
    },
    /// A body file beside the log is missing, or its name points outside.
    #[error("read the body {name:?} of entry {entry} of the HAR: {reason}")]
    Attachment {
        /// Number of the entry, from 1.
        entry: u64,
        /// The name in the entry.
        name: String,
        /// Why it was rejected.
        reason: String,
    },
    /// A `.zip` that contains no HAR, or is broken.
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
        /// The error of the operating system.
        source: io::Error,
    },
    /// The HAR could not be written.
    #[error("write the HAR: {0}")]
    Write(#[source] io::Error),
}

fn in_entry(entry: Option<u64>) -> String {
    entry.map(|n| format!(", in entry {n}")).unwrap_or_default()
}
