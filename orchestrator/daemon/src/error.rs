//! Errors between a command and the daemon.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

/// Why the daemon cannot be started or reached. Texts read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process holds the folder.
    #[error("start the sites: another daemon is already running")]
    AlreadyUp,
    /// Nobody listens on the socket.
    #[error("reach the daemon: none is running")]
    NotUp,
    /// The socket cannot be made where it should be.
    #[error("make a socket at {path}: its path is longer than {most} bytes; choose a shorter data folder")]
    PathTooLong {
        /// The path.
        path: Utf8PathBuf,
        /// What is possible.
        most: usize,
    },
    /// A file of the daemon's folder.
    #[error("{doing} {path}: {source}")]
    File {
        /// What was being done.
        doing: &'static str,
        /// With which file.
        path: Utf8PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The address for full resets cannot be listened on.
    #[error("listen on {address}: {source}; `--reset-listen` takes another address")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The gateway did not start.
    #[error(transparent)]
    Gateway(#[from] gateway::StartError),
    /// A header field of a log-in.
    #[error(transparent)]
    Header(#[from] gateway::BadHeader),
    /// A host of a manifest.
    #[error(transparent)]
    Host(#[from] gateway::BadPattern),
    /// The sites.
    #[error(transparent)]
    Sites(#[from] sites::Error),
    /// The daemon went away, or another version of it answered.
    #[error("talk to the daemon: {0}")]
    Talk(String),
    /// The daemon cannot answer without something that is missing: its container engine.
    #[error("{0}")]
    Lacks(String),
    /// The daemon refused the request.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    pub(crate) fn file(doing: &'static str, path: &Utf8Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { doing, path, source }
    }
}
