//! State of an application on disk: copied from the golden folder, restored under the running
//! application, and verified.
//!
//! ```text
//! golden folder --copy--> an instance's folder --application writes--> changed --restore--> as golden, by digest
//! ```
//!
//! Databases are restored with SQLite's online backup, which a running application sees as one
//! transaction of another client. Trees are restored by replacing the files that differ. The digest
//! covers every file of the folder, declared or not, except those that the manifest ignores.
//! Changes that a restore does not cover show up as drift.
//!
//! The application can change its folder at any time, also during a restore. So all work on a live
//! state uses handles on folders (`dir`), or the kernel confines it to the files that it needs
//! (`confine`). What no legitimate application needs, such as a link in the place of a database, is
//! [`StateError::Odd`], and the instance is discarded.

mod confine;
mod digest;
mod dir;
#[cfg(test)]
mod hostile;
mod sqlite;
mod temporary;
#[cfg(test)]
mod tests;
mod trees;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
pub use confine::available as confinement;
use digest::Bounds;
pub use digest::{Difference, StateDigest};
pub use dir::Access;
use dir::Dir;
use serde_json::{Map, Value};
pub(crate) use temporary::Temporary;

use crate::manifest::State;

/// The mount point of the state in a container.
pub(crate) const MOUNT: &str = "/state";

