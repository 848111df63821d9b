//! TLS towards browsers: certificates by a local authority. The provider and the side of clients
//! are those of `http-client`.

mod authority;
mod leaf;

pub use authority::{AuthorityError, CertificateAuthority};
pub use http_client::tls::provider;
pub(crate) use http_client::tls::{H2, HTTP1, handshake};
