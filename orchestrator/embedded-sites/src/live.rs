//! The live database of an instance: in memory, or a file that another process may restore in the
//! meantime.
//!
//! One connection is behind a mutex. A request holds it from its first query to its commit. So a
//! reset never happens in the middle of a request, and concurrent requests are answered one after
//! the other. They wait as async tasks: a thread for each would use megabytes that are never
//! returned.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::Error;
use crate::error::sqlite;

/// How long to wait for another process's transaction on a file.
const BUSY: Duration = Duration::from_secs(5);

/// The number of requests that may occupy a thread: the current one, and the next one.
const TURNS: usize = 2;

pub(crate) struct Live {
    connection: Mutex<Connection>,
    turns: Arc<Semaphore>,
}

impl Live {
    /// An empty database in memory.
    pub(crate) fn in_memory() -> Result<Self, Error> {
        Connection::open_in_memory().map(Self::new).map_err(sqlite("open a database in memory"))
    }

    /// Opens an existing file. SQLite notices writes of other processes, so cached data is never
    /// shown after a restore.
    pub(crate) fn on_file(path: &Path) -> Result<Self, Error> {
        let opening = sqlite("open the site's database");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY)?;
            // Creating and removing the journal would cost more than a small change itself. If a
            // power failure damages an instance's database, the instance is created again, so
            // nothing needs to be synced.
            connection.pragma_update(None, "journal_mode", "truncate")?;
            connection.pragma_update(None, "synchronous", "off")?;
            connection.pragma_update(None, "cache_size", -16_384)?;
            Ok(connection)
        };
        opened().map(Self::new).map_err(opening)
    }

    fn new(connection: Connection) -> Self {
        connection.set_prepared_statement_cache_capacity(128);
        Self { connection: Mutex::new(connection), turns: Arc::new(Semaphore::new(TURNS)) }
    }

    /// Runs `answer` on a blocking thread when it is this request's turn. The turn ends when
    /// `answer` returns, even if the client has disconnected.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        answer: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // The semaphore is never closed.
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok();
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            answer()
        })
        .await
    }

    /// The connection. If a handler panicked, its transaction was rolled back, so the lock is still
    /// valid.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }
}
