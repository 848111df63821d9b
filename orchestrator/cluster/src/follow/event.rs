//! What whoever follows a run is told, and how it is interrupted.

use std::collections::BTreeMap;
use std::time::Duration;

use results::EpisodeRecord;
use tokio::sync::mpsc::Receiver;

/// Takes events; must not block.
pub type Listener = dyn Fn(Event<'_>) + Send + Sync;

/// Each interrupt of the user. The sender is there as long as the run is followed.
pub type Interrupts = Receiver<()>;

/// Something happened to a run that is followed.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The parts are followed from now on.
    Planned {
        /// Episodes in all.
        episodes: usize,
        /// Episodes of those that are there already.
        done: usize,
    },
    /// A part has played an episode.
    Ended {
        /// The number of the part.
        part: u32,
        /// How the episode ended.
        record: &'a EpisodeRecord,
    },
    /// What each part that plays is at, by its number.
    Doing(&'a BTreeMap<u32, String>),
    /// How all parts stand, in words.
    Overview(&'a str),
    /// Something is lost or left out, and it goes on.
    Warning(&'a str),
    /// It was interrupted, and the jobs go on; a second interrupt cancels them.
    Interrupted {
        /// How soon that has to come.
        again_within: Duration,
    },
    /// The parts are followed no more.
    Over,
}

/// What has become of the jobs of a run that is followed no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobsLeft {
    /// They go on.
    GoOn,
    /// They are cancelled.
    Cancelled,
    /// They were to be cancelled, and nobody knows whether they are.
    MayGoOn,
}
