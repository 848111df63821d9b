//! The status of the daemon, sent as JSON over its socket.

use camino::Utf8PathBuf;
use file_version::Version;
use serde::{Deserialize, Serialize};
use sites::{SiteState, SiteStatus};

use crate::DirectAddress;

/// The version of the status.
pub(crate) const FORMAT: Version = Version::FIRST;

/// The status that the daemon reports to its commands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// The version of this document.
    #[serde(default)]
    pub format: Version,
    /// The process id of the daemon.
    pub pid: u32,
    /// The proxy through which a browser reaches its sites, as `http://USER:KEY@ADDRESS`.
    pub proxy: String,
    /// The address of the server for full resets, with its key: `http://ADDRESS/KEY`.
    pub reset: String,
    /// If the container engine does not respond: why nothing can be started. Reads after "failed
    /// to".
    #[serde(default)]
    pub engine: Option<String>,
    /// The file with the certificate that clients must trust, as PEM.
    #[serde(default)]
    pub certificate: Option<Utf8PathBuf>,
    /// The folder with the manifests of its sites; absent in the status of an older version.
    #[serde(default)]
    pub manifests: Option<Utf8PathBuf>,
    /// Where programs of this user reach sites without the proxy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub direct: Vec<DirectAddress>,
    /// How many instances of each such site have an address; absent in the status of an older
    /// version.
    #[serde(default)]
    pub instances: usize,
    /// The protections that this machine lacks, as sentences.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Its sites, by name.
    pub sites: Vec<SiteStatus>,
}

impl DaemonStatus {
    /// Whether every site can be used.
    pub fn is_up(&self) -> bool {
        self.sites.iter().all(SiteStatus::is_up) && self.direct.iter().all(|own| own.is_up)
    }

    /// Whether every site can be used or was given up.
    pub fn is_settled(&self) -> bool {
        let failed = |site: &&SiteStatus| site.state == SiteState::Failed;
        let is_settled = |own: &DirectAddress| {
            own.is_up || self.sites.iter().filter(failed).any(|site| own.is_of(&site.name))
        };
        self.sites.iter().all(|site| site.is_up() || failed(&site))
            && self.direct.iter().all(is_settled)
    }
}
