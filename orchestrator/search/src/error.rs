//! The errors of this crate.

use camino::Utf8PathBuf;

/// Why recorded pages cannot be searched. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] snapshots::index::IndexError),
    /// The index cannot be created or read.
    #[error("search the recorded pages by their index {path}, which is built again if you remove it")]
    Database {
        /// The index.
        path: Utf8PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A file cannot be written.
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
