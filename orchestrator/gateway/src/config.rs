//! The configuration with which a gateway starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use camino::Utf8PathBuf;
use doors::Admission;

use crate::{CertificateAuthority, ConnectTo, Limits, Routes, WriteGuard};

/// The configuration of a gateway.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens for clients of this machine, if anywhere. Browsers need none of it: they
    /// come by a [`Door`](doors::Door).
    pub listen: Option<Listen>,
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

/// Where a gateway listens, and for whom.
#[derive(Debug, Clone)]
pub struct Listen {
    /// The address. Port 0 selects a free port.
    pub address: SocketAddr,
    /// Who may come in.
    pub admission: Admission,
}

impl Config {
    /// A gateway with default limits that listens nowhere.
    pub fn new(ca: Arc<CertificateAuthority>, routes: Routes) -> Self {
        Self {
            listen: None,
            ca,
            routes,
            connect_to: Vec::new(),
            extra_roots: Vec::new(),
            allow_private: false,
            write_guard: None,
            limits: Limits::default(),
        }
    }

    /// The same on a free port of the loopback, for everybody on this machine: for tests and
    /// benchmarks.
    pub fn for_everybody(ca: Arc<CertificateAuthority>, routes: Routes) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            listen: Some(Listen { address, admission: Admission::Anyone }),
            ..Self::new(ca, routes)
        }
    }
}
