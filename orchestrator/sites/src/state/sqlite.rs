//! Restores, digests and queries SQLite databases that an application has open and can replace at
//! any time.
//!
//! SQLite opens files by path. So it runs on a thread with access only to the files that were
//! verified as the database and its logs: see `confine`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::ops::Range;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::StateError;
use super::confine::{self, Reach};
use super::dir::{Access, Dir, give};

/// How long to wait for a transaction of the application.
const BUSY: Duration = Duration::from_secs(5);

/// How often the files are looked up again. An application that opens or closes its database
/// creates and removes logs in the meantime.
const TRIES: usize = 5;

/// Bytes of the first page that change with a backup or with the way an application opens the
/// database, and that are not content: format versions (18, by journal mode), change counter (24),
/// schema cookie (40), and version-valid-for number (92).
const HOUSEKEEPING: [Range<usize>; 4] = [18..20, 24..28, 40..44, 92..100];

/// The format versions in the first page of a database with a write-ahead log.
const WAL_VERSIONS: [u8; 2] = [2, 2];

/// A database as it was found in a folder.
struct DatabaseFile<'a> {
    parent: Dir,
    path: Utf8PathBuf,
    /// For reading its pages.
    file: File,
    /// Its log and journal files.
    beside: Vec<File>,
    /// Another file that may be read.
    source: Option<&'a File>,
    has_log: bool,
}

impl DatabaseFile<'_> {
    /// Opens a database and its companion files: regular files, each with only one name.
    fn of<'a>(
        root: &Dir,
        database: &Utf8Path,
        source: Option<&'a File>,
    ) -> Result<DatabaseFile<'a>, StateError> {
        let (parent, name) = parent_of(root, database)?;
        let (mut file, entry) = parent.file(&name)?;
        let path = parent.path_of(&name);
        parent.is_only_here(&name, &entry)?;
        let mut head = [0; 20];
        let count = file.read(&mut head).map_err(StateError::io("read", &path))?;
        let mut has_log = count == head.len() && head[18..] == WAL_VERSIONS;
        let mut beside = Vec::new();
        for ending in ["-wal", "-shm", "-journal"] {
            let name = with_ending(&name, ending);
            let path = parent.path_of(&name);
            let there = parent.entry(&name)?;
            has_log |= there.is_some() && ending == "-wal";
            if there.is_none() {
                if !has_log || ending == "-journal" {
                    continue;
                }
                // SQLite would create it, but it is not allowed to create files.
                entry.give_alike(&parent.create(&name)?, &path)?;
            }
            let (file, entry) = parent.reference(&name)?;
            parent.is_only_here(&name, &entry)?;
            beside.push(file);
        }
        Ok(DatabaseFile { parent, path, file, beside, source, has_log })
    }

    /// Opens the database on a confined thread.
    fn with<T: Send>(
        &self,
        flags: OpenFlags,
        work: impl FnOnce(Connection) -> Result<T, StateError> + Send,
    ) -> Result<T, StateError> {
        let write = self.beside.iter().chain([&self.file]).collect();
        let reach = Reach { read: self.source.into_iter().collect(), write, remove: &self.parent };
        confine::run(&reach, || {
            let failed = || StateError::sqlite("open", &self.path);
            let connection = open(self.path.as_str(), flags).map_err(failed())?;
            // No temporary files beside the database.
            connection.pragma_update(None, "temp_store", "MEMORY").map_err(failed())?;
            if !self.has_log && flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
                connection
                    .pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))
                    .map_err(failed())?;
            }
            work(connection)
        })
    }
}

/// Runs work on a database. Retries if its files have appeared or disappeared in the meantime.
fn with<T: Send>(
    root: &Dir,
    database: &Utf8Path,
    source: Option<&File>,
    flags: OpenFlags,
    work: impl Fn(Connection, &File) -> Result<T, StateError> + Send + Sync,
) -> Result<T, StateError> {
    let attempt = || {
        let found = DatabaseFile::of(root, database, source)?;
        found.with(flags, |connection| work(connection, &found.file))
    };
    for _ in 1..TRIES {
        match attempt() {
            Err(StateError::Odd { .. }) => {}
            Err(error) if error.is_absence() => {}
            other => return other,
        }
    }
    attempt()
}

fn open(path: &str, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// Opens a golden database, which nobody changes.
fn open_golden(path: &Utf8Path) -> Result<Connection, StateError> {
    // Without locks, so that no files are created beside it.
    let uri =
        format!("file:{}?immutable=1", percent_encode(path.as_str().as_bytes(), NON_ALPHANUMERIC));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(&uri, flags).map_err(StateError::sqlite("open", path))
}

/// Merges the log of a golden database into it, or rolls back its journal.
pub(super) fn settle(golden: &Dir, database: &Utf8Path) -> Result<(), StateError> {
    let (parent, name) = parent_of(golden, database)?;
    let mut unsettled = false;
    for ending in ["-wal", "-journal"] {
        unsettled |= parent.entry(&with_ending(&name, ending))?.is_some_and(|entry| entry.size > 0);
    }
    if !unsettled {
        // The database may be missing; the application then creates it.
        return match parent.entry(&name)? {
            Some(_) => parent.file(&name).map(drop),
            None => Ok(()),
        };
    }
    let path = parent.path_of(&name);
    with(golden, database, None, OpenFlags::SQLITE_OPEN_READ_WRITE, |connection, _| {
        let failed = || StateError::sqlite("read the log of", &path);
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failed())
    })
}

