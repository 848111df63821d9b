//! The events of a run while it goes on, for progress bars. The listener is the caller's.

use std::sync::Arc;

use results::{EpisodeId, EpisodeRecord};

/// Receives events. Called from the workers, so it must not block.
pub type Progress = Arc<dyn Fn(Event<'_>) + Send + Sync>;

/// An event of a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins.
    Planned {
        /// The number of all episodes.
        episodes: usize,
        /// The number of those that are there already.
        done: usize,
    },
    /// The snapshots are opened. New ones are indexed, with their pages, which takes a while.
    Opening,
    /// Pages of a snapshot are indexed for searches.
    Indexing(&'a search::IndexProgress),
    /// An event of an instance of a site.
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
        /// The episode.
        episode: &'a EpisodeId,
    },
    /// The agent is asked for its next action.
    Step {
        /// Number of the worker, from 0.
        worker: usize,
        /// The episode.
        episode: &'a EpisodeId,
        /// The number of the action, from 1.
        step: u32,
        /// The most actions that it may take.
        max_steps: u32,
    },
    /// An episode has ended and is kept.
    Ended {
        /// Number of the worker, from 0.
        worker: usize,
        /// The episode.
        episode: &'a EpisodeId,
        /// Its record, with the outcome.
        record: &'a EpisodeRecord,
    },
}

/// Returns a listener that ignores everything.
pub fn silent() -> Progress {
    Arc::new(|_| {})
}
