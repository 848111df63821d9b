//! The threads that requests run on.

use std::future::Future;
use std::sync::{LazyLock, mpsc};

use tokio::runtime::{Builder, Runtime};

/// Not the caller's runtime: a caller may be one of its threads, which must not wait for itself.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(2).thread_name("remote").enable_all().build()
});

/// Runs a future to its end. Every future of this crate has a deadline of its own.
pub(crate) fn block_on<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> std::io::Result<T> {
    let runtime =
        RUNTIME.as_ref().map_err(|error| std::io::Error::new(error.kind(), error.to_string()))?;
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // The caller waits for it.
        let _ = sender.send(future.await);
    });
    receiver.recv().map_err(|_| std::io::Error::other("a request ended in a panic"))
}

/// Starts a future that tells by itself how it ended.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    let runtime =
        RUNTIME.as_ref().map_err(|error| std::io::Error::new(error.kind(), error.to_string()))?;
    runtime.spawn(future);
    Ok(())
}
