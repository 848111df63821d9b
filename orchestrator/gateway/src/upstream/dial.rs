//! Establishes connections: address resolution, TCP, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use doors::unix;
use http_client::ClientTls;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::guard::forbidden;
use super::ports::is_bad;
use super::stream::Stream;
use super::{ConnectTo, UpstreamError};
use crate::Scheme;
use crate::tls;

/// The configuration for making connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) connect_to: Vec<ConnectTo>,
    pub(crate) tls: ClientTls,
    pub(crate) allow_private: bool,
    /// The gateway's own address, if it has one. Connections to it are refused, to prevent loops.
    pub(crate) own: Option<SocketAddr>,
    /// For address resolution, TCP and TLS together.
    pub(crate) deadline: Duration,
}

/// A server as named in a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    pub(crate) scheme: Scheme,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) place: Place,
}

/// How to find a server's address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// By name, on the public internet only.
    Public,
    /// By name, with any address, because the user named it and not a page.
    Named,
    /// At this address.
    At(SocketAddr),
    /// At this Unix socket, in plain HTTP.
    Socket(Arc<Path>),
}

/// A connection, ready for its first request.
pub(crate) struct DialedStream {
    pub(crate) stream: Stream,
    pub(crate) http2: bool,
    /// The address, unless it is a Unix socket.
    pub(crate) remote: Option<SocketAddr>,
}

impl Dialer {
    /// Connects to a server for any HTTP version, or for HTTP/1.1 only.
    pub(crate) async fn dial(
        &self,
        server: &Server,
        http1_only: bool,
    ) -> Result<DialedStream, UpstreamError> {
        let deadline = Instant::now() + self.deadline;
        match timeout_at(deadline, self.dial_before(server, http1_only, deadline)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(UpstreamError::ConnectTimeout {
                host: server.host.clone(),
                waited: self.deadline,
            }),
        }
    }

    async fn dial_before(
        &self,
        server: &Server,
        http1_only: bool,
        deadline: Instant,
    ) -> Result<DialedStream, UpstreamError> {
        let connect_error = |source| UpstreamError::Connect { host: server.host.clone(), source };
        if let Place::Socket(path) = &server.place {
            let unix = unix::connect(path).await.map_err(connect_error)?;
            return Ok(DialedStream { stream: Stream::unix(unix), http2: false, remote: None });
        }
        let addresses = self.addresses(server).await?;
        // Only now, because any name can lead to the proxy's own address.
        if addresses.iter().any(|address| self.is_own(*address)) {
            return Err(UpstreamError::Loop { host: server.host.clone() });
        }
        let tcp = connect(&addresses, deadline).await.map_err(connect_error)?;
        tcp.set_nodelay(true).map_err(connect_error)?;
        let remote = Some(tcp.peer_addr().map_err(connect_error)?);
        if server.scheme == Scheme::Http {
            return Ok(DialedStream { stream: Stream::plain(tcp), http2: false, remote });
        }

        let config = if http1_only { &self.tls.http1 } else { &self.tls.any };
        let tls = tls::handshake(config, &server.host, tcp)
            .await
            .map_err(|source| UpstreamError::Tls { host: server.host.clone(), source })?;
        let http2 = tls.get_ref().1.alpn_protocol() == Some(crate::tls::H2);
        Ok(DialedStream { stream: Stream::tls(tls), http2, remote })
    }

    /// The addresses to try. Addresses from `connect-to` are used as given. Addresses resolved by
    /// name must pass the guard.
    async fn addresses(&self, server: &Server) -> Result<Vec<SocketAddr>, UpstreamError> {
        if let Place::At(address) = server.place {
            return Ok(vec![address]);
        }
        let rule = self.connect_to.iter().find(|rule| rule.applies_to(&server.host, server.port));
        let rule_address = rule.and_then(|rule| rule.address.as_deref());
        let host = rule_address.unwrap_or(&server.host);
        let port = rule.and_then(|rule| rule.to_port).unwrap_or(server.port);
        // As browsers do (bad ports of the Fetch standard): a page must not write to a mail server.
        if rule_address.is_none() && server.place == Place::Public && is_bad(port) {
            return Err(UpstreamError::Port { host: server.host.clone(), port });
        }
        let resolved = |source| UpstreamError::Resolve { host: host.to_owned(), source };
        let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
            Ok(ip) => vec![SocketAddr::new(ip, port)],
            Err(_) => tokio::net::lookup_host((host, port)).await.map_err(resolved)?.collect(),
        };
        if addresses.is_empty() {
            return Err(resolved(io::Error::new(
                io::ErrorKind::NotFound,
                "the name has no address",
            )));
        }
        // Rules are the user's own, and named places are those of the world's sites.
        if rule_address.is_some() || self.allow_private || server.place == Place::Named {
            return Ok(addresses);
        }
        let mut refusal = None;
        let allowed: Vec<SocketAddr> = addresses
            .into_iter()
            .filter(|address| match forbidden(address.ip()) {
                Some(reason) => {
                    refusal.get_or_insert((address.ip(), reason));
                    false
                }
                None => true,
            })
            .collect();
        match refusal {
            Some((ip, reason)) if allowed.is_empty() => {
                Err(UpstreamError::Guarded { host: server.host.clone(), ip, reason })
            }
            _ => Ok(allowed),
        }
    }

    fn is_own(&self, address: SocketAddr) -> bool {
        self.own.is_some_and(|own| {
            address.port() == own.port()
                && (address.ip() == own.ip()
                    || (own.ip().is_unspecified() && address.ip().is_loopback()))
        })
    }
}

/// Tries one address after the other, each with its share of the remaining time.
async fn connect(addresses: &[SocketAddr], deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no address to try");
    for (tried, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = io::Error::new(error.kind(), format!("{address}: {error}")),
            Err(_) => {
                last = io::Error::new(io::ErrorKind::TimedOut, format!("{address} did not answer"))
            }
        }
    }
    Err(last)
}
