//! TLS on both sides. Only this module chooses the crypto provider. All code in the project that
//! uses TLS gets its configuration here.

mod authority;
mod client;
mod leaf;

use std::sync::Arc;

pub use authority::{AuthorityError, CertificateAuthority};
pub(crate) use client::handshake;
pub use client::{ClientTls, RootsError};
use rustls::crypto::CryptoProvider;

/// The only crypto provider: ring.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// ALPN names in the order of preference.
pub(crate) const H2: &[u8] = b"h2";
pub(crate) const HTTP1: &[u8] = b"http/1.1";
