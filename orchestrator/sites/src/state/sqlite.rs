//! SQLite databases that an application has open.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::time::Duration;

use camino::Utf8Path;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::StateError;

/// How long an application's own transaction is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// Bytes of the first page that a backup or an application's way of opening changes, and that say nothing of the content:
/// format versions (18, by journal mode), change counter (24), schema cookie (40), and who wrote last (92).
const HOUSEKEEPING: [Range<usize>; 4] = [18..20, 24..28, 40..44, 92..100];

/// Opens a database that nobody changes through this connection.
fn open_read_only(path: &Utf8Path) -> Result<Connection, StateError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open(path: &Utf8Path, flags: OpenFlags) -> Result<Connection, StateError> {
    let failed = || StateError::sqlite("open", path);
    let connection =
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed())?;
    connection.busy_timeout(BUSY).map_err(failed())?;
    Ok(connection)
}

/// Puts `golden` into `live`, as one transaction that running readers and writers wait for.
pub(super) fn restore(golden: &Utf8Path, live: &Utf8Path) -> Result<(), StateError> {
    let from = open_read_only(golden)?;
    let mut to = open(live, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let failed = || StateError::sqlite("put back", live);
    // A copy that a power cut damages is made anew, so nothing has to reach the disk before we go on.
    to.pragma_update(None, "synchronous", "OFF").map_err(failed())?;
    let backup = Backup::new(&from, &mut to).map_err(failed())?;
    // All pages in one step; the busy timeout above is what waits.
    match backup.step(-1).map_err(failed())? {
        StepResult::Done => Ok(()),
        _ => Err(StateError::Sqlite {
            doing: "put back",
            path: live.to_owned(),
            source: rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                Some("the application held it locked".to_owned()),
            ),
        }),
    }
}

/// A digest of what the database holds: of its pages, as somebody who opens it now would read them.
pub(super) fn digest(path: &Utf8Path) -> Result<[u8; 32], StateError> {
    let log = Utf8Path::new(path.as_str()).with_file_name(format!("{}-wal", path.file_name().unwrap_or("")));
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        // What is in the log belongs to the content: it is moved into the file first.
        let live = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        live.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(StateError::sqlite("read the log of", path))?;
    }
    let connection = open_read_only(path)?;
    let failed = || StateError::sqlite("read", path);
    // Within a transaction that has read something, nobody else writes to the file.
    connection.execute_batch("BEGIN").map_err(failed())?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(failed())?;
    let digest = digest_pages(path).map_err(StateError::io("read", path));
    connection.execute_batch("END").map_err(failed())?;
    digest
}

fn digest_pages(path: &Utf8Path) -> std::io::Result<[u8; 32]> {
    let mut reader = BufReader::with_capacity(256 << 10, File::open(path)?);
    let mut header = Vec::with_capacity(100);
    reader.by_ref().take(100).read_to_end(&mut header)?;
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

/// Asks a database that it cannot change; each row is an object of its columns. `parameters` fill those that the query names,
/// and may be more.
///
/// # Errors
/// When the database cannot be opened or the query is no query.
pub fn query(
    path: &Utf8Path,
    query: &str,
    parameters: &Map<String, Value>,
) -> Result<Vec<Value>, StateError> {
    let failed = || StateError::sqlite("ask", path);
    let connection = open_read_only(path)?;
    let mut statement = connection.prepare(query).map_err(failed())?;
    for (name, value) in parameters {
        if let Some(at) = statement.parameter_index(&format!(":{name}")).map_err(failed())? {
            match value {
                Value::Number(number) if number.is_i64() => {
                    statement.raw_bind_parameter(at, number.as_i64()).map_err(failed())?;
                }
                Value::Number(number) => {
                    statement.raw_bind_parameter(at, number.as_f64()).map_err(failed())?
                }
                Value::String(text) => statement.raw_bind_parameter(at, text).map_err(failed())?,
                Value::Null => statement.raw_bind_parameter(at, rusqlite::types::Null).map_err(failed())?,
                other => statement.raw_bind_parameter(at, other.to_string()).map_err(failed())?,
            }
        }
    }
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed())? {
        let mut object = Map::new();
        for (at, name) in names.iter().enumerate() {
            object.insert(name.clone(), to_json(row.get_ref(at).map_err(failed())?));
        }
        found.push(Value::Object(object));
    }
    Ok(found)
}

fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}
