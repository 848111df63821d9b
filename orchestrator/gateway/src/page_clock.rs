//! The time that the pages of an episode see. A request that contains it is recognised by it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::SystemTime,
};

/// The clock of an episode's pages; the machine's until it is set. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct PageClock(Arc<Times>);

#[derive(Debug)]
struct Times {
    /// Milliseconds since 1970 of a clock that stands, or [`RUNS`].
    stands_at: AtomicI64,
    /// How far a clock that runs is from the machine's, in milliseconds.
    shift: AtomicI64,
}

const RUNS: i64 = i64::MIN;

impl Default for PageClock {
    fn default() -> Self {
        PageClock(Arc::new(Times { stands_at: AtomicI64::new(RUNS), shift: AtomicI64::new(0) }))
    }
}

impl PageClock {
    /// The clock stands at this time, in milliseconds since 1970.
    pub fn stand_at(&self, millis: i64) {
        self.0.stands_at.store(millis, Relaxed);
    }

    /// The clock runs, this many milliseconds from the machine's.
    pub fn run(&self, shift: i64) {
        self.0.shift.store(shift, Relaxed);
        self.0.stands_at.store(RUNS, Relaxed);
    }

    /// The time that it shows, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        match self.0.stands_at.load(Relaxed) {
            RUNS => {
                let machine = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                machine.map_or(0, |since| since.as_millis() as i64).saturating_add(self.0.shift.load(Relaxed))
            }
            stands => stands,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_the_machines_until_it_is_set() {
        let (clock, machine) = (PageClock::default(), PageClock::default());
        assert!(clock.now() > 1_750_000_000_000);
        clock.clone().stand_at(7);
        assert_eq!(clock.now(), 7);
        clock.run(-1_000_000);
        assert!((900_000..1_100_000).contains(&(machine.now() - clock.now())));
    }
}
