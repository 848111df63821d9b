//! The errors of a suite on disk.

use camino::Utf8PathBuf;
use thiserror::Error as ThisError;

/// Why a suite could not be loaded. Every text starts with the file and, where there is one, the
/// line.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read, or does not hold what it should.
    #[error(transparent)]
    File(#[from] yaml::Error),
    /// Two files claim one id.
    #[error("{second}: task id `{id}` is taken by {first}")]
    DuplicateId {
        id: String,
        /// The file that was read first.
        first: Utf8PathBuf,
        /// The file that repeats it.
        second: Utf8PathBuf,
    },
    /// A version of snapshots that have none.
    #[error(
        "{path}: there is no version {version}, as its snapshots have no versions; write {{date}} into their names \
         under `world`"
    )]
    NoVersions {
        /// The suite.
        path: Utf8PathBuf,
        /// The day that was named.
        version: jiff::civil::Date,
    },
    /// A folder with a world and nothing to do in it.
    #[error("{path}: there is no task; write the file of one beside suite.yaml")]
    NoTasks {
        /// The folder.
        path: Utf8PathBuf,
    },
}
