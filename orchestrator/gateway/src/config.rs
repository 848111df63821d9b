//! What a gateway is started with.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use camino::Utf8PathBuf;

use crate::{CertificateAuthority, ConnectTo, Limits, Routes};

/// Everything a gateway needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who signs the certificates shown to clients.
    pub ca: Arc<CertificateAuthority>,
    /// What answers which host.
    pub routes: Routes,
    /// Other addresses for servers of the live web.
    pub connect_to: Vec<ConnectTo>,
    /// PEM files with certificate authorities to believe besides the public web's.
    pub extra_roots: Vec<Utf8PathBuf>,
    /// Whether the live web may be on loopback and private addresses.
    pub allow_private: bool,
    /// Bounds.
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
            limits: Limits::default(),
        }
    }
}
