//! What a run found.

use std::time::Duration;

use serde::Serialize;

/// How many error texts are kept.
const ERRORS_KEPT: usize = 5;

/// One thread's figures.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) connects: u64,
    times: Vec<Duration>,
    bytes: u64,
    errors: u64,
    first_errors: Vec<String>,
}

impl Tally {
    pub(super) fn good(&mut self, took: Duration, bytes: usize) {
        self.times.push(took);
        self.bytes += bytes as u64;
    }

    pub(super) fn bad(&mut self, error: String) {
        self.errors += 1;
        if self.first_errors.len() < ERRORS_KEPT {
            self.first_errors.push(error);
        }
    }
}

/// The figures of a run. Times are of requests that gave the right body, connecting included.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Requests that gave the right body.
    pub(crate) good: usize,
    pub(crate) errors: u64,
    pub(crate) rps: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
    /// Connections opened.
    pub(crate) connects: u64,
    /// Of bodies.
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    pub(crate) first_errors: Vec<String>,
}

impl Report {
    pub(super) fn new(tallies: Vec<Tally>, took: Duration) -> Report {
        let mut all = Tally::default();
        for tally in tallies {
            all.connects += tally.connects;
            all.bytes += tally.bytes;
            all.errors += tally.errors;
            all.times.extend(tally.times);
            all.first_errors.extend(tally.first_errors);
        }
        all.times.sort_unstable();
        all.first_errors.truncate(ERRORS_KEPT);
        let seconds = took.as_secs_f64();
        Report {
            good: all.times.len(),
            errors: all.errors,
            rps: all.times.len() as f64 / seconds.max(f64::EPSILON),
            p50_ms: percentile(&all.times, 50),
            p99_ms: percentile(&all.times, 99),
            max_ms: percentile(&all.times, 100),
            connects: all.connects,
            bytes: all.bytes,
            seconds,
            first_errors: all.first_errors,
        }
    }
}

/// The smallest time that at least `percent` of all do not exceed, in milliseconds.
fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_list() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!([50, 99, 100].map(|percent| percentile(&times, percent)), [100.0, 198.0, 200.0]);
        assert_eq!(percentile(&[], 99), 0.0);
    }
}
