//! The client side of TLS. Only this module chooses the crypto provider.

use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The only crypto provider: ring.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The ALPN name of HTTP/2.
pub const H2: &[u8] = b"h2";
/// The ALPN name of HTTP/1.1.
pub const HTTP1: &[u8] = b"http/1.1";

/// Which servers are trusted. The configurations share their session cache.
#[derive(Debug, Clone)]
pub struct ClientTls {
    /// Offers h2 and HTTP/1.1.
    pub any: Arc<ClientConfig>,
    /// Offers HTTP/1.1 alone, for WebSockets.
    pub http1: Arc<ClientConfig>,
}

/// Why a file of extra roots cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// Not readable, not PEM, or without a certificate.
    #[error("read root certificates from {path}: {reason}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The crypto provider failed.
    #[error("set up TLS towards servers")]
    Tls(#[from] rustls::Error),
}

impl ClientTls {
    /// Trusts the public web's roots and those in the given PEM files.
    pub fn new(extra_roots: &[Utf8PathBuf]) -> Result<Self, RootsError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for path in extra_roots {
            let failed = |reason| RootsError::Read { path: path.clone(), reason };
            for certificate in read_roots(path).map_err(failed)? {
                roots.add(certificate).map_err(|error| RootsError::Read {
                    path: path.clone(),
                    reason: error.to_string(),
                })?;
            }
        }
        let mut any = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        any.alpn_protocols = vec![H2.to_vec(), HTTP1.to_vec()];
        let mut http1 = any.clone();
        http1.alpn_protocols = vec![HTTP1.to_vec()];
        Ok(Self { any: Arc::new(any), http1: Arc::new(http1) })
    }

    /// Opens a TLS session for HTTP/1.1 with a server of this name or address over a connection.
    pub async fn connect(&self, host: &str, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        handshake(&self.http1, host, tcp).await
    }
}

/// Opens a TLS session with a server of this name or address over a connection.
///
/// # Errors
/// If the name cannot be used for TLS, or the server does not prove it.
pub async fn handshake(
    config: &Arc<ClientConfig>,
    host: &str,
    tcp: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "the host is no name that TLS can carry")
    })?;
    TlsConnector::from(config.clone()).connect(name, tcp).await
}

/// The certificates of a PEM file, or why there are none.
pub(crate) fn read_roots(path: &Utf8Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let roots = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let roots = roots.map_err(|error| error.to_string())?;
    if roots.is_empty() { Err("it has no certificate".to_owned()) } else { Ok(roots) }
}
