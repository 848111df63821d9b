//! How fast a server is asked: servers limit how often, and how much at once.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore, SemaphorePermit};
use tokio::time::{self, Instant};

/// What a server may be asked; without a limit, whatever comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Requests a minute, evenly spread.
    pub per_minute: Option<NonZeroU32>,
    /// Requests at the same time.
    pub at_once: Option<NonZeroU32>,
}

/// Hands out turns to ask.
#[derive(Debug)]
pub(crate) struct Turns {
    between: Duration,
    /// When the next request may begin.
    next: Mutex<Instant>,
    places: Semaphore,
}

impl Turns {
    pub(crate) fn new(pace: Pace) -> Turns {
        let between = pace.per_minute.map_or(Duration::ZERO, |count| Duration::from_secs(60) / count.get());
        let places = pace.at_once.map_or(Semaphore::MAX_PERMITS, |count| count.get() as usize);
        Turns { between, next: Mutex::new(Instant::now()), places: Semaphore::new(places) }
    }

    /// Comes back when a request may begin; it is under way as long as the turn is held.
    pub(crate) async fn next(&self) -> SemaphorePermit<'_> {
        let turn = self.places.acquire().await.expect("it is never closed");
        if !self.between.is_zero() {
            let mut next = self.next.lock().await;
            let begin = (*next).max(Instant::now());
            *next = begin + self.between;
            drop(next);
            time::sleep_until(begin).await;
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_are_spread_over_the_minute() {
        let turns = Turns::new(Pace { per_minute: NonZeroU32::new(6000), at_once: None });
        let began = Instant::now();
        for _ in 0..5 {
            drop(turns.next().await);
        }
        assert!(began.elapsed() >= Duration::from_millis(40));
    }

    #[tokio::test]
    async fn no_more_than_so_many_are_under_way() {
        let turns = Turns::new(Pace { per_minute: None, at_once: NonZeroU32::new(2) });
        let (first, _second) = (turns.next().await, turns.next().await);
        assert!(turns.places.try_acquire().is_err());
        drop(first);
        assert!(turns.places.try_acquire().is_ok());
    }
}
