//! What can go wrong while the demo web starts.

use std::net::SocketAddr;

use camino::Utf8PathBuf;

/// Why the demo web could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is taken or not ours.
    #[error("listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The throw-away certificate authority could not be made.
    #[error("make a certificate authority: {source}")]
    Authority {
        /// What the certificate library said.
        #[from]
        source: rcgen::Error,
    },
    /// The certificate could not be turned into a TLS configuration.
    #[error("set up TLS: {source}")]
    Tls {
        /// What the TLS library said.
        #[from]
        source: rustls::Error,
    },
    /// The certificate of the authority could not be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file or folder.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A recording cannot be served.
    #[error("open the recordings: {0}")]
    Captures(snapshots::index::IndexError),
    /// A page template does not parse.
    #[error("read a page template: {source}")]
    Template {
        /// What the template engine said.
        #[from]
        source: minijinja::Error,
    },
}
