//! Golden databases: a site's pristine state as a file, generated once and opened ever after.
//!
//! ```text
//! absent -> generated in memory -> vacuumed -> written beside -> renamed into place -> opened read-only
//! ```
//!
//! A file's name carries the digest of what it was generated from, so a new version of the site never reads an old
//! version's state, and two processes that generate at once write the same bytes.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;

use crate::Error;
use crate::error::sqlite;
use crate::store::{Digest, Store};

/// A folder of golden databases.
#[derive(Debug, Clone)]
pub struct Golden {
    folder: PathBuf,
    /// Of the files that were copied before.
    digests: Arc<Mutex<HashMap<PathBuf, Digest>>>,
}

/// How a site's golden database comes to be.
pub(crate) struct Recipe {
    /// The site's name.
    pub(crate) site: &'static str,
    /// Changes whenever the result would.
    pub(crate) version: String,
    /// Fills an empty database.
    pub(crate) fill: fn(&Connection) -> Result<(), Error>,
}

impl Golden {
    /// Uses `folder`, made where it is missing. Databases are generated in it when they are first asked for.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|source| Error::Golden { path: folder.clone(), source })?;
        Ok(Self { folder, digests: Arc::default() })
    }

    /// A new copy of the golden database of `recipe`.
    pub(crate) fn copy(&self, recipe: &Recipe) -> Result<Store, Error> {
        let path = self.database(recipe)?;
        let known = self.digests().get(&path).copied();
        let store = Store::open(&path, known)?;
        self.digests().insert(path, store.pristine());
        Ok(store)
    }

    fn digests(&self) -> MutexGuard<'_, HashMap<PathBuf, Digest>> {
        self.digests.lock()
    }

    /// The golden database's file, generated first where it is missing.
    fn database(&self, recipe: &Recipe) -> Result<PathBuf, Error> {
        let path = self.folder.join(format!("{}-{}.sqlite3", recipe.site, recipe.version));
        if !path.exists() {
            let bytes = generate(recipe)?;
            write(&path, &bytes).map_err(|source| Error::Golden { path: path.clone(), source })?;
        }
        Ok(path)
    }
}

/// The database's bytes.
pub(crate) fn generate(recipe: &Recipe) -> Result<Vec<u8>, Error> {
    let making = sqlite("generate the golden database");
    let filled = || -> Result<Vec<u8>, rusqlite::Error> {
        let folder =
            tempfile::tempdir().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let path = folder.path().join("golden.sqlite3");
        let connection = Connection::open(&path)?;
        connection.pragma_update(None, "page_size", 8192)?;
        connection.pragma_update(None, "journal_mode", "off")?;
        connection.pragma_update(None, "synchronous", "off")?;
        connection.execute_batch("begin")?;
        (recipe.fill)(&connection).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        connection.execute_batch("commit; analyze; vacuum")?;
        drop(connection);
        std::fs::read(&path).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    };
    filled().map_err(making)
}

/// Whole or not at all: a reader never sees half a file.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
