//! What a group tells while it lives.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Receives the events of a group; called from several threads, and must return at once.
pub type Events = Arc<dyn Fn(&Event) + Send + Sync>;

/// How a used instance was made pristine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetMethod {
    /// Its state was put back while it ran, and compared with the golden one.
    Restored,
    /// Nothing had changed: only its clock was set back.
    Kept,
    /// It was removed; another one takes its place.
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

/// One thing that has just happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// An instance is being started.
    Starting {
        /// The site.
        site: String,
        /// Which instance, counted from 1.
        instance: u32,
    },
    /// An instance runs, and is not ready yet.
    Waiting {
        /// The site.
        site: String,
        /// Which instance.
        instance: u32,
        /// What is waited for, and what was seen instead.
        condition: String,
    },
    /// An instance can be leased.
    Ready {
        /// The site.
        site: String,
        /// Which instance.
        instance: u32,
        /// Since it was started.
        took: Duration,
    },
    /// An instance did not start, ended by itself, or could not be put back.
    Failed {
        /// The site.
        site: String,
        /// Which instance.
        instance: u32,
        /// What happened; reads after "failed to".
        error: String,
        /// Whether the site has been given up.
        given_up: bool,
    },
    /// A used instance is pristine again, or gone.
    Recycled {
        /// The site.
        site: String,
        /// Which instance.
        instance: u32,
        /// Since it was handed back.
        took: Duration,
        /// By which means.
        how: ResetMethod,
    },
    /// The state of an instance that should be pristine is not; the instance is replaced.
    Drifted {
        /// The site.
        site: String,
        /// Which instance.
        instance: u32,
        /// The first file that differs.
        difference: String,
    },
    /// Sites may reach services of this machine that listen on all of its addresses.
    Exposed {
        /// Why that could not be shut.
        why: String,
    },
    /// The container engine does not answer any more. What waits for it goes on once it does.
    EngineGone {
        /// Where it listened.
        host: String,
        /// What was seen instead.
        why: String,
    },
    /// The container engine answers again.
    EngineBack {
        /// Where it listens.
        host: String,
    },
    /// What a dead process had left behind was removed.
    Swept {
        /// Containers.
        containers: usize,
        /// Networks.
        networks: usize,
    },
    /// All instances of a site are gone.
    Stopped {
        /// The site.
        site: String,
    },
}
