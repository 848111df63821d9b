//! A snapshot with its index, uploaded to an object store, so that replay reads from there only
//! what it needs.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use error_text::with_causes;
use object_files::Address;
use serde::Serialize;

use crate::collection::{Collection, files_of};
use crate::index::{BESIDE, BuildProgress, Index, ReplaySet};

/// Why a snapshot cannot be uploaded.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// It cannot be read or indexed, or has a name that no object can have.
    #[error("push {file}")]
    Snapshot {
        /// The snapshot.
        file: Utf8PathBuf,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// One of its files cannot be read.
    #[error("read {file}")]
    Read {
        /// The file.
        file: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// An object would be replaced.
    #[error("push to {to}: there is an object; --force replaces it")]
    Occupied {
        /// The object.
        to: Address,
    },
    /// The server does not say what is there.
    #[error(transparent)]
    Remote(#[from] object_files::Error),
    /// The server does not take it.
    #[error("{}; what was uploaded until then is there; push again with --force", with_causes(.0))]
    Upload(object_files::Error),
}

/// What was uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PushReport {
    /// The address of the snapshot.
    pub address: String,
    /// Archives and, for a collection, its list.
    pub files: usize,
    /// Bytes of those.
    pub bytes: u64,
    /// Bytes of their indexes.
    pub index_bytes: u64,
}

/// A file and its place.
#[derive(Debug)]
struct Upload {
    from: Utf8PathBuf,
    to: Address,
    bytes: u64,
    is_index: bool,
}

/// What is to be uploaded. Archives come before their indexes, and the list of a collection comes
/// last.
#[derive(Debug)]
pub struct Push {
    to: Address,
    uploads: Vec<Upload>,
}

impl Push {
    /// The files of a snapshot, with their indexes in the folder `indexes`; those that are not
    /// there are built, of which `on` is told.
    ///
    /// # Errors
    /// When it cannot be read or indexed, or has a name that no object can have.
    pub fn of(
        file: &Utf8Path,
        to: Address,
        indexes: &Utf8Path,
        on: &mut dyn FnMut(BuildProgress),
    ) -> Result<Push, PushError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| PushError::Snapshot {
            file: file.to_owned(),
            source,
        };
        ReplaySet::open(&[file.to_owned()], Some(indexes), &mut |_, at| on(at))
            .map_err(|error| failed(error.into()))?;
        let is_collection = Collection::is_json(file).map_err(|error| failed(error.into()))?;
        let folder = file.parent().unwrap_or(Utf8Path::new(""));
        let mut uploads = Vec::new();
        let mut add = |from: &Utf8Path, to: Address, is_index: bool| -> Result<(), PushError> {
            let read = |source| PushError::Read { file: from.to_owned(), source };
            let bytes = from.metadata().map_err(read)?.len();
            uploads.push(Upload { from: from.to_owned(), to, bytes, is_index });
            Ok(())
        };
        for file in files_of(file).map_err(|error| failed(error.into()))? {
            let to = if is_collection {
                let path = file.strip_prefix(folder).unwrap_or(&file);
                to.beside(path.as_str()).map_err(|error| failed(error.into()))?
            } else {
                to.clone()
            };
            add(&file, to.clone(), false)?;
            let index = to.with_end(BESIDE).map_err(|error| failed(error.into()))?;
            add(&Index::sidecar(&file, indexes), index, true)?;
        }
        // Last, because whoever opens it expects its members to be there.
        if is_collection {
            add(file, to.clone(), false)?;
        }
        Ok(Push { to, uploads })
    }

    /// How many bytes there are in all.
    pub fn bytes(&self) -> u64 {
        self.uploads.iter().map(|upload| upload.bytes).sum()
    }

    /// Fails where an object would be replaced, which may be a member of another collection.
    ///
    /// # Errors
    /// Then, and when the server does not say what is there.
    pub fn check_free(&self) -> Result<(), PushError> {
        for Upload { to, .. } in self.uploads.iter().filter(|upload| !upload.is_index) {
            if object_files::length(to)?.is_some() {
                return Err(PushError::Occupied { to: to.clone() });
            }
        }
        Ok(())
    }

    /// Uploads. `sent` is told of bytes that were handed to the server.
    ///
    /// # Errors
    /// When the server does not take something.
    pub fn send(self, sent: &mut dyn FnMut(u64)) -> Result<PushReport, PushError> {
        for Upload { from, to, .. } in &self.uploads {
            object_files::upload(from, to, sent).map_err(PushError::Upload)?;
        }
        let of = |index: bool| self.uploads.iter().filter(move |one| one.is_index == index);
        Ok(PushReport {
            address: self.to.to_string(),
            files: of(false).count(),
            bytes: of(false).map(|one| one.bytes).sum(),
            index_bytes: of(true).map(|one| one.bytes).sum(),
        })
    }
}
