//! Runs the user's command that drives an attached browser, and waits for its end.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use processes::confine::Confined;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::attach::{AttachedSession, ProgramExit};

/// Runs a command to its end, or ends it at the time limit or when `stop` is cancelled. Its output
/// goes to `output`.
pub async fn run_program(
    command: &[String],
    facts: &AttachedSession,
    confined: &Confined,
    output: OwnedFd,
    within: Option<Duration>,
    stop: &CancellationToken,
) -> ProgramExit {
    let failed =
        |error: std::io::Error| ProgramExit::Failed(format!("run {}: {error}", command[0]));
    let mut words = confined.command(&command[0]);
    // With all of the environment: it is the user's own program, typed after `--` as into a shell.
    // What Python writes beside its files would change a suite that is agreed to.
    words.args(&command[1..]).env("PYTHONDONTWRITEBYTECODE", "1").envs(variables(facts));
    confined.add_plan(&mut words);
    let mut child = Command::from(words);
    child
        .stdin(Stdio::null())
        .stdout(output)
        // An interrupt typed at the terminal reaches us alone.
        .process_group(0);
    let mut child = match child.spawn() {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    let mut tree = confined.tree(&child);
    let exit = tokio::select! {
        ended = child.wait() => match ended {
            Ok(status) if status.success() => ProgramExit::Left { answer: None },
            Ok(status) => ProgramExit::Failed(format!("run {}: it ended with {status}", command[0])),
            Err(error) => failed(error),
        },
        () = stop.cancelled() => ProgramExit::Interrupted,
        () = timed_out(within) => ProgramExit::TimedOut,
    };
    // Nothing of it acts any more when the pages are read for the score.
    tree.end(&mut child).await;
    exit
}

/// Waits until the time is over; forever without a limit.
pub async fn timed_out(within: Option<Duration>) {
    let never = std::future::pending::<()>();
    match within {
        // Its running out is what is waited for.
        Some(within) => drop(tokio::time::timeout(within, never).await),
        None => never.await,
    }
}

/// Returns the facts as environment variables: `cdp` is `SANDBOX_CDP`, and `ws`, which is an
/// address of the same, `SANDBOX_CDP_WS`.
fn variables(facts: &AttachedSession) -> Vec<(String, String)> {
    let facts = serde_json::to_value(facts).expect("facts are plain data");
    let facts = facts.as_object().into_iter().flatten();
    let text =
        |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let variable = |name: &str| match name {
        "ws" => "SANDBOX_CDP_WS".to_owned(),
        name => format!("SANDBOX_{}", name.to_uppercase()),
    };
    facts.map(|(name, value)| (variable(name), text(value))).collect()
}
