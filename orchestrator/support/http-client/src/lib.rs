//! A client of HTTP servers outside of frozen worlds, such as those of models and of object stores.
//!
//! It keeps connections, trusts the public certificates and those of a file, and goes through the
//! HTTP proxy that the environment names.

mod connection;
mod route;
pub mod tls;

use bytes::Bytes;
use camino::Utf8PathBuf;
use connection::Connection;
pub use connection::Connector;
use hyper::body::Body;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
pub use route::Route;
pub use tls::{ClientTls, RootsError};

/// A client. Clones share connections.
pub type Client<B> = legacy::Client<Connector, B>;

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The proxy cannot be used.
    #[error("use the proxy that HTTPS_PROXY names: {reason}")]
    Proxy {
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates cannot be used.
    #[error("read the certificates of {path}, which SSL_CERT_FILE names: {reason}")]
    Certificates {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// A client that reaches servers by this route.
///
/// # Errors
/// When the proxy or the certificates cannot be used.
pub fn client<B>(route: &Route) -> Result<Client<B>, Error>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = &route.certificates {
        let failed = |reason| Error::Certificates { path: path.to_owned(), reason };
        for certificate in tls::read_roots(path).map_err(failed)? {
            // A file of many certificates may contain an unusable one.
            if let Err(error) = roots.add(certificate) {
                tracing::warn!(%path, %error, "a certificate is left out");
            }
        }
    }
    let tls = rustls::ClientConfig::builder_with_provider(tls::provider())
        .with_safe_default_protocol_versions()
        .expect("ring has what TLS 1.2 and 1.3 need")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection = Connection::new(route.proxy.as_deref())?;
    let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
    Ok(legacy::Client::builder(TokioExecutor::new()).build(https.wrap_connector(connection)))
}
