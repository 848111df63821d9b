//! What may be wrong with a folder of tasks.

use std::io;

use camino::Utf8PathBuf;

/// Why tasks cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// Which.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No task is in the folder.
    #[error(
        "find tasks in {path}: no folder there has a template.html and a batch.csv; name the benchmark's repository, or its folder `tasks`"
    )]
    Empty {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// Two tasks would have one address.
    #[error("tell {one} and {other} apart: both are `{slug}` in addresses; rename one of the folders")]
    Alike {
        /// A task.
        one: String,
        /// Another.
        other: String,
        /// What both become.
        slug: String,
    },
    /// A table is not one.
    #[error("read {path}, line {line}: {reason}")]
    Table {
        /// The file.
        path: Utf8PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// There is no list of the tasks of a split.
    #[error(
        "read {path}: {source}; a split needs the benchmark's whole repository, with the folder `data/splits` beside `tasks`"
    )]
    Split {
        /// The list.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
