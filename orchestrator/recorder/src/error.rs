//! Errors of recordings.

use camino::Utf8PathBuf;

/// An error that ends a recording. A page that does not load is not an error but an
/// [`crate::Event`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The snapshot cannot be written.
    #[error(transparent)]
    Snapshot(#[from] snapshots::Error),
    /// The gateway cannot be started.
    #[error(transparent)]
    Gateway(#[from] gateway::StartError),
    /// The browser cannot be started or is gone.
    #[error(transparent)]
    Browser(#[from] browser::Error),
    /// The journal of a crawl cannot be read or written.
    #[error("write the visits to {path}: {source}")]
    Journal {
        /// The file.
        path: Utf8PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The parts of a recording cannot become one snapshot.
    #[error("join the rounds into {output}: {source}")]
    Join {
        /// The snapshot.
        output: Utf8PathBuf,
        /// Why not.
        source: snapshots::ops::Error,
    },
    /// A file beside a recording.
    #[error("{doing}: {source}")]
    File {
        /// The operation on it.
        doing: String,
        /// Why it could not.
        source: std::io::Error,
    },
    /// A page did not load a second time.
    #[error("load the page again: {0}")]
    Reload(String),
    /// Connections that outlived the gateway still hold the recording. It stays on disk as an
    /// unfinished one.
    #[error("close the recording: connections still write to it")]
    Closed,
}
