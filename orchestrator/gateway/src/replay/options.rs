//! What a replay is to do, besides answering.

use super::{DatePolicy, MatchLevel, StatePolicy};

/// Options of a [`Replay`](super::Replay).
#[derive(Debug, Clone, Copy)]
pub struct ReplayOptions {
    /// The match level.
    pub level: MatchLevel,
    /// The treatment of dates.
    pub dates: DatePolicy,
    /// Whether every response carries the header `Sandbox-Answer`. Pages could see it, so episodes
    /// disable it. A miss always carries it.
    pub announce: bool,
    /// Whether the page of a miss lists the nearest recorded requests. It is a help to people. To
    /// an agent it would show the way: what is recorded is often what its task needs.
    pub list_nearest: bool,
    /// The size of the cache of recently read responses, in bytes.
    pub cache: usize,
    /// What a request gets for which no capture is of the state that the episode has its site in.
    pub states: StatePolicy,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        let (level, dates) = (MatchLevel::default(), DatePolicy::default());
        let states = StatePolicy::default();
        ReplayOptions { level, dates, announce: false, list_nearest: true, cache: 64 << 20, states }
    }
}
