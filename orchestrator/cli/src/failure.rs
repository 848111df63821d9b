//! Why a command did not end with "done", and the exit code that says so to scripts.
//!
//! Libraries return their own errors; the command that called them decides here what kind of failure it is for
//! the user. Whatever reaches the user reads "what failed: why: what now".

use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;

use crate::out;

/// Shown at the end of `sandbox --help`.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 done; 1 ran, and the answer is no; 2 wrong use or bad input; \
3 the environment lacks something (`sandbox doctor` says what); 4 interrupted, resumable; 70 a bug of ours.";

/// What every command returns.
pub(crate) type Outcome = Result<(), Failure>;

/// A failure a user can meet, by what it asks of them.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command ran, and the answer is no: a verification failed, fingerprints differ.
    No(String),
    /// Wrong use or bad input: the user changes what they typed or the file they gave.
    Input(anyhow::Error),
    /// The machine lacks something: a program, a port, disk space, a permission.
    Environment(anyhow::Error),
    /// Stopped by the user; what was done is kept, and the text says how to go on.
    Interrupted(String),
    /// What there was to say has been said; with this exit code.
    Told(u8),
}

impl Failure {
    /// Prints the failure to stderr and gives its exit code.
    pub(crate) fn exit(self) -> ExitCode {
        self.tell();
        ExitCode::from(self.code())
    }

    /// The exit code that says so to scripts.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::No(_) => 1,
            Failure::Input(_) => 2,
            Failure::Environment(_) => 3,
            Failure::Interrupted(_) => 4,
            Failure::Told(code) => *code,
        }
    }

    /// Prints the failure to stderr.
    pub(crate) fn tell(&self) {
        if !matches!(self, Failure::Told(_)) {
            out::failed(self);
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::No(text) | Failure::Interrupted(text) => f.write_str(text),
            Failure::Input(error) | Failure::Environment(error) => f.write_str(&chain(error)),
            Failure::Told(_) => Ok(()),
        }
    }
}

/// An error with its causes, as far as they say what those before them do not.
fn chain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = match cause.strip_prefix(&text) {
                // It begins with what it was caused by, and goes on.
                Some(_) => cause,
                None => format!("{text}: {cause}"),
            };
        }
    }
    text
}

/// Turns a library's error into a [`Failure`] of one kind, with what was being done.
pub(crate) trait OrFail<T> {
    /// The input is at fault.
    fn or_input(self, doing: impl Display) -> Result<T, Failure>;
    /// The environment is at fault.
    fn or_environment(self, doing: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrFail<T> for Result<T, E> {
    fn or_input(self, doing: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Input(error.into().context(doing.to_string())))
    }

    fn or_environment(self, doing: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Environment(error.into().context(doing.to_string())))
    }
}

/// Makes a panic end the process with exit code 70 and ask for a report: whatever panics is a bug of ours.
///
/// The tokio runtime would otherwise swallow a task's panic, and a run would go on with a part of
/// it missing.
pub(crate) fn report_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        default(panic);
        eprintln!("sandbox: this is a bug in sandbox. Please report it with the lines above.");
        std::process::exit(70);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let told = |texts: &[&str]| {
            let (first, rest) = texts.split_first().expect("at least one");
            chain(
                &rest.iter().fold(anyhow::anyhow!("{first}"), |error, text| error.context(text.to_string())),
            )
        };
        assert_eq!(told(&["no such file", "open x", "load"]), "load: open x: no such file");
        assert_eq!(told(&["no such file", "open x: no such file", "load"]), "load: open x: no such file");
        let twice = [
            "no such file",
            "open x: no such file",
            "open the snapshots: open x: no such file",
            "open the snapshots",
        ];
        assert_eq!(told(&twice), "open the snapshots: open x: no such file");
    }
}
