//! What passes between the parts of the gateway: the head of a request, and the reply to it.

use http::{HeaderMap, Method, StatusCode, Version};

use crate::{
    Answer, Body,
    upstream::{Place, Server},
};

/// The scheme a client reached us with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP, as a forward-proxy request or inside CONNECT.
    Http,
    /// TLS inside CONNECT.
    Https,
}

impl Scheme {
    /// The scheme as it stands in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// The port a URL of this scheme means when it names none.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// A request without its body, with the absolute URL worked out.
#[derive(Debug, Clone)]
pub struct RequestHead {
    /// The method as sent.
    pub method: Method,
    /// The absolute URL: lower-case scheme and host, no default port, path and query byte for byte
    /// as sent, no fragment. A WebSocket handshake has `ws:` or `wss:`.
    pub url: String,
    /// The scheme of the connection.
    pub scheme: Scheme,
    /// Lower-case host name, or an IP address without brackets.
    pub host: String,
    /// The port, also where the URL leaves it out.
    pub port: u16,
    /// The version the client spoke.
    pub version: Version,
    /// End-to-end headers, in the order received; hop-by-hop ones are gone, `host` is present for
    /// HTTP/1.1 only.
    pub headers: HeaderMap,
}

impl RequestHead {
    /// The server that the URL names.
    pub(crate) fn server(&self) -> Server {
        Server { scheme: self.scheme, host: self.host.clone(), port: self.port, place: Place::Public }
    }

    /// A header's value as text, if it is there and is visible ASCII.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// An answer ready to be sent, with the level at which it was found.
#[derive(Debug)]
pub struct Reply {
    /// Status code.
    pub status: StatusCode,
    /// Headers; framing (`transfer-encoding`, `connection`) is left to the connection,
    /// `content-length` may be absent.
    pub headers: HeaderMap,
    /// The body as recorded, content encoding kept.
    pub body: Body,
    /// What the ledger says about it.
    pub answer: Answer,
}
