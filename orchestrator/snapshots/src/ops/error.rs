//! Why an operation on snapshots could not be done at all. What it finds wrong *in* a snapshot
//! stands in its report.

use std::io;

use camino::Utf8PathBuf;

/// Why an operation failed. Every text reads after "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A snapshot could not be read or written.
    #[error(transparent)]
    Snapshot(#[from] crate::Error),
    /// A HAR could not be read or written.
    #[error(transparent)]
    Har(#[from] crate::har::Error),
    /// The operating system refused.
    #[error("{action} {path}")]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// The file it was attempted on.
        path: Utf8PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The target is there already.
    #[error("write {path}: it exists; --force replaces it")]
    Exists {
        /// The file or folder that would have been overwritten.
        path: Utf8PathBuf,
    },
    /// Nothing was given to work on.
    #[error("{action}: no input was given")]
    NoInput {
        /// The operation.
        action: &'static str,
    },
    /// The input holds nothing that could be kept.
    #[error("{action} {path}: it holds no whole record")]
    Nothing {
        /// The operation.
        action: &'static str,
        /// The input.
        path: Utf8PathBuf,
    },
    /// A WARC or ARC file, where only a WACZ has what is to be written.
    #[error("write the rules of {path}: it is no WACZ; `sandbox snapshot import` makes one of it")]
    NoPackage {
        /// The input.
        path: Utf8PathBuf,
    },
    /// A HAR of which no entry can be replayed.
    #[error("import {path}: none of its {entries} entries can be replayed: {reason}")]
    NothingToReplay {
        /// The HAR.
        path: Utf8PathBuf,
        /// Its entries.
        entries: u64,
        /// What they lack, and what to do.
        reason: String,
    },
    /// A damaged input, where only `repair` goes on.
    #[error("read {path}: {damage}; `repair` keeps what is whole")]
    Damaged {
        /// The input.
        path: Utf8PathBuf,
        /// The first damage found.
        damage: String,
    },
    /// A value to be redacted is too short to be told from ordinary text.
    #[error("redact {name}: the value has fewer than {least} bytes and would match everywhere")]
    ShortSecret {
        /// Which value was meant.
        name: String,
        /// The least length.
        least: usize,
    },
    /// After redaction, a value was still found in the result.
    #[error("redact {path}: {count} places still hold a value that was to be removed, the first in {place}")]
    StillThere {
        /// The result, which was not kept.
        path: Utf8PathBuf,
        /// How many places.
        count: u64,
        /// The first of them.
        place: String,
    },
}

impl Error {
    pub(super) fn io(action: &'static str, path: &camino::Utf8Path, source: io::Error) -> Error {
        Error::Io { action, path: path.to_owned(), source }
    }
}
