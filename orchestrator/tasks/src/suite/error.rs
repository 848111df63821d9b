//! What can be wrong with a suite on disk.

use std::io;

use camino::Utf8PathBuf;
use thiserror::Error as ThisError;

/// Why a suite could not be loaded. Every text starts with the file and, where there is one, the line.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The file or folder cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// What was to be read.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is larger than any task file has reason to be.
    #[error("{path}: {size} bytes, more than the {limit} a task file may have")]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
    /// Not YAML, an unknown or missing key, or a value of the wrong type or without sense.
    #[error("{path}{}: {message}", position(*line, *column))]
    Format {
        /// The file.
        path: Utf8PathBuf,
        /// Counted from 1; 0 when the whole file is meant.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong, starting with the path of keys where it is known.
        message: String,
    },
    /// Two files claim one id.
    #[error("{second}: task id `{id}` is taken by {first}")]
    DuplicateId {
        /// The id.
        id: String,
        /// The file that was read first.
        first: Utf8PathBuf,
        /// The file that repeats it.
        second: Utf8PathBuf,
    },
    /// A folder with a world and nothing to do in it.
    #[error("{path}: no task files beside suite.yaml")]
    NoTasks {
        /// The folder.
        path: Utf8PathBuf,
    },
}

fn position(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!(":{line}:{column}") }
}