/// Restores a golden database into a live one, in one transaction that running readers and writers
/// wait for.
pub(super) fn restore(
    golden: &Dir,
    live: &Dir,
    database: &Utf8Path,
    access: Access,
) -> Result<(), StateError> {
    let (golden, name) = parent_of(golden, database)?;
    let (source, _) = golden.reference(&name)?;
    let source_path = golden.path_of(&name);
    let (parent, name) = parent_of(live, database)?;
    let path = parent.path_of(&name);
    if parent.entry(&name)?.is_none() {
        give(parent.create(&name)?, access, 0, &path)?;
    }
    with(live, database, Some(&source), OpenFlags::SQLITE_OPEN_READ_WRITE, |mut to, _| {
        let from = open_golden(&source_path)?;
        let failed = || StateError::sqlite("put back", &path);
        // If a power failure damages an instance's database, the instance is created anew. So
        // nothing has to be synced to the disk here.
        to.pragma_update(None, "synchronous", "OFF").map_err(failed())?;
        let backup = Backup::new(&from, &mut to).map_err(failed())?;
        // All pages in one step; the busy timeout above does the waiting.
        match backup.step(-1).map_err(failed())? {
            StepResult::Done => Ok(()),
            _ => Err(StateError::Sqlite {
                doing: "put back",
                path: path.clone(),
                source: rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    Some("the application held it locked".to_owned()),
                ),
            }),
        }
    })
}

/// A digest of the content of a live database: its pages, as a client that opens it now reads them.
///
/// # Errors
/// Also when it has grown by more than `most` bytes, including its log.
pub(super) fn digest(live: &Dir, database: &Utf8Path, most: u64) -> Result<[u8; 32], StateError> {
    let (parent, name) = parent_of(live, database)?;
    let path = parent.path_of(&name);
    let log = parent.entry(&with_ending(&name, "-wal"))?.map_or(0, |log| log.size);
    let size = parent.entry(&name)?.map_or(0, |entry| entry.size);
    if log.saturating_add(size) > most {
        return Err(StateError::Odd { path, what: "it has grown too large".to_owned() });
    }
    let failed = || StateError::sqlite("read", &path);
    if log > 0 {
        // The log belongs to the content, so it is merged into the file first.
        with(live, database, None, OpenFlags::SQLITE_OPEN_READ_WRITE, |connection, _| {
            let done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            done.map_err(StateError::sqlite("read the log of", &path))
        })?;
    }
    with(live, database, None, OpenFlags::SQLITE_OPEN_READ_ONLY, |connection, file| {
        // After a read inside a transaction, nobody else writes to the file.
        connection.execute_batch("BEGIN").map_err(failed())?;
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(failed())?;
        let digest = digest_pages(file).map_err(StateError::io("read", &path));
        connection.execute_batch("END").map_err(failed())?;
        digest
    })
}

/// A digest of the content of a golden database.
pub(super) fn digest_golden(golden: &Dir, database: &Utf8Path) -> Result<[u8; 32], StateError> {
    let (parent, name) = parent_of(golden, database)?;
    let (file, _) = parent.file(&name)?;
    digest_pages(&file).map_err(StateError::io("read", &parent.path_of(&name)))
}

fn digest_pages(mut file: &File) -> std::io::Result<[u8; 32]> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let mut header = Vec::with_capacity(100);
    reader.by_ref().take(100).read_to_end(&mut header)?;
    // Counters that SQLite changes without a change of content.
    for range in HOUSEKEEPING {
        if let Some(bytes) = header.get_mut(range) {
            bytes.fill(0);
        }
    }
    let mut digest = Sha256::new_with_prefix(&header);
    let mut chunk = vec![0; 256 << 10];
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(digest.finalize().into()),
            count => digest.update(&chunk[..count]),
        }
    }
}

/// The folder of a database, and its name in that folder.
fn parent_of(root: &Dir, database: &Utf8Path) -> Result<(Dir, OsString), StateError> {
    let parent = root.folder_at(database.parent().unwrap_or(Utf8Path::new("")))?;
    Ok((parent, OsString::from(database.file_name().unwrap_or_default())))
}

fn with_ending(name: &OsStr, ending: &str) -> OsString {
    let mut with = name.to_owned();
    with.push(ending);
    with
}

/// Whether SQLite reports that the file is not a database, or not the one that was found.
pub(super) fn is_odd(error: &rusqlite::Error) -> bool {
    let odd = [
        ErrorCode::CannotOpen,
        ErrorCode::NotADatabase,
        ErrorCode::DatabaseCorrupt,
        ErrorCode::ReadOnly,
    ];
    error.sqlite_error_code().is_some_and(|code| odd.contains(&code))
}

/// Runs a read-only query on a live database; each row is an object of its columns. Parameters are
/// those of [`sqlite_rows::rows`].
///
/// # Errors
/// When the database cannot be opened or the query is invalid.
pub(super) fn query(
    live: &Dir,
    database: &Utf8Path,
    query: &str,
    parameters: &Map<String, Value>,
) -> Result<Vec<Value>, StateError> {
    let path = live.path_of(database.as_str().as_ref());
    with(live, database, None, OpenFlags::SQLITE_OPEN_READ_ONLY, |connection, _| {
        let named = parameters.iter().map(|(name, value)| (name.as_str(), value));
        let rows = sqlite_rows::rows(&connection, query, named, usize::MAX);
        rows.map(|rows| rows.into_iter().map(Value::Object).collect()).map_err(|source| {
            // The query may be wrong, which is the caller's error.
            StateError::Sqlite { doing: "ask", path: path.clone(), source }
        })
    })
}
