//! Runs blocking work off the async runtime's threads, on a limited number of threads.
//!
//! The limit is low for two reasons. Each thread that has once read and decoded something keeps
//! megabytes for the next time. More threads than processors do not make disks faster.

use std::sync::{Arc, LazyLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::PollSemaphore;

/// Threads that read and search for all gateways of the process.
const THREADS: usize = 16;

static FREE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(THREADS)));

/// The queue for a free thread, to be polled.
pub(crate) fn queue() -> PollSemaphore {
    PollSemaphore::new(FREE.clone())
}

/// Runs `work` on the granted thread.
pub(crate) fn start<T: Send + 'static>(
    thread: Option<OwnedSemaphorePermit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    tokio::task::spawn_blocking(move || {
        let _thread = thread;
        work()
    })
}

/// Waits for a thread and runs `work` on it.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    // Never closed.
    let thread = FREE.clone().acquire_owned().await.ok();
    start(thread, work).await
}
