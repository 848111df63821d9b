//! Waits for open sessions to end.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::pool::Pool;

/// How often sessions are counted.
const EVERY: Duration = Duration::from_millis(100);

/// Waits until no session is open; how many are after the time limit.
pub(crate) async fn sessions(pool: &Pool, within: Duration) -> usize {
    let until = Instant::now() + within;
    let mut looks = tokio::time::interval(EVERY);
    loop {
        let open: u64 = pool.all().iter().map(|server| server.state().open()).sum();
        let late = timeout_at(until, looks.tick()).await.is_err();
        if open == 0 || late {
            return usize::try_from(open).unwrap_or(usize::MAX);
        }
    }
}
