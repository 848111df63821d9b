//! Errors of requests to the live web.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Why a request got no response from the live web. Each variant becomes one named response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// The name has no address.
    #[error("resolve {host}: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's error.
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
    /// The port belongs to another protocol.
    #[error(
        "reach {host}: its port {port} belongs to another protocol, and browsers do not take it in a URL"
    )]
    Port {
        /// The name.
        host: String,
        /// The port.
        port: u16,
    },
    /// The request would loop back to the gateway itself.
    #[error("reach {host}: it is this gateway")]
    Loop {
        /// The name.
        host: String,
    },
    /// The connection failed.
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
        /// The error from rustls.
        source: io::Error,
    },
    /// The server accepted the request but sent no response head in time.
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
    /// The client's request body is malformed.
    #[error("read the rest of the request to {host} from the client: {reason}")]
    UploadBroken {
        /// The name.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server closed, reset or violated the protocol before a complete head.
    #[error("get an answer from {host}: {source}")]
    Broken {
        /// The name.
        host: String,
        /// The error from hyper.
        source: hyper::Error,
    },
    /// The request cannot be expressed in the server's protocol.
    #[error("form a request to {host}: {reason}")]
    Request {
        /// The name.
        host: String,
        /// What is wrong.
        reason: String,
    },
}

impl UpstreamError {
    /// What the user can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Resolve { .. } => "check the name, and that this machine reaches a name server",
            Self::Guarded { .. } => {
                "let pages reach private addresses with --allow-private, if that is meant"
            }
            Self::Port { .. } => {
                "lead the host to an address of yours with --connect-to, if that is meant"
            }
            Self::Loop { .. } => "ask for another server than the proxy itself",
            Self::Connect { source, .. } if source.to_string().contains("open files") => {
                "allow this process more open files (ulimit -n)"
            }
            Self::Connect { .. } | Self::ConnectTimeout { .. } => {
                "see whether the server runs: `sandbox status` for a site of this town"
            }
            Self::Tls { .. } => {
                "let its authority be trusted with --upstream-ca, if it is not a public one"
            }
            Self::HeadTimeout { .. } => {
                "see what keeps the server busy, or give it longer with --stall-timeout"
            }
            Self::UploadStalled { .. } | Self::UploadBroken { .. } => {
                "send the request again, whole"
            }
            Self::Broken { .. } => {
                "look into the server's own log: `sandbox logs` for a site of this town"
            }
            Self::Request { .. } => "send the request in another form",
        }
    }

    /// A stable name for responses, logs and counters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolve { .. } => "upstream-unresolved",
            Self::Guarded { .. } | Self::Port { .. } => "upstream-forbidden",
            Self::Loop { .. } => "loop",
            Self::Connect { .. } => "upstream-unreachable",
            Self::ConnectTimeout { .. } => "upstream-connect-timeout",
            Self::Tls { .. } => "upstream-tls",
            Self::HeadTimeout { .. } => "upstream-timeout",
            Self::UploadStalled { .. } => "client-stalled",
            Self::UploadBroken { .. } => "client-broken",
            Self::Broken { .. } => "upstream-broken",
            Self::Request { .. } => "upstream-request",
        }
    }
}
