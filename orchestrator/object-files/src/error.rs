//! Why an object cannot be read or written.

use camino::Utf8PathBuf;

use crate::connector::NO_CREDENTIALS;

/// Why an object cannot be read or written. The text reads after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no address that is read.
    #[error("use the address {address}: {why}")]
    Address {
        /// The address, without secrets.
        address: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The server did not do it.
    #[error("{doing} {address}: {why}")]
    Server {
        /// What was to be done, such as "read".
        doing: &'static str,
        /// The address.
        address: String,
        /// Why not.
        why: Reason,
    },
    /// A local file could not be read or written.
    #[error("{doing} {path}")]
    Local {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The client could not be made.
    #[error(transparent)]
    Client(#[from] http_client::Error),
}

/// Why a server did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It has no such object.
    #[error("there is nothing at this address")]
    NotFound,
    /// It wants other credentials.
    #[error(
        "the server does not allow it ({0}); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
         AWS_SKIP_SIGNATURE=true for what is public"
    )]
    Denied(String),
    /// The object is another one than when it was opened.
    #[error("it has changed since it was opened; begin again")]
    Changed,
    /// The server gives whole files only, and this was to be a part.
    #[error("the server sends no parts of files")]
    NoParts,
    /// Anything else, such as a server that does not answer.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Whether there is nothing at the address.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Server { why: Reason::NotFound, .. })
    }

    pub(crate) fn local(
        doing: &'static str,
        path: impl Into<Utf8PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Local { doing, path, source }
    }
}

impl From<object_store::Error> for Reason {
    fn from(error: object_store::Error) -> Reason {
        use object_store::Error as Store;
        match error {
            Store::NotFound { .. } => Reason::NotFound,
            Store::Precondition { .. } => Reason::Changed,
            Store::PermissionDenied { .. } => Reason::Denied("permission denied".to_owned()),
            Store::Unauthenticated { .. } => Reason::Denied("unknown credentials".to_owned()),
            Store::NotSupported { source } if source.to_string().contains("Range") => {
                Reason::NoParts
            }
            other => {
                let text = error_text::with_causes(&other);
                if text.contains(NO_CREDENTIALS) {
                    return Reason::Denied(NO_CREDENTIALS.to_owned());
                }
                let code = between(&text, "<Code>", "</Code>").unwrap_or_default();
                if ["ExpiredToken", "InvalidToken", "RequestExpired"].contains(&code) {
                    return Reason::Denied(format!("the credentials have expired: {code}"));
                }
                // What lies behind the end of an object that has become shorter.
                let shorter = text.contains("416 Range Not Satisfiable");
                if shorter { Reason::Changed } else { Reason::Other(in_short(&text)) }
            }
        }
    }
}

/// What happened, without the store's name, the request and the number of attempts before it.
fn in_short(text: &str) -> String {
    let after =
        text.split_once("Error performing ").and_then(|(_, request)| request.split_once(" - "));
    let happened = after.map_or(text, |(_, happened)| happened).trim_start_matches("HTTP error: ");
    // A body in XML may repeat what was sent, a token among it.
    match happened.split_once("<?xml").or_else(|| happened.split_once("<Error>")) {
        None => happened.to_owned(),
        Some((before, _)) => {
            let part = |open, close| between(happened, open, close).unwrap_or_default();
            format!("{before}{} {}", part("<Code>", "</Code>"), part("<Message>", "</Message>"))
                .trim()
                .to_owned()
        }
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.split_once(open)?.1.split_once(close).map(|(inside, _)| inside)
}
