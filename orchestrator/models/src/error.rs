//! Everything that can go wrong with a model, one variant each.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::complaint::Complaint;

/// Why there is no reply. Read after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The chat is in no cassette, and nobody can be asked.
    #[error("find a recorded reply to chat {digest}{}{}", in_what(.cassette), how(.nearest))]
    NotRecorded {
        /// Of the chat.
        digest: String,
        /// Where it was looked for.
        cassette: Option<Utf8PathBuf>,
        /// How the recorded chat that is most like it differs.
        nearest: Option<String>,
    },
    /// The address is none.
    #[error("use {text:?} as the address of a model server: {reason}")]
    Address {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key cannot be sent.
    #[error("send the key for {host}: it has characters that a header cannot hold")]
    Key {
        /// The server.
        host: String,
    },
    /// A header cannot be sent.
    #[error("send the header {name:?} to {host}: its name or its value is none that a header can have")]
    Header {
        /// Its name.
        name: String,
        /// The server.
        host: String,
    },
    /// The proxy cannot be used.
    #[error("use the proxy that HTTPS_PROXY names: {reason}")]
    Proxy {
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates cannot be used.
    #[error("read the certificates of {path}, which SSL_CERT_FILE names: {reason}")]
    Certificates {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The server did not answer as it should, several times.
    #[error("get a reply from {host} in {attempts} attempts: {reason}")]
    Unanswered {
        /// The server.
        host: String,
        /// How often it was asked.
        attempts: u32,
        /// What happened last.
        reason: String,
    },
    /// The server says that the request is wrong.
    #[error("have {host} accept the request: status {status}, {message}")]
    Refused {
        /// The server.
        host: String,
        /// Its status.
        status: u16,
        /// The beginning of what it said.
        message: String,
    },
    /// The prompt has more tokens than the model takes.
    #[error("have {host} take a prompt as long: {message}; `max_prompt_tokens` of `model` bounds it")]
    TooLong {
        /// The server.
        host: String,
        /// What it said.
        message: String,
        /// How many tokens it takes, where it said so.
        most: Option<u64>,
        /// How many it was to take.
        had: Option<u64>,
    },
    /// The server's answer is no chat completion.
    #[error("understand the answer of {host}: {reason}")]
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
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else adds to a cassette.
    #[error("add to the cassette {path}: another process does so; give each its own, or wait")]
    InUse {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A line of a cassette is not one.
    #[error("read the cassette {path}: line {line}: {source}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong there.
        source: serde_json::Error,
    },
}

fn in_what(cassette: &Option<Utf8PathBuf>) -> String {
    match cassette {
        Some(path) => format!(" in {path}; no server was asked"),
        None => "; there is no cassette, and no server to ask".to_owned(),
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

    /// The numbers are those of the message. Servers name the greatest length first, or second behind the one that was
    /// too great.
    pub(crate) fn too_long(host: &str, message: String) -> Error {
        let digits = message.split(|c: char| !c.is_ascii_digit()).filter_map(|text| text.parse::<u64>().ok());
        let numbers: Vec<u64> = digits.filter(|number| *number >= 64).collect();
        let had = numbers.iter().copied().max();
        let most = numbers.iter().copied().find(|number| Some(*number) < had);
        let had = had.filter(|_| most.is_some());
        Error::TooLong { host: host.to_owned(), message, most, had }
    }
}

/// Why one attempt came to nothing.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The connection failed: try again.
    Again(String),
    /// The server says why; it may ask for a pause.
    Complains { complaint: Complaint, after: Option<Duration> },
    /// It would only be the same again.
    Never(Error),
}
