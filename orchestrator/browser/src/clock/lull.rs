//! When a page of the live web is done: when nothing has started for [`LULL`].

use std::time::Duration;

use in_flight::InFlight;

use crate::cdp::tracker::BrowserState;
use crate::clock::liveness::TimeLimit;
use crate::{Error, Session};

const LULL: Duration = Duration::from_millis(500);

impl Session {
    /// Waits until nothing is on its way and nothing has started for a while.
    pub(super) async fn wait_for_lull(
        &self,
        in_flight: &InFlight,
        limit: TimeLimit,
    ) -> Result<(), Error> {
        loop {
            self.drain(in_flight, limit).await?;
            let before = self.tracker.lock().started_count;
            let requests = in_flight.counts().started;
            let condition = |state: &BrowserState| {
                format!("the network to become idle (pending: {})", state.traffic.describe())
            };
            let more = self.tracker.wait_for(LULL.min(limit.remaining()), condition, |state| {
                (state.started_count != before).then_some(())
            });
            match more.await {
                Err(Error::Deadline { .. }) if limit.remaining().is_zero() => {
                    return Err(Error::Deadline {
                        condition: condition(&self.tracker.lock()),
                        waited: limit.whole,
                    });
                }
                // The gateway may know of a request before the browser's event of it is here.
                Err(Error::Deadline { .. }) if in_flight.counts().started == requests => {
                    return Ok(());
                }
                Err(Error::Deadline { .. }) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
