//! External agents over HTTP: each message is one POST, and the response body is the answer.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Serialize;
use tokio::time::timeout;
use uuid::Uuid;

use super::LINE_LIMIT;
use super::protocol::Message;
use crate::Error;

/// Number of characters shown of an error answer.
const EXCERPT: usize = 4000;

/// The address of an agent: `http://HOST:PORT/PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The address as given. Results show it.
    text: String,
    uri: Uri,
}

/// The text is not the address of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The address is HTTPS, which agents do not support.
    #[error(
        "use {0} as an agent: agents are called over plain HTTP only; give an address that begins with http://"
    )]
    Encrypted(String),
    /// The text is not a valid address.
    #[error("use {text} as an agent: {reason}; write http://127.0.0.1:9000/path")]
    Malformed {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let malformed = |reason: &str| AddressError::Malformed {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let uri: Uri =
            text.parse().map_err(|error: http::uri::InvalidUri| malformed(&error.to_string()))?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("https"), _) => Err(AddressError::Encrypted(text.to_owned())),
            (Some("http"), Some(authority)) if authority.as_str().contains('@') => {
                Err(malformed("a user name or password in it would not be sent"))
            }
            (Some("http"), Some(authority)) if !authority.host().is_empty() => {
                Ok(Address { text: text.to_owned(), uri })
            }
            _ => Err(malformed("it is no address of plain http with a host")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Calls an agent at an address, for one episode.
#[derive(Debug)]
pub(super) struct Caller {
    address: Address,
    /// Distinguishes this episode from others that the same server plays, of this run or another.
    episode: String,
    client: Client<HttpConnector, Full<Bytes>>,
    /// Whether it has answered in this episode.
    connected: bool,
}

/// A message as it is posted.
#[derive(Serialize)]
struct PostedMessage<'a> {
    #[serde(flatten)]
    message: &'a Message<'a>,
    episode: &'a str,
}

impl Caller {
    /// Creates a caller. It does not connect yet.
    pub(super) fn new(address: Address) -> Caller {
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Caller { address, episode: Uuid::new_v4().to_string(), client, connected: false }
    }

    /// Its name in errors.
    pub(super) fn who(&self) -> String {
        format!("the agent at {}", self.address)
    }

    /// Posts a message and returns the body of the answer.
    pub(super) async fn ask(
        &mut self,
        message: &Message<'_>,
        within: Duration,
    ) -> Result<Vec<u8>, Error> {
        let message_type = message.name();
        let body = serde_json::to_vec(&PostedMessage { message, episode: &self.episode })
            .map_err(|why| self.unreachable(message_type, &why))?;
        timeout(within, self.post(message_type, body)).await.unwrap_or_else(|_| {
            Err(Error::Timeout { message_type, who: self.who(), after: within })
        })
    }

    async fn post(&mut self, message_type: &'static str, body: Vec<u8>) -> Result<Vec<u8>, Error> {
        let request =
            Request::post(self.address.uri.clone()).header(CONTENT_TYPE, "application/json");
        let request =
            request.body(Full::from(body)).map_err(|why| self.unreachable(message_type, &why))?;
        let response = self
            .client
            .request(request)
            .await
            .map_err(|why| self.unreachable(message_type, &why))?;
        // Any response shows that a server is there, also one that refuses.
        self.connected = true;
        let status = response.status();
        let body = match Limited::new(response.into_body(), LINE_LIMIT).collect().await {
            Ok(body) => body.to_bytes(),
            Err(why) if why.is::<LengthLimitError>() => {
                return Err(Error::Oversized {
                    message_type,
                    who: self.who(),
                    what: "body",
                    limit: LINE_LIMIT,
                });
            }
            Err(why) => return Err(self.unreachable(message_type, why.as_ref())),
        };
        if status.is_success() {
            return Ok(body.into());
        }
        let excerpt = String::from_utf8_lossy(&body).chars().take(EXCERPT).collect();
        let address = self.address.to_string();
        Err(Error::Refused { message_type, address, status: status.as_u16(), excerpt })
    }

    fn unreachable(&self, message_type: &'static str, why: &dyn std::error::Error) -> Error {
        let reason = error_text::with_causes(why);
        let (address, connected) = (self.address.to_string(), self.connected);
        Error::Unreachable { message_type, address, reason, connected }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_plain_http_with_a_host_and_no_password() {
        for good in
            ["http://127.0.0.1:9000", "http://localhost/agent?who=me", "http://[::1]:9000/a/b"]
        {
            assert_eq!(good.parse::<Address>().unwrap().to_string(), good);
        }
        assert_eq!(
            "https://agent.example/".parse::<Address>().unwrap_err(),
            AddressError::Encrypted("https://agent.example/".to_owned())
        );
        for bad in [
            "http://",
            "http:///path",
            "http://me:secret@127.0.0.1/",
            "http://a b/",
            "127.0.0.1:9000",
            "ftp://x/",
        ] {
            assert!(matches!(bad.parse::<Address>(), Err(AddressError::Malformed { .. })), "{bad}");
        }
    }
}
