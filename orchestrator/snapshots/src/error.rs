//! Errors of reading and writing snapshots.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::collection::CollectionFlaw;

/// Why a snapshot could not be read or written. Every message reads after "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the operating system.
    #[error("{action} {path}")]
    Io {
        /// The attempted action, as a verb.
        action: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The object at an address cannot be read.
    #[error(transparent)]
    Remote(#[from] object_files::Error),
    /// The format of the file is not supported.
    #[error("open {path}: neither WACZ, WARC nor ARC (it starts with {start})")]
    UnknownFormat {
        /// The file.
        path: Utf8PathBuf,
        /// Its first bytes, escaped.
        start: String,
    },
    /// One record cannot be read; the records after it may still be fine.
    #[error("read the record at offset {offset} of {segment}: {damage}")]
    Damaged {
        /// Name of the WARC or ARC stream.
        segment: String,
        /// Where the damage starts in that stream.
        offset: u64,
        /// What is wrong.
        #[source]
        damage: Damage,
        /// Where reading continues, if anything readable follows.
        resumes_at: Option<u64>,
    },
    /// A record reference that does not belong to this archive.
    #[error("read a record of segment {segment}: the archive has {segments}")]
    NoSuchSegment {
        /// The requested segment.
        segment: u32,
        /// The number of segments.
        segments: usize,
    },
    /// The ZIP container or one of its entries is invalid.
    #[error("read {path}: {reason}")]
    Container {
        /// The WACZ file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A collection is invalid, or its members are not what it lists.
    #[error("read the collection {path}: {flaw}")]
    Collection {
        /// The collection.
        path: Utf8PathBuf,
        /// What is wrong with it.
        flaw: CollectionFlaw,
    },
    /// A collection was given where one archive is needed.
    #[error(
        "open {path}: it is a collection of WACZ files; `sandbox snapshot merge` makes one file of it"
    )]
    IsCollection {
        /// The collection.
        path: Utf8PathBuf,
    },
    /// A text file inside the snapshot has an invalid line.
    #[error("read line {line} of {name}: {reason}")]
    Line {
        /// The file inside the snapshot.
        name: String,
        /// Line number, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A stored HTTP message is invalid.
    #[error("read an HTTP message: {0}")]
    Http(#[from] crate::http::HttpError),
    /// Something exceeds a limit of this reader.
    #[error("read {what}: larger than {limit} bytes")]
    TooLarge {
        /// What was being read.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// The output file of a recording already exists.
    #[error("record into {path}: the file exists; --force replaces it")]
    Exists {
        /// The file that would have been overwritten.
        path: Utf8PathBuf,
    },
    /// An earlier recording into the same file was never finished.
    #[error(
        "record into {path}: {folder} holds an unfinished recording of {bytes} bytes; make a snapshot of what it \
         holds with `sandbox snapshot repair {path}`, or let a crawl go on with --resume"
    )]
    LeftOver {
        /// The output file.
        path: Utf8PathBuf,
        /// The folder of the unfinished recording.
        folder: Utf8PathBuf,
        /// Size of its data.
        bytes: u64,
    },
    /// The written file does not read back correctly.
    #[error("verify {path}: {reason}")]
    Verification {
        /// The written file.
        path: Utf8PathBuf,
        /// The first difference.
        reason: String,
    },
    /// A date that is neither RFC 3339 nor a 14 or 17 digit time.
    #[error("read the date {text:?}")]
    Date {
        /// What was found.
        text: String,
    },
}

impl Error {
    /// An error of the operating system from doing `action` to `path`.
    pub(crate) fn io(action: &'static str, path: &Utf8Path, source: io::Error) -> Error {
        Error::Io { action, path: path.to_owned(), source }
    }

    /// Whether there is no such file or object.
    pub(crate) fn is_not_found(&self) -> bool {
        match self {
            Error::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Error::Remote(error) => error.is_not_found(),
            _ => false,
        }
    }

    /// Whether reading may continue after this error.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::Damaged { .. })
    }
}

/// What is wrong with one record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The record header is invalid.
    #[error("the record header is wrong: {0}")]
    Head(String),
    /// The header never ends within the limit.
    #[error("the record header is longer than {limit} bytes")]
    HeadTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The gzip member cannot be inflated or its checksum is wrong.
    #[error("the gzip member is broken: {0}")]
    Gzip(String),
    /// There are fewer bytes than the header declares.
    #[error("the record should have {expected} bytes, only {found} are there")]
    Truncated {
        /// The length in the header.
        expected: u64,
        /// The number of bytes that could be read.
        found: u64,
    },
    /// There are more bytes than the header declares, and they are not a record.
    #[error("{bytes} bytes that belong to no record")]
    Stray {
        /// How many.
        bytes: u64,
    },
    /// A gzip member holds several records, so that they cannot be accessed by offset.
    #[error(
        "one gzip member holds several records; the file must be recompressed, one member for each record"
    )]
    SharedMember,
    /// The operating system failed to read.
    #[error("reading failed: {0}")]
    Io(String),
}
