//! Errors outside of requests. Failures of requests are pages: see `web::Failure`.

use std::io;
use std::path::PathBuf;

/// Why a golden database, an instance or a folder cannot be created, restored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder of golden databases, or a file in it, cannot be written.
    #[error("write the golden database {path}: {source}")]
    Golden {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A folder of files cannot be listed.
    #[error("list the files of {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A folder is not `data_files` of the package whose tasks the service desk takes, or a file in
    /// it is missing or invalid.
    #[error(
        "read {path}: {reason} (give the folder of the package browsergym-workarena, which \"pip \
         install browsergym-workarena\" makes)"
    )]
    ServiceDesk {
        /// The folder, or a file in it.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder has no valid tasks.
    #[error(transparent)]
    Tasks(#[from] turkingbench::Error),
    /// SQLite reported an error.
    #[error("{doing}: {source}")]
    Sqlite {
        /// The operation, such as "put the golden state back".
        doing: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A backup ended before its last page.
    #[error("put the golden state back: SQLite stopped with {step:?}")]
    Unfinished {
        /// The last step's result.
        step: rusqlite::backup::StepResult,
    },
    /// A scorer's query is not one read-only statement.
    #[error("run the query: {0}")]
    Query(String),
    /// A template or seed that is part of this program is invalid.
    #[error("load the site's own {what}: {reason}")]
    BuiltIn {
        /// Which part.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// Adds the operation to an error of SQLite.
pub(crate) fn sqlite(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
    move |source| Error::Sqlite { doing, source }
}
