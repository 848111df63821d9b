//! Who drives the episode: a command of the user's, or whoever is at the terminal.

use std::io::BufRead as _;
use std::os::fd::AsFd as _;
use std::time::Duration;

use play::attach::program::{run_program, timed_out};
use play::attach::{AttachedSession, ProgramExit};
use processes::confine::Confined;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Waits for a line on standard input, its end, or an interrupt.
pub(crate) async fn line(within: Option<Duration>, stop: &CancellationToken) -> ProgramExit {
    let (say, said) = oneshot::channel();
    // A thread of its own and not the runtime's, which would wait for it at the end.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        // Nobody listens any more where something else has ended the episode.
        let _ = say.send(read.is_ok().then_some(line).filter(|line| !line.trim().is_empty()));
    });
    tokio::select! {
        said = said => ProgramExit::Left { answer: said.ok().flatten() },
        () = stop.cancelled() => ProgramExit::Left { answer: None },
        () = timed_out(within) => ProgramExit::TimedOut,
    }
}

/// Runs a command until it ends, or ends it. What it prints goes to standard error.
pub(super) async fn command(
    command: &[String],
    facts: &AttachedSession,
    confined: &Confined,
    within: Option<Duration>,
    stop: &CancellationToken,
) -> ProgramExit {
    match std::io::stderr().as_fd().try_clone_to_owned() {
        Ok(output) => run_program(command, facts, confined, output, within, stop).await,
        Err(error) => ProgramExit::Failed(format!("run {}: {error}", command[0])),
    }
}
