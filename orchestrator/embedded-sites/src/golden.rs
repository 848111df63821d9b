//! Golden databases: the pristine state of a site in a file. It is generated once and then reused.
//!
//! ```text
//! absent -> generated -> vacuumed -> written beside -> renamed into place -> opened read-only
//! ```
//!
//! The file name has the digest of the inputs, so a new version of a site never reads an old state.
//! Two processes that generate at the same time write the same bytes.

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
    /// The digests of files that were copied before.
    digests: Arc<Mutex<HashMap<PathBuf, Digest>>>,
}

type Fill = Box<dyn Fn(&Connection) -> Result<(), Error>>;

/// How to generate a site's golden database.
pub(crate) struct Recipe {
    /// The site's name.
    pub(crate) site: &'static str,
    /// Changes whenever the result changes.
    pub(crate) version: String,
    /// Fills an empty database.
    pub(crate) fill: Fill,
}

impl Golden {
    /// Uses `folder` and creates it if it is missing. Databases are generated when they are first
    /// needed.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder)
            .map_err(|source| Error::Golden { path: folder.clone(), source })?;
        Ok(Self { folder, digests: Arc::default() })
    }

    /// Copies the recipe's golden database into a new store.
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

    /// The path of the golden database. Generates it if it is missing.
    fn database(&self, recipe: &Recipe) -> Result<PathBuf, Error> {
        let path = self.folder.join(format!("{}-{}.sqlite3", recipe.site, recipe.version));
        if !path.exists() {
            let bytes = generate(recipe)?;
            write(&path, &bytes).map_err(|source| Error::Golden { path: path.clone(), source })?;
        }
        Ok(path)
    }
}

/// Generates the database's bytes.
pub(crate) fn generate(recipe: &Recipe) -> Result<Vec<u8>, Error> {
    let making = sqlite("generate the golden database");
    let filled = || -> Result<Vec<u8>, rusqlite::Error> {
        let folder = tempfile::tempdir()
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let path = folder.path().join("golden.sqlite3");
        let connection = Connection::open(&path)?;
        connection.pragma_update(None, "page_size", 8192)?;
        // A temporary database, which nobody needs after a crash.
        connection.pragma_update(None, "journal_mode", "off")?;
        connection.pragma_update(None, "synchronous", "off")?;
        connection.execute_batch("begin")?;
        (recipe.fill)(&connection)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        connection.execute_batch("commit; analyze; vacuum")?;
        drop(connection);
        std::fs::read(&path).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    };
    filled().map_err(making)
}

/// Writes the file atomically: a reader never sees half a file.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
