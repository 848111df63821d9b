//! What can be seen of a group from outside.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Upstream;

/// How a site is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteState {
    /// No instance has been ready yet.
    Starting,
    /// An instance is ready, leased, or on its way back.
    Running,
    /// Its instances failed too often: it was given up.
    Failed,
    /// It was stopped.
    Stopped,
}

impl SiteState {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            SiteState::Starting => "starting",
            SiteState::Running => "running",
            SiteState::Failed => "failed",
            SiteState::Stopped => "stopped",
        }
    }
}

/// How an instance is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It was asked for, or runs and is not ready.
    Starting,
    /// It is pristine, and nobody's.
    Ready,
    /// It is somebody's.
    Leased,
    /// Its state is being put back.
    Recycling,
    /// It is being removed.
    Leaving,
}

/// One instance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InstanceStatus {
    /// Its number within the site.
    pub id: u32,
    /// How it is doing.
    pub phase: Phase,
    /// Since when.
    pub since: Timestamp,
    /// Where it is.
    pub address: Option<Upstream>,
    /// Bytes of memory that it occupied when it was last measured.
    pub memory: Option<u64>,
    /// While it starts: what is waited for, and what was seen instead.
    pub condition: Option<String>,
}

/// One site.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SiteStatus {
    /// The name of its folder.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Its front page, as a browser in the world asks for it.
    pub url: String,
    /// How it is doing.
    pub state: SiteState,
    /// Its instances. JSON calls them by their older name.
    #[serde(rename = "copies")]
    pub instances: Vec<InstanceStatus>,
    /// How many of them are ready.
    pub spares: usize,
    /// How long the last resets took, in milliseconds, the newest last.
    pub resets_ms: Vec<u64>,
    /// How often an instance's state was not what it should have been after a reset.
    pub drifts: u64,
    /// Why it failed, or what its last instance failed of.
    pub problem: Option<String>,
}

impl SiteStatus {
    /// Whether one of its instances is in use.
    pub fn is_up(&self) -> bool {
        self.state == SiteState::Running
            && self.instances.iter().any(|instance| instance.phase == Phase::Leased)
    }

    /// Memory of all instances, in bytes.
    pub fn memory(&self) -> Option<u64> {
        self.instances.iter().filter_map(|instance| instance.memory).reduce(|sum, memory| sum + memory)
    }

    /// What its instances wait for, while there is none.
    pub fn waits_for(&self) -> Option<&str> {
        self.instances.iter().find_map(|instance| instance.condition.as_deref())
    }
}

/// The last few lengths of time.
#[derive(Debug, Default)]
pub(crate) struct RecentDurations(std::collections::VecDeque<u64>);

impl RecentDurations {
    const KEPT: usize = 10;

    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push_back(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        if self.0.len() > Self::KEPT {
            self.0.pop_front();
        }
    }

    pub(crate) fn all(&self) -> Vec<u64> {
        self.0.iter().copied().collect()
    }
}
