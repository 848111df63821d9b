//! Where a site answers, as those who run it say and those who send requests to it take it.

use std::io;
use std::net::SocketAddr;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Url;

use crate::unix;

/// What precedes the path of a Unix socket.
const SOCKET: &str = "unix:";

/// Where a site answers: an instance here, or a server elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SiteTarget {
    /// An address on this machine; plain HTTP.
    Address(SocketAddr),
    /// A Unix socket in a folder that only its owner can enter; plain HTTP. Written `unix:PATH`.
    Socket(Utf8PathBuf),
    /// The URL of an external site.
    Url(Url),
}

impl std::fmt::Display for SiteTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SiteTarget::Address(address) => address.fmt(f),
            SiteTarget::Socket(path) => write!(f, "{SOCKET}{path}"),
            SiteTarget::Url(url) => url.fmt(f),
        }
    }
}

/// A connection to an instance.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection for S {}

impl SiteTarget {
    /// Connects to it, without TLS.
    ///
    /// # Errors
    /// When nobody listens there.
    pub async fn connect(&self) -> io::Result<Box<dyn Connection>> {
        Ok(match self {
            SiteTarget::Address(address) => Box::new(TcpStream::connect(address).await?),
            SiteTarget::Socket(path) => Box::new(unix::connect(path.as_std_path()).await?),
            SiteTarget::Url(url) => {
                let server =
                    (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80));
                Box::new(TcpStream::connect(server).await?)
            }
        })
    }
}

impl From<SiteTarget> for String {
    fn from(target: SiteTarget) -> String {
        target.to_string()
    }
}

impl TryFrom<String> for SiteTarget {
    type Error = url::ParseError;

    fn try_from(text: String) -> Result<SiteTarget, url::ParseError> {
        if let Some(path) = text.strip_prefix(SOCKET) {
            return Ok(SiteTarget::Socket(path.into()));
        }
        text.parse().map(SiteTarget::Address).or_else(|_| text.parse().map(SiteTarget::Url))
    }
}

impl From<SocketAddr> for SiteTarget {
    fn from(address: SocketAddr) -> SiteTarget {
        SiteTarget::Address(address)
    }
}

impl From<Url> for SiteTarget {
    fn from(url: Url) -> SiteTarget {
        SiteTarget::Url(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_read_as_it_is_written() {
        for text in ["127.0.0.1:80", "[::1]:80", "unix:/a folder/80.sock", "https://shop.test/"] {
            let read: SiteTarget = serde_json::from_value(text.into()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), text);
        }
        assert!(serde_json::from_value::<SiteTarget>("nowhere".into()).is_err());
    }
}
