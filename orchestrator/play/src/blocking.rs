//! Runs work that waits for a disk on threads of its own, so that it blocks no other task.

/// Runs work on a thread that may block. The work runs to its end even if the caller is dropped.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime ends, and with it whoever waits.
        Err(Err(_)) => std::future::pending().await,
    }
}
