//! The configuration with which a gateway starts.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use camino::Utf8PathBuf;

use crate::{CertificateAuthority, ConnectTo, Limits, Routes, WriteGuard};

/// The configuration of a gateway.
#[derive(Debug, Clone)]
pub struct Config {
    /// Listen address. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The authority that signs the certificates shown to clients.
    pub ca: Arc<CertificateAuthority>,
    /// The target for each host.
    pub routes: Routes,
    /// Alternative addresses for live servers.
    pub connect_to: Vec<ConnectTo>,
    /// PEM files with certificate authorities to trust in addition to the public web's.
    pub extra_roots: Vec<Utf8PathBuf>,
    /// Whether live servers may have loopback and private addresses.
    pub allow_private: bool,
    /// Stops requests to the live web that may change something at third parties; `None` lets all
    /// pass.
    pub write_guard: Option<Arc<WriteGuard>>,
    /// Resource and time limits.
    pub limits: Limits,
}

impl Config {
    /// A gateway on a free loopback port with default limits.
    pub fn new(ca: Arc<CertificateAuthority>, routes: Routes) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            ca,
            routes,
            connect_to: Vec::new(),
            extra_roots: Vec::new(),
            allow_private: false,
            write_guard: None,
            limits: Limits::default(),
        }
    }
}
