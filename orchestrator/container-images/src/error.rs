//! The errors of this crate. The texts read after "failed to".

use camino::{Utf8Path, Utf8PathBuf};

/// Why an operation on images failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No engine can be used.
    #[error(transparent)]
    Engine(#[from] crate::engine::Error),
    /// The engine refused the request, or the connection broke.
    #[error("{doing}: {why}")]
    Refused {
        /// The operation.
        doing: String,
        /// The engine's error.
        why: String,
    },
    /// The engine's disk, or the local one, is full.
    #[error("{doing}: no space left on the disk ({why})")]
    DiskFull {
        /// The operation.
        doing: String,
        /// The original error.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("{doing} {path}: {error}")]
    Io {
        /// "read", "write", ...
        doing: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file has invalid content.
    #[error("read {path}: {why}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong, with the line if known.
        why: String,
    },
    /// The output exists already.
    #[error("write {0}: it exists; --force replaces it")]
    Exists(Utf8PathBuf),
    /// Neither a folder under `images/` nor an image of the engine has this name.
    #[error(
        "find image {name:?}{}; there are: {}",
        suggestions::did_you_mean(name, known.iter().map(String::as_str)),
        known.join(", ")
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// The available names.
        known: Vec<String>,
    },
    /// A required program is not installed.
    #[error("run {program}: it is not installed; install it with `{install}`")]
    Missing {
        /// The program.
        program: &'static str,
        /// The command that installs it on Debian.
        install: &'static str,
    },
    /// A program failed.
    #[error("{doing}: {program} ended with {status}{}", last_words(tail, log))]
    Program {
        /// The operation.
        doing: String,
        /// The program.
        program: &'static str,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The last lines of its output.
        tail: Vec<String>,
        /// The file with its whole output.
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
        /// The number of the step, from 1.
        at: u32,
        /// The number of steps.
        of: u32,
        /// The instruction in the Dockerfile.
        instruction: Box<str>,
        /// The engine's error.
        why: String,
        /// The last lines of the build's output.
        tail: Vec<String>,
        /// The file with the whole output.
        log: Option<Utf8PathBuf>,
    },
    /// The image in the registry differs from the pinned one.
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
    /// Converts an error of the engine's API that happened while `doing` something.
    pub(crate) fn of_engine(
        doing: impl Into<String>,
    ) -> impl FnOnce(bollard::errors::Error) -> Error {
        let doing = doing.into();
        move |error| {
            let why = words(&error);
            if is_disk_full(&why) {
                Error::DiskFull { doing, why }
            } else {
                Error::Refused { doing, why }
            }
        }
    }

    /// Adds the file with the whole output of a build.
    pub(crate) fn logged(mut self, path: &Utf8Path) -> Error {
        if let Error::Program { log, .. } | Error::Step { log, .. } = &mut self {
            *log = Some(path.to_owned());
        }
        self
    }

    /// Converts an error of the file system.
    pub(crate) fn of_file(
        doing: &'static str,
        path: &Utf8Path,
    ) -> impl FnOnce(std::io::Error) -> Error {
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

/// The engine's own message if it has one, otherwise the chain of causes.
pub(crate) fn words(error: &bollard::errors::Error) -> String {
    use bollard::errors::Error as Api;
    match error {
        Api::DockerResponseServerError { message, .. } => message.clone(),
        Api::DockerStreamError { error } => error.clone(),
        other => error_text::with_causes(other),
    }
}

/// The last line with text, and the log, on one line each.
fn last_words(tail: &[String], log: &Option<Utf8PathBuf>) -> String {
    let words = tail.iter().rev().map(|line| plain(line)).find(|line| !line.is_empty());
    let words =
        words.map_or_else(String::new, |words| format!("\n  last words: {}", cut(&words, 200)));
    let log = log.as_ref().map_or_else(String::new, |log| format!("\n  log: {log}"));
    words + &log
}

/// The outcome of a step. Shortens the engine's "The command '...' returned a non-zero code: 7",
/// which repeats the instruction.
fn outcome(why: &str) -> String {
    match why.rsplit_once("returned a non-zero code: ") {
        Some((_, code)) => format!("exit code {code}"),
        None => cut(why, 200),
    }
}

/// The text on one line, cut to `most` characters.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

/// The text without terminal colour sequences.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, text)| text)
    });
    rest.fold(first, |text, part| text + part).trim().to_owned()
}

/// The engine has no error code for a full disk, only the system's message.
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
            why: "The command '/bin/sh -c make && make again' returned a non-zero code: 2"
                .to_owned(),
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
        let api =
            |error: &str| bollard::errors::Error::DockerStreamError { error: error.to_owned() };
        let error = Error::of_engine("load a.tar")(api(full));
        assert_eq!(error.to_string(), format!("load a.tar: no space left on the disk ({full})"));
        let error = Error::of_engine("load a.tar")(api("unexpected EOF"));
        assert_eq!(error.to_string(), "load a.tar: unexpected EOF");
        let error = Error::of_file("write", "b.tar".into())(std::io::ErrorKind::StorageFull.into());
        assert!(matches!(error, Error::DiskFull { .. }));
    }
}
