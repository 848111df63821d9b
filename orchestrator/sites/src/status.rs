//! The public status of a site group.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::SiteTarget;

/// The state of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteState {
    /// No instance has been ready yet.
    Starting,
    /// An instance is ready, leased, or being reset.
    Running,
    /// Its instances failed too often, and the site was given up.
    Failed,
    /// It was stopped.
    Stopped,
}

impl SiteState {
    /// Its textual form.
    pub fn as_str(self) -> &'static str {
        match self {
            SiteState::Starting => "starting",
            SiteState::Running => "running",
            SiteState::Failed => "failed",
            SiteState::Stopped => "stopped",
        }
    }
}

/// The phase of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It is requested, or runs but is not ready yet.
    Starting,
    /// It is pristine and not leased.
    Ready,
    /// It is leased.
    Leased,
    /// Its state is being restored.
    Recycling,
    /// It is being removed.
    Leaving,
}

/// One instance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InstanceStatus {
    /// Its number within the site.
    pub id: u32,
    /// The phase of its life cycle.
    pub phase: Phase,
    /// When this phase began.
    pub since: Timestamp,
    /// Its address.
    pub address: Option<SiteTarget>,
    /// Its memory in bytes at the last measurement.
    pub memory: Option<u64>,
    /// While it starts: the condition it waits for, and what was observed instead.
    pub condition: Option<String>,
}

/// One site.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SiteStatus {
    /// The name of its folder.
    pub name: String,
    /// The display name.
    pub title: String,
    /// The URL of its front page, as a browser requests it.
    pub url: String,
    /// The state of the site.
    pub state: SiteState,
    /// Its instances. JSON uses their older name.
    #[serde(rename = "copies")]
    pub instances: Vec<InstanceStatus>,
    /// How many of them are ready.
    pub spares: usize,
    /// The durations of the last resets in milliseconds, the newest last.
    pub resets_ms: Vec<u64>,
    /// How often an instance's state was wrong after a reset.
    pub drifts: u64,
    /// The reason why the site failed, or the last failure of an instance.
    pub problem: Option<String>,
}

impl SiteStatus {
    /// Whether one of its instances is in use.
    pub fn is_up(&self) -> bool {
        self.state == SiteState::Running
            && self.instances.iter().any(|instance| instance.phase == Phase::Leased)
    }

    /// The memory of all instances in bytes.
    pub fn memory(&self) -> Option<u64> {
        self.instances
            .iter()
            .filter_map(|instance| instance.memory)
            .reduce(|sum, memory| sum + memory)
    }

    /// The condition that a starting instance waits for.
    pub fn waits_for(&self) -> Option<&str> {
        self.instances.iter().find_map(|instance| instance.condition.as_deref())
    }
}

/// The last few durations.
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
