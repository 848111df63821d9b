//! The database that requests are answered from: in memory, or a file that somebody else may put back meanwhile.
//!
//! One connection behind a mutex. A request holds it from its first query to its commit, so a reset
//! never lands in the middle of one, and requests that arrive together are answered one after the
//! other. They wait for their turn as tasks: a thread each would cost megabytes that never come
//! back.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::Error;
use crate::error::sqlite;

/// How long somebody else's transaction on a file is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// Requests that may be on a thread: one that is being answered, and one that goes on as soon as
/// that is done.
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

    /// A file that is there. SQLite notices by itself when another process has written to it, so nothing read from it
    /// earlier is ever shown as new.
    pub(crate) fn on_file(path: &Path) -> Result<Self, Error> {
        let opening = sqlite("open the site's database");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY)?;
            // Creating and removing the journal would cost more than all else that a small change does; and a copy
            // that a power cut damages is made anew.
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

    /// Answers on a thread of its own, when it is this request's turn. The turn ends with the
    /// answer, also when nobody waits for that any more.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        answer: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // Never closed.
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok();
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            answer()
        })
        .await
    }

    /// The connection. A handler that panicked has had its transaction rolled back, so its lock is as good as new.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }
}
