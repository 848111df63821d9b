//! What a run tells while it goes on, for progress bars.

use std::sync::Arc;

use results::{EpisodeId, EpisodeRecord};

/// Takes events; called from the workers, must not block.
pub type Progress = Arc<dyn Fn(Event<'_>) + Send + Sync>;

/// Something happened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins.
    Planned {
        /// Episodes in all.
        episodes: usize,
        /// Episodes of those that are there already.
        done: usize,
    },
    /// The snapshots are opened; those that were not used before are indexed, and so are their
    /// pages, which takes a while.
    Opening,
    /// Pages of a snapshot are indexed for searches.
    Indexing(&'a search::IndexProgress),
    /// Something happened with a copy of a site.
    Site(&'a sites::Event),
    /// A worker begins to bring up its world.
    BringingUp {
        /// Number of the worker, from 0.
        worker: usize,
    },
    /// An episode begins.
    Started {
        /// Number of the worker, from 0.
        worker: usize,
        /// Which episode.
        episode: &'a EpisodeId,
    },
    /// The agent is asked for its next action.
    Step {
        /// Number of the worker, from 0.
        worker: usize,
        /// Which episode.
        episode: &'a EpisodeId,
        /// Which action, from 1.
        step: u32,
        /// How many it may take.
        max_steps: u32,
    },
    /// An episode has ended and is kept.
    Ended {
        /// Number of the worker, from 0.
        worker: usize,
        /// Which episode.
        episode: &'a EpisodeId,
        /// How it ended.
        record: &'a EpisodeRecord,
    },
}

/// Tells nobody.
pub fn silent() -> Progress {
    Arc::new(|_| {})
}
