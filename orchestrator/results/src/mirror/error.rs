//! Why a run does not get to an object store, or from there.

use camino::Utf8PathBuf;

/// Why a run cannot be brought to its address, or from there. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store.
    #[error(transparent)]
    Remote(#[from] object_files::Error),
    /// There is no run.
    #[error("find a run: there is none at {address}")]
    NoRun {
        /// The address.
        address: String,
    },
    /// There is no run to be opened.
    #[error("open the run: there is none at {address}")]
    NothingToOpen {
        /// The address.
        address: String,
    },
    /// The address is none of an object store.
    #[error("write to {address}: only s3:// can be written to; web servers are read from")]
    ReadOnly {
        /// The address.
        address: Utf8PathBuf,
    },
    /// There is a run already, and it was not to be continued.
    #[error(
        "start the run: {address} has one already; continue it with --resume, or name another --output"
    )]
    HasRun {
        /// The address.
        address: Utf8PathBuf,
    },
    /// The folder has a run that did not get to the address, and it was not to be continued.
    #[error(
        "start the run: {folder} has one that did not get to {address}; continue it with --resume, or remove the folder"
    )]
    NotUploaded {
        /// The folder.
        folder: Utf8PathBuf,
        /// The address.
        address: Utf8PathBuf,
    },
    /// It was stopped.
    #[error("go on: interrupted")]
    Interrupted,
    /// A name at the address that no file of a run has.
    #[error("read {address}: {path:?} is no name of a file in a run")]
    Name {
        /// The address of the run.
        address: String,
        /// The name.
        path: String,
    },
    /// A file of the folder.
    #[error("{doing} {path}")]
    Local {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The error.
        source: std::io::Error,
    },
}
