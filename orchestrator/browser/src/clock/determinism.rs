//! The clock and seed of a world.

use jiff::Timestamp;

/// The clock and randomness that an episode's pages see instead of the machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Determinism {
    /// The time at which the episode starts.
    pub clock_start: Timestamp,
    /// The seed of all randomness, together with the page and the place in it.
    pub seed: u64,
}
