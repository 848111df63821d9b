//! A deadline for scoring.
//!
//! Rules compare texts that an agent chose, by methods that their benchmarks publish. For some
//! texts these take longer than anybody waits. So all such work runs on a thread of its own.
//! Whoever waits for it gives up at the deadline, or when the run is interrupted. The thread is
//! then left alone: it holds nothing but copies, and ends with its work or with the process.
//!
//! A panic there comes from a rule that was applied to a text of an agent. It costs that episode
//! its score, and no other episode anything: a hook that ends the process at a panic has to leave
//! out the thread [`SCORING`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use results::AgentFailure;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The name of the threads on which rules work. A panic there is caught.
pub const SCORING: &str = "scoring";

/// The most and the least time for scoring. An episode's own limit lies between.
const MOST: Duration = Duration::from_secs(60);
const LEAST: Duration = Duration::from_secs(10);

/// The reason why there is no score.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotScored {
    /// It took too long.
    #[error("score the episode within {} s: what the agent did takes the scorer longer", .0.as_secs_f64())]
    TooLong(Duration),
    /// The scorer broke down.
    #[error("score the episode: the scorer broke down on what the agent did")]
    BrokeDown,
    /// The machine has no thread for it.
    #[error("score the episode: start a thread: {0}")]
    NoThread(String),
}

impl NotScored {
    /// Returns the agent's failure, if the agent can have caused it.
    pub(crate) fn reason(&self) -> Option<AgentFailure> {
        match self {
            NotScored::TooLong(_) => Some(AgentFailure::ScoringTooLong),
            NotScored::BrokeDown => Some(AgentFailure::NotScored),
            NotScored::NoThread(_) => None,
        }
    }
}

/// Returns the deadline for scoring an episode with this limit.
pub(crate) fn of_episode(limit: Duration) -> Duration {
    limit.clamp(LEAST, MOST)
}

/// Runs work of a scorer on its own thread, with a time limit.
pub(crate) async fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotScored> {
    let (done, result) = oneshot::channel();
    // Not a thread of the runtime, which waits for those when it ends.
    let thread = std::thread::Builder::new().name(SCORING.to_owned()).spawn(move || {
        // Nobody waits any more if this fails.
        let _ = done.send(catch_unwind(AssertUnwindSafe(work)).ok());
    });
    if let Err(error) = thread {
        return Err(NotScored::NoThread(error.to_string()));
    }
    match timeout(limit, result).await {
        Ok(Ok(Some(done))) => Ok(done),
        Ok(_) => Err(NotScored::BrokeDown),
        Err(_) => Err(NotScored::TooLong(limit)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_that_does_not_end_is_left_alone_and_a_panic_stays_where_it_is() {
        assert_eq!(within(MOST, || 7).await, Ok(7));
        let (hold, held) = mpsc::channel::<()>();
        let limit = Duration::from_millis(20);
        assert_eq!(
            within(limit, move || held.recv().is_ok()).await,
            Err(NotScored::TooLong(limit))
        );
        drop(hold);
        assert_eq!(
            within::<()>(MOST, || panic!("a rule broke down")).await,
            Err(NotScored::BrokeDown)
        );
    }
}
