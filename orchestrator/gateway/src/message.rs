//! The messages between the parts of the gateway: a request head, and the reply to it.

use http::{HeaderMap, Method, StatusCode, Version};
use snapshots::index::{self, Effect};

use crate::record::as_listed;
use crate::upstream::{Place, Server};
use crate::{Answer, Body, GivenCapture};

/// The scheme of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Plain HTTP, as a forward-proxy request or inside CONNECT.
    Http,
    /// TLS inside CONNECT.
    Https,
}

impl Scheme {
    /// The scheme as in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// The default port of the scheme.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// A request without its body, with its absolute URL.
#[derive(Debug, Clone)]
pub struct RequestHead {
    /// The method as sent.
    pub method: Method,
    /// The absolute URL: lower-case scheme and host, no default port, no fragment. Path and query
    /// are byte for byte as sent. A WebSocket handshake has `ws:` or `wss:`.
    pub url: String,
    /// The scheme of the connection.
    pub scheme: Scheme,
    /// Lower-case host name, or an IP address without brackets.
    pub host: String,
    /// The port, even if the URL omits it.
    pub port: u16,
    /// The client's HTTP version.
    pub version: Version,
    /// End-to-end headers in the order received. Hop-by-hop headers are removed. `host` is present
    /// for HTTP/1.1 only.
    pub headers: HeaderMap,
}

impl RequestHead {
    /// The server that the URL names.
    pub(crate) fn server(&self) -> Server {
        Server {
            scheme: self.scheme,
            host: self.host.clone(),
            port: self.port,
            place: Place::Public,
        }
    }

    /// What it would do, with this body, if its server took it.
    pub(crate) fn effect(&self, body: &[u8]) -> Effect {
        index::effect_of_request(self.method.as_str(), &self.url, &as_listed(&self.headers), body)
    }

    /// Whether it would change something, with this body, for all that it says.
    pub(crate) fn may_change(&self, body: &[u8]) -> bool {
        matches!(self.effect(body), Effect::Write(_) | Effect::Action)
    }

    /// A header's value as text, if it is present and visible ASCII.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A response ready to be sent, with how it was found.
#[derive(Debug)]
pub struct Reply {
    /// Status code.
    pub status: StatusCode,
    /// Headers. The connection adds the framing (`transfer-encoding`, `connection`);
    /// `content-length` may be absent.
    pub headers: HeaderMap,
    /// The body as recorded, with its content encoding.
    pub body: Body,
    /// What the ledger records.
    pub answer: Answer,
    /// The capture that it is from.
    pub capture: Option<GivenCapture>,
}
