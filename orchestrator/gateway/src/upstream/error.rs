//! What can go wrong on the way to the live web.

use std::{io, net::IpAddr, time::Duration};

/// Why a request got no answer from the live web. Each becomes one named response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// The name has no address.
    #[error("resolve {host}: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// All addresses of the name are outside the public internet.
    #[error("reach {host}: its address {ip} is {reason}, which is not allowed")]
    Guarded {
        /// The name.
        host: String,
        /// The first forbidden address.
        ip: IpAddr,
        /// The kind of address.
        reason: &'static str,
    },
    /// The request would come back to the gateway itself.
    #[error("reach {host}: it is this gateway")]
    Loop {
        /// The name.
        host: String,
    },
    /// No connection.
    #[error("connect to {host}: {source}")]
    Connect {
        /// The name.
        host: String,
        /// The last attempt's error.
        source: io::Error,
    },
    /// No connection, or no TLS session, in time.
    #[error("connect to {host} within {waited:?}")]
    ConnectTimeout {
        /// The name.
        host: String,
        /// The deadline.
        waited: Duration,
    },
    /// The TLS handshake failed.
    #[error("agree on TLS with {host}: {source}")]
    Tls {
        /// The name.
        host: String,
        /// What rustls said.
        source: io::Error,
    },
    /// The server took the request but began no answer in time.
    #[error("get an answer from {host} within {waited:?}")]
    HeadTimeout {
        /// The name.
        host: String,
        /// The deadline.
        waited: Duration,
    },
    /// The client stopped sending the request's body.
    #[error("get the rest of the request to {host} from the client within {waited:?}")]
    UploadStalled {
        /// The name.
        host: String,
        /// The deadline.
        waited: Duration,
    },
    /// The server closed, reset or broke the protocol before a complete head.
    #[error("get an answer from {host}: {source}")]
    Broken {
        /// The name.
        host: String,
        /// What hyper said.
        source: hyper::Error,
    },
    /// The request cannot be expressed towards the server.
    #[error("form a request to {host}: {reason}")]
    Request {
        /// The name.
        host: String,
        /// What is wrong.
        reason: String,
    },
}

impl UpstreamError {
    /// A stable name for responses, logs and counters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolve { .. } => "upstream-unresolved",
            Self::Guarded { .. } => "upstream-forbidden",
            Self::Loop { .. } => "loop",
            Self::Connect { .. } => "upstream-unreachable",
            Self::ConnectTimeout { .. } => "upstream-connect-timeout",
            Self::Tls { .. } => "upstream-tls",
            Self::HeadTimeout { .. } => "upstream-timeout",
            Self::UploadStalled { .. } => "client-stalled",
            Self::Broken { .. } => "upstream-broken",
            Self::Request { .. } => "upstream-request",
        }
    }
}
