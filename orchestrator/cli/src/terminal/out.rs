//! What commands print, and what becomes of it where nobody takes it.
//!
//! The macros stand in the place of the standard library's, which panic when a write fails. A
//! reader who has gone, as in `sandbox tasks list | head -1`, has what it wanted: nothing more is
//! printed, and the command goes on to its own end. A disk that is full is a failure of the
//! command, unless it fails anyway; [`finish`] says so in the end. What cannot be written to stderr
//! is lost: there is nobody left to tell.
//!
//! Whatever is printed here is cleaned of what a terminal obeys (`clean`): much of it is written by
//! others. Only the styles of prefixes are added afterwards.

use std::fmt::{Arguments, Display};
use std::io::{self, IsTerminal as _, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8Path;
use clap::error::ErrorKind;
use parking_lot::Mutex;
use serde::Serialize;
use snapshots::is_address;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, OrFail, Outcome};
use crate::terminal::clean;
use crate::terminal::color;

/// As [`std::print`].
macro_rules! print {
    ($($what:tt)*) => { $crate::terminal::out::to_stdout(::std::format_args!($($what)*)) };
}

/// As [`std::println`].
macro_rules! println {
    ($($what:tt)*) => { $crate::terminal::out::to_stdout(::std::format_args!("{}\n", ::std::format_args!($($what)*))) };
}

/// As [`std::eprintln`].
macro_rules! eprintln {
    ($($what:tt)*) => { $crate::terminal::out::to_stderr(::std::format_args!("{}\n", ::std::format_args!($($what)*))) };
}

/// The target of what is said on stderr where that is a log in JSON.
pub(crate) const MESSAGE: &str = "sandbox::said";

/// Whether stderr is a log in JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);
/// Why stdout takes no more, other than that its reader has gone.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);
/// Cancelled once nobody takes what is printed.
static SHUT: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);

/// Prints what a command says. What others have written is shown as text, whatever is in it.
pub(crate) fn to_stdout(text: Arguments<'_>) {
    let _ = Stdout.write_all(clean::text(&text.to_string()).as_bytes());
}

/// Where stderr is a log in JSON, what is said there is part of it.
pub(crate) fn to_stderr(text: Arguments<'_>) {
    if AS_JSON.load(Ordering::Relaxed) {
        tracing::info!(target: MESSAGE, "{}", text.to_string().trim_end());
    } else {
        write_stderr(&clean::text(&text.to_string()));
    }
}

/// Writes what is clean already.
fn write_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Prints lines of JSON that are written already.
pub(crate) fn json_text(text: &[u8]) {
    let _ = Stdout.write_all(clean::json(&String::from_utf8_lossy(text)).as_bytes());
}

/// Writes a file's bytes to standard output. A terminal, which obeys some of them, gets them as
/// text.
pub(crate) fn data(bytes: &[u8]) {
    if io::stdout().is_terminal() {
        let _ = Stdout.write_all(clean::text(&String::from_utf8_lossy(bytes)).as_bytes());
    } else {
        let _ = Stdout.write_all(bytes);
    }
}

/// Prints a JSON document for people and programs.
pub(crate) fn json(value: &impl Serialize) {
    let text = serde_json::to_string_pretty(value).expect("what commands report is plain data");
    json_text(format!("{text}\n").as_bytes());
}

/// Prints a JSON document on one line, as the commands do that print several.
pub(crate) fn json_line(value: &impl Serialize) {
    let text = serde_json::to_string(value).expect("what commands report is plain data");
    json_text(format!("{text}\n").as_bytes());
}

/// What every error on stderr begins with.
pub(crate) const ERROR: &str = "error: ";

/// Prints an error. The prefix is added here and nowhere else; in a log, the level stands for it.
pub(crate) fn error(why: &impl Display) {
    if AS_JSON.load(Ordering::Relaxed) {
        tracing::error!(target: MESSAGE, "{why}");
    } else {
        let why = why.to_string();
        write_stderr(&format!("{}{}\n", color::styled(color::ERROR, ERROR), clean::text(&why)));
    }
}

/// Prints a warning: something is lost or left out, and the command goes on.
pub(crate) fn warn(what: &impl Display) {
    if AS_JSON.load(Ordering::Relaxed) {
        tracing::warn!(target: MESSAGE, "{what}");
    } else {
        let what = what.to_string();
        write_stderr(&format!(
            "{}{}\n",
            color::styled(color::WARNING, "warning: "),
            clean::text(&what)
        ));
    }
}

/// From now on stderr is a log in JSON.
pub(crate) fn log_messages() {
    AS_JSON.store(true, Ordering::Relaxed);
}

/// Stdout. No write fails.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !SHUT.is_cancelled() {
            note(io::stdout().lock().write_all(bytes));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !SHUT.is_cancelled() {
            note(io::stdout().lock().flush());
        }
        Ok(())
    }
}

/// Stderr for logs, which come in whole lines. No write fails.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        match (AS_JSON.load(Ordering::Relaxed), color::is_on_stderr()) {
            (true, _) => write_stderr(&clean::json(&line)),
            (false, true) => write_stderr(&clean::log(&line)),
            (false, false) => write_stderr(&clean::text(&line)),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a file is named as programs name standard output.
pub(crate) fn is_stdout(output: &Utf8Path) -> bool {
    output == "-"
}

/// Fails where standard output or an address is named for what cannot be written there.
pub(crate) fn is_a_path(output: &Utf8Path) -> Outcome {
    if is_address(output) {
        return Err(Failure::Input(format!(
            "failed to write to {output}: only `sandbox run` and `sandbox snapshot push` write to an address; name a \
             path"
        )));
    }
    if is_stdout(output) {
        return Err(Failure::Input(
            "failed to write to `-`: this cannot be written to standard output; name a file or a folder"
                .to_owned(),
        ));
    }
    Ok(())
}

fn note(written: io::Result<()>) {
    let Err(error) = written else { return };
    SHUT.cancel();
    if error.kind() != io::ErrorKind::BrokenPipe {
        LOST.lock().get_or_insert(error);
    }
}

/// Waits until nobody takes what is printed, for commands that print without an end.
pub(crate) async fn is_shut() {
    SHUT.cancelled().await;
}

/// What a command has come to, once all that it printed is out.
pub(crate) fn finish(outcome: Outcome) -> Outcome {
    let _ = Stdout.flush();
    outcome?;
    match LOST.lock().take() {
        Some(error) => Err::<(), io::Error>(error).or_environment("write to stdout"),
        None => Ok(()),
    }
}

/// Prints what the command line's reader has to say, which ends the command: help, or what was
/// wrong.
pub(crate) fn explain(said: &clap::Error) -> Outcome {
    if said.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = said.print();
        return Err(Failure::Reported(2));
    }
    if said.use_stderr() {
        // What is wrong may be in a file of somebody else, so the text has no sequences left.
        let text = said.render().to_string();
        match text.strip_prefix(ERROR) {
            Some(why) => error(&why.trim_end()),
            None => eprintln!("{}", text.trim_end()),
        }
        return Err(Failure::Reported(2));
    }
    note(said.print());
    Ok(())
}

/// A command line that a shell reads as these words.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    // A word with a zero byte cannot be written for a shell, nor come from one.
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}
