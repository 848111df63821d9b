//! Ctrl-C and SIGTERM: the first asks the command to finish what it is writing, the second ends at once.

use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// A token that is cancelled by the first interrupt. A second one ends the process with exit code 4.
pub(crate) fn token() -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        interrupted().await;
        eprintln!("sandbox: finishing what is being written; interrupt again to stop at once");
        cancel.cancel();
        interrupted().await;
        std::process::exit(4);
    });
    token
}

/// Runs `work` to its end, or drops it at the first interrupt; `then` tells the user how to go on.
///
/// For work that can be dropped at any point: what it has begun is cleared away by whoever does it.
pub(crate) async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
    then: &str,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        () = interrupted() => Err(Failure::Interrupted(then.to_owned())),
    }
}

async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    // Without a handler for SIGTERM (which cannot fail in practice) Ctrl-C alone still works.
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}
