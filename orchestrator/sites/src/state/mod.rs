//! State of an application on disk: copied out of the golden folder, put back under the running application, and proved.
//!
//! ```text
//! golden folder --copy--> a copy's folder --application writes--> changed --restore--> as golden, by digest
//! ```
//!
//! Databases are put back by SQLite's own online backup, which a running application sees as one transaction of somebody
//! else's; trees by replacing the files that differ. The digest covers every file of the folder, declared or not, but for
//! what the manifest says to ignore: what a restore does not reach shows as drift.

mod digest;
mod sqlite;
#[cfg(test)]
mod tests;
mod trees;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

pub use digest::{Difference, StateDigest};
pub use sqlite::query;

use crate::manifest::State;

/// Where a container finds its state.
pub(crate) const MOUNT: &str = "/state";

/// Why state could not be read, copied or put back.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file could not be read or written.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With which file.
        path: Utf8PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A database could not be read or put back.
    #[error("{doing} the database {path}: {source}")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// The database.
        path: Utf8PathBuf,
        /// Why it failed.
        source: rusqlite::Error,
    },
    /// A path of the manifest is not below the folder of the state.
    #[error("read state: `{path}` is not below {MOUNT}")]
    Outside {
        /// The path.
        path: Utf8PathBuf,
    },
}

impl StateError {
    fn io(doing: &'static str, path: &Utf8Path) -> impl FnOnce(io::Error) -> StateError {
        let path = path.to_owned();
        move |source| StateError::Io { doing, path, source }
    }

    fn sqlite(doing: &'static str, path: &Utf8Path) -> impl FnOnce(rusqlite::Error) -> StateError {
        let path = path.to_owned();
        move |source| StateError::Sqlite { doing, path, source }
    }
}

/// What of a state folder is what, in paths relative to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    sqlite: Vec<Utf8PathBuf>,
    trees: Vec<Utf8PathBuf>,
    ignore: Vec<Utf8PathBuf>,
}

impl Layout {
    /// The layout that a manifest declares.
    ///
    /// # Errors
    /// When a path is absolute and not below `/state`, or leads out of it.
    pub fn of(state: &State) -> Result<Layout, StateError> {
        let all = |paths: &[Utf8PathBuf]| -> Result<Vec<Utf8PathBuf>, StateError> {
            paths.iter().map(|path| relative(path)).collect()
        };
        Ok(Layout { sqlite: all(&state.sqlite)?, trees: all(&state.trees)?, ignore: all(&state.ignore)? })
    }

    fn is_ignored(&self, path: &Utf8Path) -> bool {
        self.ignore.iter().any(|own| path.starts_with(own))
    }

    /// Whether the file belongs to a database, as its log or journal.
    fn is_beside_database(&self, path: &Utf8Path) -> bool {
        let beside = |database: &Utf8PathBuf| {
            path.as_str()
                .strip_prefix(database.as_str())
                .is_some_and(|rest| matches!(rest, "-wal" | "-shm" | "-journal"))
        };
        self.sqlite.iter().any(beside)
    }
}

/// The path below the folder of the state.
pub(crate) fn relative(path: &Utf8Path) -> Result<Utf8PathBuf, StateError> {
    let outside = || StateError::Outside { path: path.to_owned() };
    let below = match path.is_absolute() {
        true => path.strip_prefix(MOUNT).map_err(|_| outside())?,
        false => path,
    };
    let leads_out = below.components().any(|part| !matches!(part, camino::Utf8Component::Normal(_)));
    if leads_out || below.as_str().is_empty() { Err(outside()) } else { Ok(below.to_owned()) }
}

/// The state that every episode starts from.
#[derive(Debug)]
pub struct Golden {
    folder: Utf8PathBuf,
    layout: Layout,
    digest: StateDigest,
}

impl Golden {
    /// Takes a folder as golden. It is not changed, now or later.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(folder: &Utf8Path, layout: Layout) -> Result<Golden, StateError> {
        let digest = StateDigest::of(folder, &layout)?;
        Ok(Golden { folder: folder.to_owned(), layout, digest })
    }

    /// What a pristine copy's digest is.
    pub fn digest(&self) -> &StateDigest {
        &self.digest
    }

    /// Makes the state of a new copy in a folder that does not exist yet or is empty.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn copy_to(&self, folder: &Utf8Path) -> Result<(), StateError> {
        trees::copy(&self.folder, folder)
    }

    /// Puts the state back below a running application.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the application holds a database locked.
    pub fn restore(&self, folder: &Utf8Path) -> Result<(), StateError> {
        for database in &self.layout.sqlite {
            sqlite::restore(&self.folder.join(database), &folder.join(database))?;
        }
        for tree in &self.layout.trees {
            trees::restore(&self.folder.join(tree), &folder.join(tree), &|path| {
                let below = path.strip_prefix(folder).unwrap_or(path);
                self.layout.is_ignored(below)
                    || self.layout.is_beside_database(below)
                    || self.layout.sqlite.iter().any(|database| database == below)
            })?;
        }
        Ok(())
    }

    /// The digest of a copy's state.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn digest_of(&self, folder: &Utf8Path) -> Result<StateDigest, StateError> {
        StateDigest::of(folder, &self.layout)
    }
}
