//! What can go wrong.

use camino::Utf8PathBuf;

/// Why pages cannot be searched. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] snapshots::index::IndexError),
    /// The index cannot be made or read.
    #[error("search the recorded pages by their index {path}, which is made again once it is removed")]
    Database {
        /// The index.
        path: Utf8PathBuf,
        /// Why not.
        source: rusqlite::Error,
    },
    /// A file cannot be written.
    #[error("{action} {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: Utf8PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}
