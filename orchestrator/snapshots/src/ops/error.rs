//! Errors that prevent an operation on snapshots. Flaws *in* a snapshot are in the operation's
//! report instead.

use std::io;

use camino::Utf8PathBuf;

/// Why an operation failed. Every message reads after "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A snapshot could not be read or written.
    #[error(transparent)]
    Snapshot(#[from] crate::Error),
    /// A HAR could not be read or written.
    #[error(transparent)]
    Har(#[from] crate::har::Error),
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
    /// The output already exists.
    #[error("write {path}: it exists; --force replaces it")]
    Exists {
        /// The file or folder that would have been overwritten.
        path: Utf8PathBuf,
    },
    /// There is no input.
    #[error("{action}: no input was given")]
    NoInput {
        /// The operation.
        action: &'static str,
    },
    /// The input contains nothing to keep.
    #[error("{action} {path}: it holds no whole record")]
    Nothing {
        /// The operation.
        action: &'static str,
        /// The input.
        path: Utf8PathBuf,
    },
    /// A split would make too many files.
    #[error(
        "split {path}: it would make {count} files, and a collection has at most {most}; split by date"
    )]
    TooManyParts {
        /// The input.
        path: Utf8PathBuf,
        /// How many files it would make.
        count: usize,
        /// How many a collection can have.
        most: usize,
    },
    /// The input is a WARC or ARC file, but the result can only be stored in a WACZ.
    #[error("write the rules of {path}: it is no WACZ; `sandbox snapshot import` makes one of it")]
    NoPackage {
        /// The input.
        path: Utf8PathBuf,
    },
    /// No entry of the HAR can be replayed.
    #[error("import {path}: none of its {entries} entries can be replayed: {reason}")]
    NothingToReplay {
        /// The HAR.
        path: Utf8PathBuf,
        /// The number of its entries.
        entries: u64,
        /// What the entries lack, and what to do.
        reason: String,
    },
    /// The input is damaged; only `repair` continues after damage.
    #[error("read {path}: {damage}; `repair` keeps what is whole")]
    Damaged {
        /// The input.
        path: Utf8PathBuf,
        /// The first damage found.
        damage: String,
    },
    /// A value to be redacted is too short to be distinguished from ordinary text.
    #[error("redact {name}: the value has fewer than {least} bytes and would match everywhere")]
    ShortSecret {
        /// The name of the value.
        name: String,
        /// The minimum length.
        least: usize,
    },
    /// After redaction, the result still contains a value.
    #[error(
        "redact {path}: {count} places still hold a value that was to be removed, the first in {place}"
    )]
    StillThere {
        /// The result, which was not kept.
        path: Utf8PathBuf,
        /// The number of places.
        count: u64,
        /// The first place.
        place: String,
    },
}

impl Error {
    pub(super) fn io(action: &'static str, path: &camino::Utf8Path, source: io::Error) -> Error {
        Error::Io { action, path: path.to_owned(), source }
    }
}
