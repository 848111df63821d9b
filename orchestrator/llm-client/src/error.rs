//! The errors of this crate.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::complaint::Complaint;

/// Why there is no reply. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No cassette has the chat, and no server may be called.
    #[error("find a recorded reply to chat {digest}{}{}", in_what(.cassette), how(.nearest))]
    NotRecorded {
        /// The digest of the chat.
        digest: String,
        /// The cassette, if there is one.
        cassette: Option<Utf8PathBuf>,
        /// How the most similar recorded chat differs.
        nearest: Option<String>,
    },
    /// The address is invalid.
    #[error("use {text:?} as the address of a model server: {reason}")]
    Address {
        /// The given address.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key contains characters that a header cannot have.
    #[error("send the key for {host}: it contains characters that a header cannot have")]
    Key {
        /// The server.
        host: String,
    },
    /// A header is invalid.
    #[error("send the header {name:?} to {host}: its name or its value is invalid")]
    Header {
        /// Its name.
        name: String,
        /// The server.
        host: String,
    },
    /// The proxy or the certificates cannot be used.
    #[error(transparent)]
    Route(#[from] http_client::Error),
    /// The server did not answer properly in several attempts.
    #[error("get a reply from {host} in {attempts} attempts: {reason}")]
    Unanswered {
        /// The server.
        host: String,
        /// The number of attempts.
        attempts: u32,
        /// The last failure.
        reason: String,
    },
    /// The server rejects the request.
    #[error("get a reply from {host}: it refused the request with status {status}: {message}")]
    Refused {
        /// The server.
        host: String,
        /// Its status.
        status: u16,
        /// The beginning of its message.
        message: String,
    },
    /// The prompt has more tokens than the model accepts.
    #[error(
        "get a reply from {host}: the prompt is too long: {message} (`max_prompt_tokens` of `model` limits it)"
    )]
    TooLong {
        /// The server.
        host: String,
        /// The server's message.
        message: String,
        /// The maximum number of tokens, if the message names it.
        most: Option<u64>,
        /// The number of tokens of the prompt, if the message names it.
        had: Option<u64>,
    },
    /// The server's answer is not a chat completion.
    #[error("read the answer of {host}: {reason}")]
    Garbage {
        /// The server.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A cassette cannot be read or written.
    #[error("{doing} the cassette {path}: {source}")]
    Cassette {
        /// `read`, `lock` or `write`.
        doing: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process adds to the cassette.
    #[error(
        "add to the cassette {path}: another process uses it; give each process its own cassette, or wait"
    )]
    InUse {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A line of a cassette is invalid.
    #[error("read the cassette {path}: line {line}: {source}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong there.
        source: serde_json::Error,
    },
}

fn in_what(cassette: &Option<Utf8PathBuf>) -> String {
    match cassette {
        Some(path) => format!(" in {path}; no server was asked"),
        None => "; there is no cassette and no server".to_owned(),
    }
}

fn how(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |how| format!("; the nearest recorded chat {how}"))
}

impl Error {
    pub(crate) fn refused(host: &str, complaint: Complaint) -> Error {
        if complaint.is_of_length() {
            return Error::too_long(host, complaint.message);
        }
        let Complaint { status, message, .. } = complaint;
        Error::Refused { host: host.to_owned(), status, message }
    }

    /// Takes the numbers from the message. Servers name the maximum first, or second after the
    /// actual length.
    pub(crate) fn too_long(host: &str, message: String) -> Error {
        let digits = message
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|text| text.parse::<u64>().ok());
        let numbers: Vec<u64> = digits.filter(|number| *number >= 64).collect();
        let had = numbers.iter().copied().max();
        let most = numbers.iter().copied().find(|number| Some(*number) < had);
        let had = had.filter(|_| most.is_some());
        Error::TooLong { host: host.to_owned(), message, most, had }
    }
}

/// Why one attempt gave no reply.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The connection failed. A retry may help.
    Again(String),
    /// The server reports an error and may request a pause.
    Complains { complaint: Complaint, after: Option<Duration> },
    /// A retry would give the same result.
    Never(Error),
}
