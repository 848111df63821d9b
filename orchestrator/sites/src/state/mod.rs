//! State of an application on disk: copied out of the golden folder, put back under the running
//! application, and proved.
//!
//! ```text
//! golden folder --copy--> a copy's folder --application writes--> changed --restore--> as golden, by digest
//! ```
//!
//! Databases are put back by SQLite's own online backup, which a running application sees as one
//! transaction of somebody else's; trees by replacing the files that differ. The digest covers
//! every file of the folder, declared or not, but for what the manifest says to ignore: what a
//! restore does not reach shows as drift.
//!
//! The application changes its folder as it likes, also while we are in it. So all work on a live
//! state goes through handles on folders (`dir`), or is held by the kernel to the files that it
//! is about (`confine`). What no application needs, such as a link in the place of a database,
//! is [`StateError::Odd`], and costs the copy.

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
    /// An application has made something of its state that no application needs.
    #[error("use {path}: {what}")]
    Odd {
        /// Where.
        path: Utf8PathBuf,
        /// What it is.
        what: String,
    },
    /// The kernel cannot keep work on a database to that database.
    #[error("open the databases of a site safely: {why}; Linux 5.13 or later with Landlock is needed")]
    Unconfined {
        /// What is missing.
        why: String,
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
        move |source| match sqlite::is_odd(&source) {
            true => StateError::Odd { path, what: format!("{doing}: {source}") },
            false => StateError::Sqlite { doing, path, source },
        }
    }

    /// What the application has made of its state, where that is why it cannot be put back: what is
    /// not a failure of the machine or of the golden state's.
    ///
    /// # Errors
    /// The error itself where it is no work of the application.
    pub(crate) fn into_drift(self) -> Result<String, StateError> {
        use io::ErrorKind::{
            AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        };
        match self {
            StateError::Odd { path, what } => Ok(format!("{path}: {what}")),
            // It came or went between two looks.
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

    /// Whether something is not there.
    fn is_absence(&self) -> bool {
        matches!(self, StateError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
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

/// The state of one copy, which its application changes.
#[derive(Debug, Clone)]
pub struct Live {
    /// The folder. Nobody but us can exchange it for something else.
    pub folder: Utf8PathBuf,
    /// Who may use what is put into it.
    pub access: Access,
}

impl Live {
    /// Asks a database that it cannot change; each row is an object of its columns. `parameters`
    /// fill those that the query names, and may be more.
    ///
    /// # Errors
    /// When the database cannot be opened or the query is no query.
    pub fn query(
        &self,
        database: &Utf8Path,
        query: &str,
        parameters: &Map<String, Value>,
    ) -> Result<Vec<Value>, StateError> {
        sqlite::query(&Dir::open(&self.folder)?, database, query, parameters)
    }
}

/// The state that every episode starts from.
#[derive(Debug)]
pub struct Golden {
    folder: Dir,
    layout: Layout,
    digest: StateDigest,
}

impl Golden {
    /// Takes a folder as golden. From now on nobody may change it; what stands in the logs of its
    /// databases is moved into them.
    ///
    /// # Errors
    /// When it cannot be read, or holds what no state can have.
    pub fn open(folder: &Utf8Path, layout: Layout) -> Result<Golden, StateError> {
        let folder = Dir::open(folder)?;
        for database in &layout.sqlite {
            sqlite::settle(&folder, database)?;
        }
        let digest = StateDigest::of_golden(&folder, &layout)?;
        Ok(Golden { folder, layout, digest })
    }

    /// What a pristine copy's digest is.
    pub fn digest(&self) -> &StateDigest {
        &self.digest
    }

    /// Makes the state of a new copy in a folder that does not exist yet or is empty.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn copy_to(&self, live: &Live) -> Result<(), StateError> {
        std::fs::create_dir_all(&live.folder).map_err(StateError::io("create", &live.folder))?;
        let to = Dir::open(&live.folder)?;
        to.give(live.access)?;
        trees::copy(&self.folder, &to, live.access)
    }

    /// Puts the state back below a running application.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the application holds a database locked.
    /// [`StateError::Odd`] where the application has made of it what cannot be put back.
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
        self.layout.trees.iter().try_for_each(|tree| restoring.restore_at(&self.folder, &folder, tree))
    }

    /// The digest of a copy's state.
    ///
    /// # Errors
    /// When a file cannot be read. [`StateError::Odd`] where there is too much or no state can have
    /// it.
    pub fn digest_of(&self, live: &Live) -> Result<StateDigest, StateError> {
        let folder = Dir::open(&live.folder)?;
        let bounds = Bounds::around(&self.digest);
        StateDigest::of(&folder, &self.layout, bounds, &|database| {
            sqlite::digest(&folder, database, bounds.bytes)
        })
    }
}

/// The bytes that a folder and all that is below it occupy on the disk, or more than `most` if it
/// is more.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn disk_usage(folder: &Utf8Path, most: u64) -> Result<u64, StateError> {
    Dir::open(folder)?.disk_usage(most, digest::DEEPEST)
}

/// Removes a folder with all that is below it, if it is there. Whatever stands in it, nothing
/// outside is touched.
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

/// How many entries a restore removes at most. A copy with more is quicker replaced.
const REMOVED: usize = 20_000;
