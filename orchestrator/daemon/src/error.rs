//! The errors of the daemon and its client.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

/// An error in starting or reaching the daemon. The messages read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another daemon holds the folder.
    #[error("start the sites: another daemon is already running")]
    AlreadyUp,
    /// No daemon listens on the socket.
    #[error("reach the daemon: none is running")]
    NotUp,
    /// The path of the socket is too long.
    #[error(
        "make a socket at {path}: its path is longer than {most} bytes; choose a shorter data folder"
    )]
    PathTooLong {
        /// The path.
        path: Utf8PathBuf,
        /// The maximum length in bytes.
        most: usize,
    },
    /// A file of the daemon's folder cannot be read or written.
    #[error("{doing} {path}: {source}")]
    File {
        /// The operation.
        doing: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The daemon cannot listen on the address for full resets.
    #[error("listen on {address}: {source}; `--reset-listen` takes another address")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// There is no port for a site's own address.
    #[error("open an address for {site}: {source}")]
    Open {
        /// The name of the instance.
        site: String,
        /// The cause.
        source: io::Error,
    },
    /// The gateway did not start.
    #[error(transparent)]
    Gateway(#[from] gateway::StartError),
    /// A header field of a log-in is invalid.
    #[error(transparent)]
    Header(#[from] gateway::BadHeader),
    /// A host of a manifest is invalid.
    #[error(transparent)]
    Host(#[from] gateway::BadPattern),
    /// An operation on the sites failed.
    #[error(transparent)]
    Sites(#[from] sites::Error),
    /// An image is not on this machine, and the engine cannot be asked for it.
    #[error(transparent)]
    Images(#[from] container_images::Error),
    /// Sites that have to be started lack an image.
    #[error("start {sites}: there are no images of them; {}", crate::startable::BUILD)]
    NoImages {
        /// Their names.
        sites: String,
    },
    /// The container engine cannot be reached to remove left-over resources.
    #[error(
        "remove the containers and networks of the sites: {}; once the engine answers, remove them with `sandbox down`",
        error_text::with_causes(source)
    )]
    NotSwept {
        /// The cause.
        source: container_images::engine::Error,
    },
    /// The container engine fails to remove left-over resources.
    #[error("remove the containers that were left")]
    Sweep {
        /// The cause.
        source: sites::Error,
    },
    /// The connection broke, or another version of the daemon responded.
    #[error("talk to the daemon: {0}")]
    Talk(String),
    /// The daemon cannot respond because something is missing: its container engine.
    #[error("{0}")]
    Lacks(String),
    /// The wait for the daemon's process failed.
    #[error("wait for the background process: {source}")]
    Process {
        /// The cause.
        source: io::Error,
    },
    /// The daemon's process has ended before its sites were up. Its log says why.
    #[error("start the sites: the background process has ended")]
    Ended {
        /// Its exit code, if it had one.
        code: Option<i32>,
    },
    /// The sites take too long.
    #[error("start the sites within {within:?}")]
    NotSettled {
        /// The time that was spent waiting.
        within: Duration,
    },
    /// The daemon takes too long to end.
    #[error("stop the sites within {within:?}; run `sandbox down` again")]
    NotEnded {
        /// The time that was spent waiting.
        within: Duration,
    },
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
