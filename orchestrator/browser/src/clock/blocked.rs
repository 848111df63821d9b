//! Whether a page waits for a response in a script, as a synchronous request does.
//!
//! Such a page answers no command until it has the response, and the response must not wait for the
//! page. A busy page answers none either, but then something is at work: a thread of the pages, the
//! network, the browser itself, or what draws. So a page is blocked if it owes a reply while nothing
//! is at work, in several probes in a row, with a round trip to the browser before each.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::cdp::connection::Cdp;
use crate::cdp::tracker::Tracker;
use crate::clock::idle;

/// How often to probe.
const INTERVAL: Duration = Duration::from_millis(20);
/// How many probes in a row must find nothing at work.
const PROBES: u32 = 5;

/// Watches the active page.
#[derive(Debug, Default)]
pub(crate) struct BlockWatch {
    /// The oldest command without a reply at the last probe.
    owed: Option<u64>,
    /// How many probes in a row have found nothing at work since.
    probes: u32,
}

impl BlockWatch {
    /// Makes one more probe.
    pub(crate) async fn is_blocked(&mut self, tracker: &Tracker, cdp: &Cdp) -> bool {
        idle::ping_browser(tracker, cdp).await;
        let owed = {
            let page = tracker.lock().active().ok();
            page.and_then(|page| cdp.oldest_pending(&page.session))
        };
        let is_same = owed.is_some() && owed == self.owed;
        self.owed = owed;
        let is_quiet = is_same && idle::are_all_idle(tracker, cdp).await;
        self.probes = if is_quiet { self.probes + 1 } else { 0 };
        self.probes >= PROBES
    }
}

/// What a command to the active page comes to; `None` if the page is blocked, or has not answered
/// within `limit`. The command is not given up.
pub(crate) async fn unless_blocked<T>(
    tracker: &Tracker,
    cdp: &Cdp,
    limit: Duration,
    mut command: impl Future<Output = T> + Unpin,
) -> Option<T> {
    let (start, mut watch) = (Instant::now(), BlockWatch::default());
    while start.elapsed() < limit {
        if let Ok(reply) = timeout(INTERVAL, &mut command).await {
            return Some(reply);
        }
        if watch.is_blocked(tracker, cdp).await {
            break;
        }
    }
    None
}
