//! Everything that can go wrong with an image. The texts read after "failed to".

use camino::{Utf8Path, Utf8PathBuf};

/// Why an operation on images failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no engine to talk to.
    #[error(transparent)]
    Engine(#[from] crate::engine::Error),
    /// The engine refused, or the connection to it broke.
    #[error("{doing}: {why}")]
    Refused {
        /// What was being done.
        doing: String,
        /// The engine's words.
        why: String,
    },
    /// The engine's disk, or ours, is full.
    #[error("{doing}: no space left on the disk ({why})")]
    DiskFull {
        /// What was being done.
        doing: String,
        /// The words it was said in.
        why: String,
    },
    /// A file could not be read or written.
    #[error("{doing} {path}: {error}")]
    Io {
        /// "read", "write", ...
        doing: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file does not say what it has to.
    #[error("read {path}: {why}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong, with its line where it has one.
        why: String,
    },
    /// The output is there already.
    #[error("write {0}: it exists; --force replaces it")]
    Exists(Utf8PathBuf),
    /// Neither a folder under `images/` nor an image of the engine.
    #[error(
        "find image {name:?}{}; there are: {}",
        suggestions::did_you_mean(name, known.iter().map(String::as_str)),
        known.join(", ")
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What could have been.
        known: Vec<String>,
    },
    /// A program is missing that the operation runs.
    #[error("run {program}: it is not installed; install it with `{install}`")]
    Missing {
        /// The program.
        program: &'static str,
        /// The command that installs it on Debian.
        install: &'static str,
    },
    /// A program ran and failed.
    #[error("{doing}: {program} ended with {status}{}", last_words(tail, log))]
    Program {
        /// What it was run for.
        doing: String,
        /// The program.
        program: &'static str,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The last lines it printed.
        tail: Vec<String>,
        /// Where all that it printed is.
        log: Option<Utf8PathBuf>,
    },
    /// A step of a Dockerfile failed.
    #[error(
        "build {image}: step {at} of {of} ({}): {}{}",
        cut(instruction, 60),
        outcome(why),
        last_words(tail, log)
    )]
    Step {
        /// The image.
        image: String,
        /// Which step, counted from 1.
        at: u32,
        /// How many there are.
        of: u32,
        /// The instruction as it stands in the Dockerfile.
        instruction: Box<str>,
        /// The engine's words.
        why: String,
        /// The last lines that the build printed.
        tail: Vec<String>,
        /// Where all that it printed is.
        log: Option<Utf8PathBuf>,
    },
    /// The registry has another image under this name than the one pinned.
    #[error("pull {image}: its content has changed: pinned is {pinned}, the registry has {found}")]
    Changed {
        /// The image.
        image: String,
        /// The digest in the lock file.
        pinned: String,
        /// The registry's digest.
        found: String,
    },
}

impl Error {
    /// What to do with an error of the engine's API that came up while `doing` something.
    pub(crate) fn of_engine(doing: impl Into<String>) -> impl FnOnce(bollard::errors::Error) -> Error {
        let doing = doing.into();
        move |error| {
            let why = words(&error);
            if is_disk_full(&why) { Error::DiskFull { doing, why } } else { Error::Refused { doing, why } }
        }
    }

    /// The same, with the file that has all that a build printed.
    pub(crate) fn logged(mut self, path: &Utf8Path) -> Error {
        if let Error::Program { log, .. } | Error::Step { log, .. } = &mut self {
            *log = Some(path.to_owned());
        }
        self
    }

    /// What to do with an error of the file system.
    pub(crate) fn of_file(doing: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |error| {
            if error.kind() == std::io::ErrorKind::StorageFull {
                Error::DiskFull { doing: format!("{doing} {path}"), why: error.to_string() }
            } else {
                Error::Io { doing, path, error }
            }
        }
    }
}

/// The engine's own words where there are some, otherwise the chain of causes.
pub(crate) fn words(error: &bollard::errors::Error) -> String {
    use bollard::errors::Error as Api;
    match error {
        Api::DockerResponseServerError { message, .. } => message.clone(),
        Api::DockerStreamError { error } => error.clone(),
        other => error_text::with_causes(other),
    }
}

/// The last line that says something, and the log, on a line each.
fn last_words(tail: &[String], log: &Option<Utf8PathBuf>) -> String {
    let words = tail.iter().rev().map(|line| plain(line)).find(|line| !line.is_empty());
    let words = words.map_or_else(String::new, |words| format!("\n  last words: {}", cut(&words, 200)));
    let log = log.as_ref().map_or_else(String::new, |log| format!("\n  log: {log}"));
    words + &log
}

/// How a step ended, of the engine's "The command '...' returned a non-zero code: 7", which repeats the instruction.
fn outcome(why: &str) -> String {
    match why.rsplit_once("returned a non-zero code: ") {
        Some((_, code)) => format!("exit code {code}"),
        None => cut(why, 200),
    }
}

/// On one line, and not longer than `most` characters.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

/// Without the sequences that colour a terminal.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest =
        parts.map(|part| part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, text)| text));
    rest.fold(first, |text, part| text + part).trim().to_owned()
}

/// The engine has no error code for it, only the system's words somewhere in its own.
pub(crate) fn is_disk_full(why: &str) -> bool {
    why.contains("no space left on device") || why.contains("No space left on device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_failed_is_told_in_three_lines() {
        let error = Error::Step {
            image: "shop".to_owned(),
            at: 3,
            of: 7,
            instruction: format!("RUN make {}", "&& make again ".repeat(50)).into(),
            why: "The command '/bin/sh -c make && make again' returned a non-zero code: 2".to_owned(),
            tail: vec!["cc".to_owned(), "\u{1b}[31merror: no\u{1b}[0m".to_owned(), String::new()],
            log: None,
        };
        let text = error.logged("/c/logs/shop.log".into()).to_string();
        let expected = "build shop: step 3 of 7 (RUN make && make again && make again && make again && make a…): exit code 2\n  \
                        last words: error: no\n  log: /c/logs/shop.log";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_full_disk_is_told_from_other_refusals() {
        let full = "Error processing tar file(exit status 1): write /big: no space left on device";
        let api = |error: &str| bollard::errors::Error::DockerStreamError { error: error.to_owned() };
        let error = Error::of_engine("load a.tar")(api(full));
        assert_eq!(error.to_string(), format!("load a.tar: no space left on the disk ({full})"));
        let error = Error::of_engine("load a.tar")(api("unexpected EOF"));
        assert_eq!(error.to_string(), "load a.tar: unexpected EOF");
        let error = Error::of_file("write", "b.tar".into())(std::io::ErrorKind::StorageFull.into());
        assert!(matches!(error, Error::DiskFull { .. }));
    }
}
