//! The events that a site group reports.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Receives the events of a group. Called from several threads; must return at once.
pub type Events = Arc<dyn Fn(&Event) + Send + Sync>;

/// The method by which a used instance became pristine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetMethod {
    /// Its state was restored while it ran, and compared with the golden state.
    Restored,
    /// Nothing had changed: only its clock was set back.
    Kept,
    /// It was removed, and another instance takes its place.
    Replaced,
}

impl fmt::Display for ResetMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ResetMethod::Restored => "restored",
            ResetMethod::Kept => "kept",
            ResetMethod::Replaced => "replaced",
        })
    }
}

/// One event.
#[derive(Debug, Clone)]
pub enum Event {
    /// An instance is starting.
    Starting {
        /// The site.
        site: String,
        /// The number of the instance, counted from 1.
        instance: u32,
    },
    /// An instance runs, but is not ready yet.
    Waiting {
        /// The site.
        site: String,
        /// The number of the instance.
        instance: u32,
        /// The condition it waits for, and what was observed instead.
        condition: String,
    },
    /// An instance can be leased.
    Ready {
        /// The site.
        site: String,
        /// The number of the instance.
        instance: u32,
        /// The time since its start.
        took: Duration,
    },
    /// An instance failed to start, ended unexpectedly, or could not be restored.
    Failed {
        /// The site.
        site: String,
        /// The number of the instance.
        instance: u32,
        /// The error message; reads after "failed to".
        error: String,
        /// Whether the site has been given up.
        given_up: bool,
    },
    /// A used instance is pristine again, or was removed.
    Recycled {
        /// The site.
        site: String,
        /// The number of the instance.
        instance: u32,
        /// The time since it was handed back.
        took: Duration,
        /// The method of the reset.
        how: ResetMethod,
    },
    /// The state of an instance that should be pristine differs from the golden state. The instance
    /// is replaced.
    Drifted {
        /// The site.
        site: String,
        /// The number of the instance.
        instance: u32,
        /// The first file that differs.
        difference: String,
    },
    /// Sites may reach services of this machine that listen on all addresses, and other users of
    /// this machine reach the sites.
    Exposed {
        /// The reason why the firewall rule could not be set.
        why: String,
    },
    /// Other users of this machine reach the ports of sites.
    Reachable {
        /// The reason why there is neither a network of its own nor a rule for the firewall.
        why: String,
    },
    /// Sites run with fewer limits than their manifests say.
    Unlimited {
        /// The missing limits, and the reason.
        why: String,
    },
    /// The container engine does not respond any more. Operations that wait for it continue when it
    /// is back.
    EngineGone {
        /// The endpoint that it listened on.
        host: String,
        /// The observation instead.
        why: String,
    },
    /// The container engine responds again.
    EngineBack {
        /// The endpoint that it listens on.
        host: String,
    },
    /// Resources of a dead process were removed.
    Swept {
        /// The number of containers.
        containers: usize,
        /// The number of networks.
        networks: usize,
    },
    /// All instances of a site are removed.
    Stopped {
        /// The site.
        site: String,
    },
}

impl Event {
    /// Returns the event in words; none for events of no interest while all goes well.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Event::Starting { site, .. } => format!("starting {site}"),
            Event::Waiting { site, condition, .. } => format!("{site} waits for {condition}"),
            Event::Ready { site, took, .. } => {
                format!("{site} is ready after {:.1} s", took.as_secs_f64())
            }
            Event::Failed { site, error, .. } => format!("{site} failed to {error}"),
            Event::Drifted { site, difference, .. } => {
                format!("{site} failed to reset: {difference}")
            }
            Event::Unlimited { why } => format!("sites run with fewer limits: {why}"),
            Event::EngineGone { host, why } => {
                format!("the container engine at {host} does not answer ({why})")
            }
            Event::EngineBack { host } => format!("the container engine at {host} answers again"),
            // They are warnings.
            Event::Exposed { .. } | Event::Reachable { .. } => return None,
            Event::Swept { .. } | Event::Recycled { .. } | Event::Stopped { .. } => return None,
        })
    }

    /// Returns the warning that a person must see even if all goes well: a protection that this
    /// machine lacks.
    pub fn warning(&self) -> Option<String> {
        match self {
            Event::Exposed { why } => Some(format!(
                "containers of sites may reach services of this machine that listen on all addresses, and other \
                 users of the machine reach them: {why}"
            )),
            Event::Reachable { why } => {
                Some(format!("other users of this machine reach the ports of sites: {why}"))
            }
            _ => None,
        }
    }
}
