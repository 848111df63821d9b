//! The events for who follows a run, and the interrupts that come back.

use std::collections::BTreeMap;
use std::time::Duration;

use results::EpisodeRecord;
use tokio::sync::mpsc::Receiver;

/// Receives events. It must not block.
pub type Listener = dyn Fn(Event<'_>) + Send + Sync;

/// Each interrupt of the user. The sender is there as long as the run is followed.
pub type Interrupts = Receiver<()>;

/// An event of a run that is followed.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Following begins.
    Planned {
        /// The number of all episodes.
        episodes: usize,
        /// The number of those that are there already.
        done: usize,
    },
    /// A part has played an episode.
    Ended {
        /// The number of the part.
        part: u32,
        /// Its record, with the outcome.
        record: &'a EpisodeRecord,
    },
    /// The activity of each part that plays, by its number.
    Doing(&'a BTreeMap<u32, String>),
    /// A summary of all parts, in words.
    Overview(&'a str),
    /// A problem that does not stop the run.
    Warning(&'a str),
    /// It was interrupted, and the jobs go on; a second interrupt cancels them.
    Interrupted {
        /// The time in which the second interrupt has to come.
        again_within: Duration,
    },
    /// Following has ended.
    Over,
}

/// The state of the jobs when following ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobsLeft {
    /// They go on.
    GoOn,
    /// They are cancelled.
    Cancelled,
    /// They were to be cancelled, but Slurm did not confirm that.
    MayGoOn,
}
