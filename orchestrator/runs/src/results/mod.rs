#![doc = include_str!("../../FORMAT.md")]

mod digest;
mod episode;
pub(crate) mod files;
pub mod fingerprint;
mod folder;
mod inputs;
mod lines;
mod run;
pub(crate) mod suite_digest;
mod times;
mod usage;

pub use episode::{ActedOn, EpisodeRecord, MissRecord, Outcome, Request, SavedFile, Step};
pub use folder::{EpisodeFolder, EpisodeId, RunFolder};
pub use inputs::{JudgeSettings, PlaySettings, RunInputs, TimeLimits};
pub use run::{RunRecord, Shard, TaskRecord, WorldRecord};
pub use times::{Phase, Times};
pub(crate) use times::{Stopwatch, millis};
pub use usage::{ModelUsage, StepCall};

use serde::{Deserialize, Serialize};

/// The version of a run's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// Increased when older readers would misread the files.
    pub major: u32,
    /// Increased when something was added.
    pub minor: u32,
}

/// The version that this program writes.
pub const FORMAT: Format = Format { major: 2, minor: 2 };

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
