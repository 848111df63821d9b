//! What can go wrong outside a request. A request's failures are pages; see `web::Failure`.

use std::io;
use std::path::PathBuf;

/// Why a golden database, a copy or a folder could not be had, put back or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder for golden databases, or a file in it, could not be written.
    #[error("write the golden database {path}: {source}")]
    Golden {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder of files could not be listed.
    #[error("list the files of {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder of tasks is none.
    #[error(transparent)]
    Tasks(#[from] turkingbench::Error),
    /// SQLite refused.
    #[error("{doing}: {source}")]
    Sqlite {
        /// What was being done, as in "put the golden state back".
        doing: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A backup ended before its last page.
    #[error("put the golden state back: SQLite stopped with {step:?}")]
    Unfinished {
        /// Where it stopped.
        step: rusqlite::backup::StepResult,
    },
    /// A query of a scorer that is not one read-only statement.
    #[error("run the query: {0}")]
    Query(String),
    /// A page or seed that is part of this program is broken.
    #[error("load the site's own {what}: {reason}")]
    BuiltIn {
        /// Which part.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// Names what was being done when SQLite refused.
pub(crate) fn sqlite(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
    move |source| Error::Sqlite { doing, source }
}
