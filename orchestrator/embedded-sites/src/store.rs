//! The database of one instance: loaded from the golden file, reset, hashed and queried.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use crate::Error;
use crate::error::sqlite;
use crate::live::Live;

/// A digest over the rows of a database. SQLite's page layout does not affect it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// Maximum number of virtual machine steps of a scorer's query; this takes a few seconds.
const QUERY_STEPS: i32 = 50_000_000;
/// Maximum number of rows of a scorer's query.
const QUERY_ROWS: usize = 100_000;

pub(crate) struct Store {
    live: Arc<Live>,
    /// Kept open, so that a reset works even if the golden file is deleted.
    golden: Mutex<Connection>,
    /// The digest of the golden state.
    pristine: Digest,
}

impl Store {
    /// Copies the golden file. `pristine` is its digest if already known.
    pub(crate) fn open(golden: &Path, pristine: Option<Digest>) -> Result<Self, Error> {
        let live = Live::in_memory()?;
        let opening = "open the golden database";
        let golden = Connection::open_with_flags(golden, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(sqlite(opening))?;
        copy(&golden, &mut live.lock())?;
        let pristine = pristine.map_or_else(|| digest(&live.lock()), Ok)?;
        Ok(Self { live: Arc::new(live), golden: Mutex::new(golden), pristine })
    }

    /// The database that answers requests.
    pub(crate) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }

    pub(crate) fn reset(&self) -> Result<(), Error> {
        let mut live = self.live.lock();
        copy(&self.golden.lock(), &mut live)
    }

    pub(crate) fn digest(&self) -> Result<Digest, Error> {
        digest(&self.live.lock())
    }

    pub(crate) fn pristine(&self) -> Digest {
        self.pristine
    }

    /// Runs one read-only statement. `parameters` are named, without the colon.
    pub(crate) fn query(
        &self,
        sql: &str,
        parameters: &[(&str, Value)],
    ) -> Result<Vec<Map<String, Value>>, Error> {
        let mut live = self.live.lock();
        let guard = "guard a query";
        // A query is a suite's: it may only read, and only for so many steps.
        live.authorizer(Some(only_reading)).map_err(sqlite(guard))?;
        let mut steps = 0;
        let stop = move || {
            steps += 1000;
            steps > QUERY_STEPS
        };
        live.progress_handler(1000, Some(stop)).map_err(sqlite(guard))?;
        let parameters = parameters.iter().map(|(name, value)| (*name, value));
        let rows = sqlite_rows::rows(&live, sql, parameters, QUERY_ROWS);
        live.progress_handler(0, None::<fn() -> bool>).map_err(sqlite(guard))?;
        live.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(sqlite(guard))?;
        rows.map_err(|error| Error::Query(error.to_string()))
    }
}

fn only_reading(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if function_name != "load_extension" => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Copies all pages in one step with SQLite's online backup. The golden file is memory-mapped only
/// during the copy, so that an instance's memory holds only its own state.
fn copy(golden: &Connection, live: &mut Connection) -> Result<(), Error> {
    let doing = "put the golden state back";
    golden.execute_batch("pragma mmap_size = 268435456").map_err(sqlite(doing))?;
    let backup = Backup::new(golden, live).map_err(sqlite(doing))?;
    let step = backup.step(-1).map_err(sqlite(doing))?;
    drop(backup);
    golden.execute_batch("pragma mmap_size = 0; pragma shrink_memory").map_err(sqlite(doing))?;
    match step {
        StepResult::Done => Ok(()),
        // No other thread uses these connections, so locks are impossible.
        step => Err(Error::Unfinished { step }),
    }
}

/// Hashes every row of every table in rowid order. It skips derived data: indexes, statistics, and
/// the full-text index's shadow tables, whose layout depends on the order of writes.
fn digest(live: &Connection) -> Result<Digest, Error> {
    let doing = "compute the state digest";
    let mut sum = Sum { context: Context::new(&SHA256), held: Vec::with_capacity(HELD + 4096) };
    for table in tables(live).map_err(sqlite(doing))? {
        add_table(&mut sum, live, &table).map_err(sqlite(doing))?;
    }
    sum.flush();
    let mut bytes = [0; 32];
    bytes.copy_from_slice(sum.context.finish().as_ref());
    Ok(Digest(bytes))
}

fn tables(live: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "select name from pragma_table_list where schema = 'main' and type = 'table' \
               and name not in ('sqlite_schema', 'sqlite_stat1', 'sqlite_stat4') order by name";
    live.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The stored columns of a table, without computed ones. Includes the rowid if no column is it.
fn columns(live: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "select name, pk = 1 and type = 'INTEGER' from pragma_table_xinfo(?1) where hidden = 0 order by cid";
    let mut statement = live.prepare_cached(sql)?;
    let named = statement
        .query_map([table], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?;
    let named = named.collect::<rusqlite::Result<Vec<_>>>()?;
    let rowid = (!named.iter().any(|(_, is_rowid)| *is_rowid)).then(|| "rowid".to_owned());
    Ok(rowid.into_iter().chain(named.into_iter().map(|(name, _)| format!("\"{name}\""))).collect())
}

/// Values are buffered up to this many bytes before they are hashed.
const HELD: usize = 1 << 16;

struct Sum {
    context: Context,
    held: Vec<u8>,
}

impl Sum {
    fn add(&mut self, tag: u8, bytes: &[u8]) {
        self.held.push(tag);
        self.held.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HELD {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.context.update(&self.held);
        self.held.clear();
    }
}

fn add_table(sum: &mut Sum, live: &Connection, table: &str) -> rusqlite::Result<()> {
    sum.add(b'T', table.as_bytes());
    // Table names come from our own schema, never from a visitor.
    let columns = columns(live, table)?.join(", ");
    let mut statement =
        live.prepare_cached(&format!("select {columns} from \"{table}\" order by rowid"))?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => sum.add(b'0', b""),
                ValueRef::Integer(number) => sum.add(b'1', &number.to_le_bytes()),
                ValueRef::Real(number) => sum.add(b'2', &number.to_bits().to_le_bytes()),
                ValueRef::Text(text) => sum.add(b'3', text),
                ValueRef::Blob(bytes) => sum.add(b'4', bytes),
            }
        }
    }
    Ok(())
}