/// The reason why state could not be read, copied or restored.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file could not be read or written.
    #[error("{doing} {path}: {source}")]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A database could not be read or restored.
    #[error("{doing} the database {path}: {source}")]
    Sqlite {
        /// The operation.
        doing: &'static str,
        /// The database.
        path: Utf8PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// The state contains an entry that no legitimate application needs.
    #[error("use {path}: {what}")]
    Odd {
        /// The path of the entry.
        path: Utf8PathBuf,
        /// The kind of the file.
        what: String,
    },
    /// The kernel cannot confine work on a database to that database.
    #[error(
        "open the databases of a site safely: {why}; Linux 5.13 or later with Landlock is needed"
    )]
    Unconfined {
        /// The missing file or capability.
        why: String,
    },
    /// A path of the manifest is not below the state folder.
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
        move |source| match sqlite::is_odd(&source) {
            true => StateError::Odd { path, what: format!("{doing}: {source}") },
            false => StateError::Sqlite { doing, path, source },
        }
    }

    /// Describes the application's change if that change prevents the restore. Failures of the
    /// machine or of the golden state stay errors.
    ///
    /// # Errors
    /// The error itself if the application did not cause it.
    pub(crate) fn into_drift(self) -> Result<String, StateError> {
        use io::ErrorKind::{
            AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound,
            PermissionDenied,
        };
        match self {
            StateError::Odd { path, what } => Ok(format!("{path}: {what}")),
            // The entry appeared or disappeared between two checks.
            StateError::Io { doing, path, source }
                if matches!(
                    source.kind(),
                    AlreadyExists
                        | DirectoryNotEmpty
                        | IsADirectory
                        | NotADirectory
                        | NotFound
                        | PermissionDenied
                ) =>
            {
                Ok(format!("{doing} {path}: {source}"))
            }
            error => Err(error),
        }
    }

    /// Whether the cause is a missing file.
    fn is_absence(&self) -> bool {
        matches!(self, StateError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// The role of each path of a state folder, relative to the folder.
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
        Ok(Layout {
            sqlite: all(&state.sqlite)?,
            trees: all(&state.trees)?,
            ignore: all(&state.ignore)?,
        })
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

/// The path relative to the state folder.
pub(crate) fn relative(path: &Utf8Path) -> Result<Utf8PathBuf, StateError> {
    let outside = || StateError::Outside { path: path.to_owned() };
    let below = match path.is_absolute() {
        true => path.strip_prefix(MOUNT).map_err(|_| outside())?,
        false => path,
    };
    let leads_out =
        below.components().any(|part| !matches!(part, camino::Utf8Component::Normal(_)));
    if leads_out || below.as_str().is_empty() { Err(outside()) } else { Ok(below.to_owned()) }
}

/// The state of one instance, which its application changes.
#[derive(Debug, Clone)]
pub struct Live {
    /// The folder. Only we can replace it.
    pub folder: Utf8PathBuf,
    /// The users who can access the files that are written to it.
    pub access: Access,
}

impl Live {
    /// Runs a read-only query on a database; each row is an object of its columns. `parameters` are
    /// bound to those that the query names; others are ignored.
    ///
    /// # Errors
    /// When the database cannot be opened or the query is invalid.
    pub fn query(
        &self,
        database: &Utf8Path,
        query: &str,
        parameters: &Map<String, Value>,
    ) -> Result<Vec<Value>, StateError> {
        sqlite::query(&Dir::open(&self.folder)?, database, query, parameters)
    }
}

/// The state at the start of every episode.
#[derive(Debug)]
pub struct Golden {
    folder: Dir,
    layout: Layout,
    digest: StateDigest,
}

impl Golden {
    /// Declares a folder as golden. From now on nobody may change it. The logs of its databases are
    /// merged into them.
    ///
    /// # Errors
    /// When it cannot be read, or contains entries that no state can have.
    pub fn open(folder: &Utf8Path, layout: Layout) -> Result<Golden, StateError> {
        let folder = Dir::open(folder)?;
        for database in &layout.sqlite {
            sqlite::settle(&folder, database)?;
        }
        let digest = StateDigest::of_golden(&folder, &layout)?;
        Ok(Golden { folder, layout, digest })
    }

    /// The digest of a pristine instance.
    pub fn digest(&self) -> &StateDigest {
        &self.digest
    }

    /// Creates the state of a new instance in a folder that does not exist yet or is empty.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn copy_to(&self, live: &Live) -> Result<(), StateError> {
        std::fs::create_dir_all(&live.folder).map_err(StateError::io("create", &live.folder))?;
        let to = Dir::open(&live.folder)?;
        to.give(live.access)?;
        trees::copy(&self.folder, &to, live.access)
    }

    /// Restores the state under a running application.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the application holds a lock on a database.
    /// [`StateError::Odd`] when the application's changes cannot be undone.
    pub fn restore(&self, live: &Live) -> Result<(), StateError> {
        let folder = Dir::open(&live.folder)?;
        for database in &self.layout.sqlite {
            sqlite::restore(&self.folder, &folder, database, live.access)?;
        }
        let keep = |path: &Utf8Path| {
            self.layout.is_ignored(path)
                || self.layout.is_beside_database(path)
                || self.layout.sqlite.iter().any(|database| database == path)
        };
        let mut restoring = trees::TreeRestore { keep: &keep, access: live.access, most: REMOVED };
        self.layout
            .trees
            .iter()
            .try_for_each(|tree| restoring.restore_at(&self.folder, &folder, tree))
    }

    /// The digest of an instance's state.
    ///
    /// # Errors
    /// When a file cannot be read. [`StateError::Odd`] when there is too much data, or an entry
    /// that no state can have.
    pub fn digest_of(&self, live: &Live) -> Result<StateDigest, StateError> {
        let folder = Dir::open(&live.folder)?;
        let bounds = Bounds::around(&self.digest);
        StateDigest::of(&folder, &self.layout, bounds, &|database| {
            sqlite::digest(&folder, database, bounds.bytes)
        })
    }
}

/// The bytes that a folder and everything below it occupy on disk; a value above `most` if it is
/// more.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn disk_usage(folder: &Utf8Path, most: u64) -> Result<u64, StateError> {
    Dir::open(folder)?.disk_usage(most, digest::DEEPEST)
}

/// Removes a folder with everything below it, if it exists. Whatever it contains, nothing outside
/// is changed.
///
/// # Errors
/// When something cannot be removed.
pub(crate) fn remove_folder(folder: &Utf8Path) -> Result<(), StateError> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(()) };
    let mut all = usize::MAX;
    match Dir::open(parent) {
        Ok(parent) => parent.remove(name.as_ref(), &mut all),
        Err(error) if error.is_absence() => Ok(()),
        Err(error) => Err(error),
    }
}

/// The maximum number of entries that a restore removes. For more, replacing the instance is
/// faster.
const REMOVED: usize = 20_000;
