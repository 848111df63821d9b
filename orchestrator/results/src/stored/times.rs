//! The durations of an episode's phases.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Milliseconds by phase. Apart from rounding, their sum is the episode's `wall_ms`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Preparing the world, opening the start page, beginning the task.
    pub opening_ms: u64,
    /// Observing pages, including screenshots.
    pub looking_ms: u64,
    /// Waiting for the agent.
    pub agent_ms: u64,
    /// Performing actions, until the page settles.
    pub acting_ms: u64,
    /// Collecting the inputs of the score after the agent has ended.
    pub ending_ms: u64,
}

impl Times {
    /// Adds the times of another episode.
    pub fn add(&mut self, other: &Times) {
        for phase in Phase::ALL {
            *self.of_mut(phase) += other.of(phase);
        }
    }

    /// The time of a phase in milliseconds.
    pub fn of(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Opening => self.opening_ms,
            Phase::Looking => self.looking_ms,
            Phase::Agent => self.agent_ms,
            Phase::Acting => self.acting_ms,
            Phase::Ending => self.ending_ms,
        }
    }

    fn of_mut(&mut self, phase: Phase) -> &mut u64 {
        match phase {
            Phase::Opening => &mut self.opening_ms,
            Phase::Looking => &mut self.looking_ms,
            Phase::Agent => &mut self.agent_ms,
            Phase::Acting => &mut self.acting_ms,
            Phase::Ending => &mut self.ending_ms,
        }
    }

    /// Each phase with its share in percent. Empty if no time was measured.
    pub fn shares(&self) -> Vec<(Phase, f64)> {
        let total = self.total();
        let share = |phase| (phase, self.of(phase) as f64 * 100.0 / total as f64);
        if total == 0 { Vec::new() } else { Phase::ALL.into_iter().map(share).collect() }
    }

    /// The total time.
    pub fn total(&self) -> u64 {
        Phase::ALL.into_iter().map(|phase| self.of(phase)).sum()
    }
}

/// A phase of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// See [`Times::opening_ms`].
    Opening,
    /// See [`Times::looking_ms`].
    Looking,
    /// See [`Times::agent_ms`].
    Agent,
    /// See [`Times::acting_ms`].
    Acting,
    /// See [`Times::ending_ms`].
    Ending,
}

impl Phase {
    /// All phases, in the order of their first occurrence.
    pub const ALL: [Phase; 5] =
        [Phase::Opening, Phase::Looking, Phase::Agent, Phase::Acting, Phase::Ending];

    /// The name of the phase.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Opening => "opening",
            Phase::Looking => "looking",
            Phase::Agent => "agent",
            Phase::Acting => "acting",
            Phase::Ending => "ending",
        }
    }
}

/// Measures the phases of an episode. It can be read at any time, so that an interrupted episode
/// has times as well.
#[derive(Debug)]
pub struct Stopwatch {
    past: [Duration; Phase::ALL.len()],
    phase: Phase,
    since: Instant,
}

impl Stopwatch {
    /// Starts in [`Phase::Opening`].
    pub fn start() -> Stopwatch {
        Stopwatch { past: Default::default(), phase: Phase::Opening, since: Instant::now() }
    }

    /// Switches to another phase. Returns the phase that ended and its duration in milliseconds.
    pub fn turn(&mut self, to: Phase) -> (Phase, u64) {
        let now = Instant::now();
        let took = now - self.since;
        let ended = std::mem::replace(&mut self.phase, to);
        self.past[ended as usize] += took;
        self.since = now;
        (ended, millis(took))
    }

    /// The times so far.
    pub fn times(&self) -> Times {
        let mut times = Times::default();
        for phase in Phase::ALL {
            let now = if phase == self.phase { self.since.elapsed() } else { Duration::ZERO };
            *times.of_mut(phase) = millis(self.past[phase as usize] + now);
        }
        times
    }
}

/// A duration in milliseconds, as results have it.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopwatch_gives_every_phase_its_own_time() {
        let mut watch = Stopwatch::start();
        let past = Duration::from_millis(300);
        watch.since = watch.since.checked_sub(past).expect("the machine has run for a second");
        let (ended, took) = watch.turn(Phase::Agent);
        assert!(ended == Phase::Opening && took >= 300, "{ended:?} {took}");
        watch.since = watch.since.checked_sub(past * 2).expect("the machine has run for a second");
        let times = watch.times();
        assert!(times.opening_ms >= 300 && times.agent_ms >= 600, "{times:?}");
        assert_eq!((times.looking_ms, times.acting_ms, times.ending_ms), (0, 0, 0));
        assert_eq!(times.total(), times.opening_ms + times.agent_ms);
    }
}
