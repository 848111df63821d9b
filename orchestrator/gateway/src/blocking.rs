//! Work that blocks, off the runtime's threads and on few others: each thread that has once read
//! and decoded something keeps megabytes for the next time, and more threads than processors do not
//! make disks faster.

use std::sync::{Arc, LazyLock};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{JoinError, JoinHandle},
};
use tokio_util::sync::PollSemaphore;

/// Threads that read and search for all gateways of the process.
const THREADS: usize = 16;

static FREE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(THREADS)));

/// The queue for a thread, to be waited in by polling.
pub(crate) fn queue() -> PollSemaphore {
    PollSemaphore::new(FREE.clone())
}

/// Runs `work` with the thread that was waited for.
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
