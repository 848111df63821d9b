//! Errors about folders of tasks.

use std::io;

use camino::Utf8PathBuf;

/// Why tasks cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The path.
        path: Utf8PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder has no tasks.
    #[error(
        "find tasks in {path}: no folder there has a template.html and a batch.csv; name the benchmark's repository, or its folder `tasks`"
    )]
    Empty {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// Two tasks have the same slug.
    #[error("tell {one} and {other} apart: both have the URL `{slug}`; rename one of the folders")]
    Alike {
        /// The first task.
        one: String,
        /// The second task.
        other: String,
        /// The slug of both.
        slug: String,
    },
    /// A table is invalid.
    #[error("read {path}, line {line}: {reason}")]
    Table {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error there.
        reason: String,
    },
    /// The list of a split's tasks cannot be read.
    #[error(
        "read {path}: {source}; a split needs the benchmark's whole repository, with the folder `data/splits` beside `tasks`"
    )]
    Split {
        /// The list.
        path: Utf8PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
