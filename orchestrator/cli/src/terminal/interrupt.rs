//! Ctrl-C and SIGTERM: the first asks the command to finish what it is writing, the second ends at
//! once.

use std::sync::OnceLock;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::terminal::out;

/// The token that is cancelled by the first interrupt, one for the process. A second interrupt ends
/// the process with exit code 4.
pub(crate) fn token() -> CancellationToken {
    static TOKEN: OnceLock<CancellationToken> = OnceLock::new();
    TOKEN.get_or_init(listen).clone()
}

fn listen() -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    // From here on, and not only when the task below has its first turn: until then an interrupt
    // would end the process as it is.
    let mut interrupts = Signals::listen();
    tokio::spawn(async move {
        interrupts.next().await;
        out::warn(
            &"interrupted; finishing what is being written (interrupt again to stop at once)",
        );
        cancel.cancel();
        interrupts.next().await;
        end_programs();
        out::error(
            &"interrupted twice; the next command that starts sites removes containers that are left, or \
              `sandbox down` now",
        );
        std::process::exit(4);
    });
    token
}

/// Ends the programs that this process has started and that know of no other end, before it exits
/// in the midst of what it does: browsers and agents.
pub(crate) fn end_programs() {
    browser::end_all();
    ::processes::end_all();
}

/// Runs `work` to its end, or drops it at the first interrupt; `then` tells the user how to go on.
///
/// For work that can be dropped at any point: what it has begun is cleared away by whoever does it.
pub(crate) async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
    then: &str,
) -> Result<T, Failure> {
    let mut interrupts = Signals::listen();
    tokio::select! {
        done = work => done,
        () = interrupts.next() => Err(Failure::Interrupted(then.to_owned())),
    }
}

/// The signals, listen from the moment on that this is made. A handler that cannot be had (which
/// does not happen in practice) leaves the other.
pub(crate) struct Signals {
    by_key: Option<Signal>,
    by_program: Option<Signal>,
}

impl Signals {
    pub(crate) fn listen() -> Signals {
        let listen = |kind| signal(kind).ok();
        Signals {
            by_key: listen(SignalKind::interrupt()),
            by_program: listen(SignalKind::terminate()),
        }
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.by_key) => {}
            () = received(&mut self.by_program) => {}
        }
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
