//! What a town says of itself.

use serde::{Deserialize, Serialize};

/// A town as its commands see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TownStatus {
    /// The process that holds it.
    pub pid: u32,
    /// The proxy through which a browser reaches its sites, as `http://ADDRESS`.
    pub proxy: String,
    /// Where full resets are asked for, as `http://ADDRESS`.
    pub reset: String,
    /// Its sites, by name.
    pub sites: Vec<SiteSeen>,
}

/// A site, as [`sites::SiteStatus`] has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SiteSeen {
    /// The name of its folder.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Its front page.
    pub url: String,
    /// `starting`, `running`, `failed` or `stopped`.
    pub state: String,
    /// Its copies.
    pub copies: Vec<CopySeen>,
    /// How many of them wait for their use.
    pub spares: usize,
    /// How long the last resets took in the background, in milliseconds.
    pub resets_ms: Vec<u64>,
    /// How often a copy was not what it should have been after a reset.
    pub drifts: u64,
    /// Why it failed.
    pub problem: Option<String>,
}

/// A copy, as [`sites::CopyStatus`] has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CopySeen {
    /// Its number within the site.
    pub id: u32,
    /// `starting`, `ready`, `leased`, `recycling` or `leaving`.
    pub phase: String,
    /// Where it is.
    pub address: Option<String>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// What it waits for.
    pub condition: Option<String>,
}

impl TownStatus {
    /// Whether every site can be used.
    pub fn is_up(&self) -> bool {
        self.sites.iter().all(SiteSeen::is_up)
    }

    /// Whether every site can be used or was given up.
    pub fn is_settled(&self) -> bool {
        self.sites.iter().all(|site| site.is_up() || site.state == "failed")
    }
}

impl SiteSeen {
    /// Whether the gateway leads to a copy of it.
    pub fn is_up(&self) -> bool {
        self.state == "running" && self.copies.iter().any(|copy| copy.phase == "leased")
    }

    /// Memory of all copies.
    pub fn memory(&self) -> Option<u64> {
        self.copies.iter().filter_map(|copy| copy.memory).reduce(|sum, memory| sum + memory)
    }

    /// What its copies wait for, while there is none.
    pub fn waits_for(&self) -> Option<&str> {
        self.copies.iter().find_map(|copy| copy.condition.as_deref())
    }
}
