//! Errors of building and reading an index.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::table::ReadError;

/// Why an index could not be built or read. Every message reads after "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The archive itself cannot be read.
    #[error(transparent)]
    Archive(#[from] crate::Error),
    /// An error of the operating system.
    #[error("{action} {path}")]
    Io {
        /// The attempted action, as a verb.
        action: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Some bytes of the index have changed since they were written.
    #[error("read the index {path}: {part} is damaged; remove the file and it is built again")]
    Damaged {
        /// The index file.
        path: Utf8PathBuf,
        /// The damaged part.
        part: &'static str,
    },
}

impl IndexError {
    pub(super) fn io(
        action: &'static str,
        path: &Utf8Path,
    ) -> impl FnOnce(io::Error) -> IndexError {
        let path = path.to_owned();
        move |source| IndexError::Io { action, path, source }
    }

    pub(super) fn reading(
        path: &Utf8Path,
        part: &'static str,
    ) -> impl FnOnce(ReadError) -> IndexError {
        let path = path.to_owned();
        move |error| match error {
            ReadError::Io(source) => IndexError::Io { action: "read", path, source },
            ReadError::Damaged => IndexError::Damaged { path, part },
        }
    }
}
