//! Work that waits for a disk, away from the threads that serve everybody else.

/// Does work on a thread that may block. The work goes on to its end where nobody waits for it any
/// more.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime ends, and with it whoever waits.
        Err(Err(_)) => std::future::pending().await,
    }
}
