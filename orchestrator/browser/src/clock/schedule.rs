//! How far a page's time is to run.
//!
//! Every request moves a page's virtual clock by 10 ms, overlapping ones together. How many overlap
//! sometimes depends on the machine. If each slice of a page's time simply followed the one before,
//! the differences would add up, and after some minutes a page would see another time in each run.
//! So the last slice of a step ends where the schedule says, and is shorter by what the requests
//! have taken.

use crate::Determinism;
use crate::clock::virtual_time::{STEP, script_time};

/// How far behind the schedule a clock may be, in milliseconds. A page that was in the background
/// is further behind and gets a schedule of its own.
const MAX_BEHIND: f64 = 100.0;
/// How far ahead of the schedule it may be.
const MAX_AHEAD: f64 = 3000.0;
/// How far after a time that scripts see a step ends. A clock that shows a millisecond less
/// and one that a few requests have moved on then show scripts the same time.
const MARGIN: f64 = 20.0;
/// A slice that ends by the schedule is at least a third of its length, in whole steps of the time
/// that scripts see. After more than the rest in requests the schedule moves on.
fn shortest(slice: f64) -> f64 {
    let step = f64::from(STEP);
    (slice / 3.0 / step).floor().max(1.0) * step
}

/// The planned time of a page, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Schedule {
    planned: f64,
}

impl Schedule {
    /// Goes on with a page whose clock shows `clock`, from now on if the schedule is not its own.
    pub(crate) fn resume(&mut self, determinism: Determinism, clock: f64) {
        if !(self.planned - MAX_BEHIND..self.planned + MAX_AHEAD).contains(&clock) {
            self.planned = script_time(determinism, clock);
        }
    }

    /// Plans `millis` of the page's time.
    pub(crate) fn add(&mut self, millis: f64) {
        self.planned += millis;
    }

    /// The end of a slice that begins at `begin` and may be the last of a step: [`MARGIN`] after a
    /// time that scripts see.
    pub(crate) fn end(&mut self, determinism: Determinism, begin: f64, slice: f64) -> f64 {
        self.planned = script_time(determinism, self.planned) + MARGIN;
        let shortest = shortest(slice);
        while self.planned - begin < shortest {
            self.planned += shortest;
        }
        self.planned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: f64 = 1_772_355_600_000.0;

    fn world() -> Determinism {
        Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap_or_default(), seed: 7 }
    }

    fn schedule() -> Schedule {
        Schedule { planned: START }
    }

    #[test]
    fn a_step_ends_at_the_same_time_whatever_its_requests_took() {
        for late in [0.0, 10.0, 740.0] {
            let mut schedule = schedule();
            schedule.add(5000.0);
            assert_eq!(schedule.end(world(), START + 2000.0 + late, 3000.0), START + 5020.0);
            schedule.add(5000.0);
            assert_eq!(schedule.end(world(), START + 7000.0 + late, 3000.0), START + 10_020.0);
        }
    }

    #[test]
    fn a_step_with_too_many_requests_ends_later() {
        let mut schedule = schedule();
        schedule.add(5000.0);
        assert_eq!(schedule.end(world(), START + 4900.0, 3000.0), START + 6020.0);
    }

    #[test]
    fn a_step_ends_shortly_after_a_time_that_scripts_see() {
        for added in [5000.0, 5010.0, 5099.0] {
            let mut schedule = schedule();
            schedule.add(added);
            assert_eq!(schedule.end(world(), START, 3000.0), START + 5020.0);
        }
    }

    #[test]
    fn a_page_from_the_background_gets_a_schedule_of_its_own() {
        let mut schedule = schedule();
        schedule.add(20_000.0);
        schedule.resume(world(), START + 20_030.0);
        assert_eq!(schedule, Schedule { planned: START + 20_000.0 });
        schedule.resume(world(), START + 5_030.0);
        assert_eq!(schedule, Schedule { planned: START + 5_000.0 });
    }
}
