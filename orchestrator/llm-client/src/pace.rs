//! Rate limits of a model server: requests and tokens for each minute, and concurrent requests.

use std::num::NonZeroU32;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{self, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// The limits of a server. A missing limit is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Requests for each minute, evenly spread.
    pub per_minute: Option<NonZeroU32>,
    /// Tokens of prompts and replies for each minute, evenly spread.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Concurrent requests.
    pub at_once: Option<NonZeroU32>,
}

/// Schedules requests within the limits.
#[derive(Debug)]
pub(crate) struct Turns {
    between: Duration,
    token: Duration,
    /// When the next request may begin.
    next: Mutex<Instant>,
    places: Semaphore,
}

/// Permission for one request. Hold it while the request is in flight.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    /// The estimate of its tokens.
    tokens: u64,
    _place: SemaphorePermit<'a>,
}

impl Turns {
    pub(crate) fn new(pace: Pace) -> Turns {
        let share =
            |count: Option<NonZeroU32>| count.map_or(Duration::ZERO, |count| MINUTE / count.get());
        let places = pace.at_once.map_or(Semaphore::MAX_PERMITS, |count| count.get() as usize);
        Turns {
            between: share(pace.per_minute),
            token: share(pace.tokens_per_minute),
            next: Mutex::new(Instant::now()),
            places: Semaphore::new(places),
        }
    }

    /// Waits until a request of about this many tokens may start.
    pub(crate) async fn next(&self, tokens: u64) -> Turn<'_> {
        let place = self.places.acquire().await.expect("it is never closed");
        let begin = {
            let mut next = self.next.lock();
            let begin = (*next).max(Instant::now());
            *next = begin + self.between.max(self.time_of(tokens));
            begin
        };
        if begin > Instant::now() {
            time::sleep_until(begin).await;
        }
        Turn { turns: self, tokens, _place: place }
    }

    fn time_of(&self, tokens: u64) -> Duration {
        self.token.saturating_mul(u32::try_from(tokens).unwrap_or(u32::MAX)).min(10 * MINUTE)
    }
}

impl Turn<'_> {
    /// Reports the real number of tokens. If the estimate was too low, the next request is delayed.
    pub(crate) fn took(&self, tokens: u64) {
        let more = self.turns.time_of(tokens.saturating_sub(self.tokens));
        *self.turns.next.lock() += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_are_spread_over_the_minute() {
        let turns = Turns::new(Pace { per_minute: NonZeroU32::new(6000), ..Pace::default() });
        let began = Instant::now();
        for _ in 0..5 {
            drop(turns.next(0).await);
        }
        assert!(began.elapsed() >= Duration::from_millis(40));
    }

    #[tokio::test]
    async fn no_more_than_so_many_are_under_way() {
        let turns = Turns::new(Pace { at_once: NonZeroU32::new(2), ..Pace::default() });
        let (first, _second) = (turns.next(0).await, turns.next(0).await);
        assert!(turns.places.try_acquire().is_err());
        drop(first);
        assert!(turns.places.try_acquire().is_ok());
    }

    #[tokio::test]
    async fn tokens_put_off_what_comes_after_them() {
        // 10 µs for each.
        let turns =
            Turns::new(Pace { tokens_per_minute: NonZeroU32::new(6_000_000), ..Pace::default() });
        let began = Instant::now();
        turns.next(1000).await.took(2000);
        turns.next(1000).await.took(10);
        assert!(began.elapsed() >= Duration::from_millis(20));
        drop(turns.next(0).await);
        assert!(began.elapsed() >= Duration::from_millis(30));
        assert_eq!(turns.time_of(u64::MAX), 10 * MINUTE, "nobody waits for ever");
    }
}
