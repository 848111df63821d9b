//! Whether a page waits for a response in a script, as a synchronous request does.
//!
//! Such a page answers no command until it has the response, and the response must not wait for
//! the page. A busy page answers none either, but then something is at work: a thread of the pages,
//! the network, the browser itself, or what draws. So a page is blocked if it owes a reply while
//! nothing is at work, in several probes in a row, with a round trip to the browser before each.

use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::time::timeout;

use crate::cdp::connection::{Cdp, SessionId};
use crate::cdp::tracker::Tracker;
use crate::clock::idle;

/// The interval between probes.
const INTERVAL: Duration = Duration::from_millis(20);
/// How many probes in a row must find nothing at work.
const PROBES: u32 = 5;

/// Watches a page.
#[derive(Debug)]
pub(crate) struct BlockWatch<'a> {
    tracker: &'a Tracker,
    cdp: &'a Cdp,
    session: SessionId,
    /// The oldest command without a reply at the last probe.
    owed: Option<u64>,
    /// How many probes in a row have found nothing at work since.
    probes: u32,
}

impl<'a> BlockWatch<'a> {
    pub(crate) fn new(tracker: &'a Tracker, cdp: &'a Cdp, session: &SessionId) -> Self {
        Self { tracker, cdp, session: session.clone(), owed: None, probes: 0 }
    }

    /// Makes one more probe.
    pub(crate) async fn is_blocked(&mut self) -> bool {
        idle::ping_browser(self.tracker, self.cdp).await;
        let owed = self.cdp.oldest_pending(&self.session);
        let is_same = owed.is_some() && owed == self.owed;
        self.owed = owed;
        let is_quiet = is_same && idle::are_all_idle(self.tracker, self.cdp).await;
        self.probes = if is_quiet { self.probes + 1 } else { 0 };
        self.probes >= PROBES
    }
}

/// Waits for the result of a command to a page. `None` if the page is blocked, or has not answered
/// within `limit`. The command stays under way.
pub(crate) async fn unless_blocked<T>(
    mut watch: BlockWatch<'_>,
    limit: Duration,
    mut command: impl Future<Output = T> + Unpin,
) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Ok(reply) = timeout(INTERVAL, &mut command).await {
            return Some(reply);
        }
        if watch.is_blocked().await || start.elapsed() >= limit {
            // It may have come during the probe.
            return command.now_or_never();
        }
    }
}
