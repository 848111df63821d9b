//! Clocks of the running sites: they advance in real time, and start again with every instance.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use sites::Lease;

pub(crate) const TICK: Duration = Duration::from_secs(1);

/// The clock of one instance. It shows the manifest's clock at the first use.
#[derive(Debug)]
pub(crate) struct RunningClock {
    start: Option<Timestamp>,
    since: Instant,
}

impl RunningClock {
    pub(crate) fn of(lease: &Lease) -> RunningClock {
        RunningClock { start: lease.site().clock, since: Instant::now() }
    }

    pub(crate) fn tick(&self, lease: &Lease) {
        let passed = SignedDuration::try_from(self.since.elapsed()).unwrap_or_default();
        let Some(now) = self.start.and_then(|start| start.checked_add(passed).ok()) else { return };
        if let Err(error) = lease.set_clock(now) {
            tracing::warn!(%error, "a site's clock stands still");
        }
    }
}
