//! The live web: which servers are reached, how, and how failures are handled.
//!
//! ```text
//! Upstream::send -> pool: an idle connection of this server, or
//!                   dial: connect-to, else resolve and guard, then TCP, then TLS with ALPN -> h1 or h2
//! ```
//!
//! A request is forwarded as it came, without the headers of the client's connection. Responses are
//! treated the same way. A pooled connection that went stale is replaced transparently if that is
//! safe: nothing was sent yet, or the method is idempotent and there is no body.

mod connect_to;
mod dial;
mod error;
mod guard;
mod headers;
mod pool;
mod ports;
mod response_body;
mod send;
mod socket;
mod stream;

pub use connect_to::{BadConnectTo, ConnectTo};
pub(crate) use dial::{Dialer, Place, Server};
pub use error::UpstreamError;
pub use guard::forbidden;
pub(crate) use headers::{end_to_end, join_cookies};
pub(crate) use pool::Connections;
pub(crate) use ports::is_bad as is_bad_port;
pub(crate) use response_body::UpstreamBody;
pub(crate) use send::{Upstream, UpstreamHead, UpstreamResponse};
pub(crate) use socket::UpgradeOutcome;
