//! The lock of a part: one process at a time plays it, or moves its episodes.

use std::fs::{File, TryLockError};
use std::time::Duration;

use camino::Utf8Path;
use tokio::time::{self, Instant};

use crate::Error;

/// The time limit for the process that holds a part to end. One whose part was submitted again
/// checks that every few seconds, and a file server forgets a dead machine's locks after 90
/// seconds.
pub const FREE_WITHIN: Duration = Duration::from_secs(120);
/// The interval at which a lock is tried.
const TRY: Duration = Duration::from_secs(1);

/// The lock of a part, until it is dropped or the process ends.
#[derive(Debug)]
pub struct PartLock(File);

impl Drop for PartLock {
    fn drop(&mut self) {
        // A child that is being started holds copies of all open files for a moment. If unlocking
        // fails, closing the file releases the lock.
        let _ = self.0.unlock();
    }
}

impl PartLock {
    /// Takes a lock; none if another process has it.
    ///
    /// # Errors
    /// When the file cannot be opened, or the file system has no locks.
    pub fn take(path: &Utf8Path) -> Result<Option<PartLock>, Error> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        // Over NFS, a lock has to be on a file that is open for writing.
        let file =
            File::options().write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(PartLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Waits for a lock; none if another process still has it at the deadline.
    ///
    /// # Errors
    /// As [`PartLock::take`].
    pub async fn wait(path: &Utf8Path, deadline: Instant) -> Result<Option<PartLock>, Error> {
        let mut ticks = time::interval(TRY);
        loop {
            ticks.tick().await;
            if let Some(lock) = PartLock::take(path)? {
                return Ok(Some(lock));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_part_is_one_process_s_until_that_lets_it_go() {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temporary.path()).unwrap().join("0f-1.lock");
        let held = PartLock::take(&path).unwrap().unwrap();
        assert!(PartLock::wait(&path, Instant::now()).await.unwrap().is_none());
        let later = Instant::now() + Duration::from_secs(60);
        let waiting = tokio::spawn({
            let path = path.clone();
            async move { PartLock::wait(&path, later).await }
        });
        tokio::task::yield_now().await;
        drop(held);
        assert!(waiting.await.unwrap().unwrap().is_some());
    }
}
