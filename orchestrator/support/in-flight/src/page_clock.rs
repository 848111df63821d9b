//! The time that the pages of an episode see. A request that contains it is recognised by it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

/// The clock of an episode's pages; the machine's until it is set. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub struct PageClock(Arc<Mutex<Shows>>);

/// What a clock shows, in milliseconds since 1970.
#[derive(Debug, Clone)]
enum Shows {
    /// The machine's time, and this much more.
    Machine { shift: i64 },
    /// A time from here to there.
    Between(RangeInclusive<i64>),
}

impl Default for Shows {
    fn default() -> Self {
        Shows::Machine { shift: 0 }
    }
}

impl PageClock {
    /// The clock shows a time in this range, in milliseconds since 1970: where it stands now, and
    /// where it stands when the page's next piece of time is over.
    pub fn stand_between(&self, millis: RangeInclusive<i64>) {
        *self.0.lock() = Shows::Between(millis);
    }

    /// The clock runs, this many milliseconds from the machine's.
    pub fn run(&self, shift: i64) {
        *self.0.lock() = Shows::Machine { shift };
    }

    /// The times that it may show now, in milliseconds since 1970.
    pub fn now(&self) -> RangeInclusive<i64> {
        match &*self.0.lock() {
            Shows::Between(range) => range.clone(),
            Shows::Machine { shift } => {
                let machine = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                let millis =
                    machine.map_or(0, |since| since.as_millis() as i64).saturating_add(*shift);
                millis..=millis
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_the_machines_until_it_is_set() {
        let (clock, machine) = (PageClock::default(), PageClock::default());
        assert!(*clock.now().start() > 1_750_000_000_000);
        clock.clone().stand_between(7..=9);
        assert_eq!(clock.now(), 7..=9);
        clock.run(-1_000_000);
        assert!((900_000..1_100_000).contains(&(machine.now().start() - clock.now().start())));
    }
}
