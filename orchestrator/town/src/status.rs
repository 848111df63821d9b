//! What a town says of itself.

use serde::{Deserialize, Serialize};
use sites::{SiteState, SiteStatus};

/// A town as its commands see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TownStatus {
    /// The process that holds it.
    pub pid: u32,
    /// The proxy through which a browser reaches its sites, as `http://ADDRESS`.
    pub proxy: String,
    /// Where full resets are asked for, as `http://ADDRESS`.
    pub reset: String,
    /// Why nothing can be started, where its container engine does not answer; reads after "failed
    /// to".
    #[serde(default)]
    pub engine: Option<String>,
    /// Its sites, by name.
    pub sites: Vec<SiteStatus>,
}

impl TownStatus {
    /// Whether every site can be used.
    pub fn is_up(&self) -> bool {
        self.sites.iter().all(SiteStatus::is_up)
    }

    /// Whether every site can be used or was given up.
    pub fn is_settled(&self) -> bool {
        self.sites.iter().all(|site| site.is_up() || site.state == SiteState::Failed)
    }
}
