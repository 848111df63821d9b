#![doc = include_str!("../../FORMAT.md")]

mod digest;
mod episode;
mod episode_id;
mod failure;
pub mod files;
pub mod fingerprint;
mod folder;
mod inputs;
mod lines;
mod order;
mod run;
pub mod suite_digest;
mod times;
mod trust;
mod usage;

pub use episode::{
    ActedOn, EpisodeRecord, MissRecord, Outcome, Request, SavedFile, Step, StepMessage,
};
pub use episode_id::{EpisodeId, NoEpisode};
pub use failure::{AgentFailure, EarlierAttempt};
/// The version of a run's files.
pub use file_version::Version as Format;
pub use folder::{EpisodeFolder, RunFolder};
pub use inputs::{JudgeSettings, PlaySettings, RunInputs, TimeLimits};
pub use run::{RunRecord, Shard, TaskRecord, WorldRecord};
pub use times::{Phase, Times};
pub use times::{Stopwatch, millis};
pub use trust::{Conditions, Confinement, Visibility};
pub use usage::{ModelUsage, StepCall};

/// The version that this program writes.
pub const FORMAT: Format = Format { major: 2, minor: 7 };
