//! The errors of moving runs to and from an object store.

use camino::Utf8PathBuf;

/// An error in moving a run to its address, or from there. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's error.
    #[error(transparent)]
    Remote(#[from] object_files::Error),
    /// There is no run.
    #[error("find a run: there is none at {address}")]
    NoRun {
        /// The address.
        address: String,
    },
    /// There is no run to open.
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
    /// The user has interrupted it.
    #[error("go on: interrupted")]
    Interrupted,
    /// A name at the address that no file of a run can have.
    #[error("read {address}: {path:?} is no name of a file in a run")]
    Name {
        /// The address of the run.
        address: String,
        /// The name.
        path: String,
    },
    /// A file of the folder cannot be read or written.
    #[error("{doing} {path}")]
    Local {
        /// The operation, as a verb.
        doing: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The error.
        source: std::io::Error,
    },
}
