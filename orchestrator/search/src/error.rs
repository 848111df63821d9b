//! The errors of this crate.

use camino::Utf8PathBuf;

/// Why recorded pages cannot be searched. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] snapshots::index::IndexError),
    /// The index has changed since it was opened. It is built again by the next search.
    #[error("search the recorded pages by their index {path}: {part} is damaged")]
    Damaged {
        /// The index.
        path: Utf8PathBuf,
        /// What is damaged in it.
        part: &'static str,
    },
    /// A file cannot be read or written.
    #[error("{action} {path}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The path of the file.
        path: Utf8PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}
