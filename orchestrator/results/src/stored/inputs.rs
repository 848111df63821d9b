//! The inputs of a run (`inputs.json`): paths on the machine that played it, and the options that
//! `run.json` does not have.
//!
//! A run can be packed without naming its suite again, because this file names it. The paths mean
//! nothing elsewhere, so the file stays out of a packed run; its `settings` go into the manifest.

use camino::{Utf8Path, Utf8PathBuf};
use llm_client::Sampling;
use serde::{Deserialize, Serialize};

use super::Format;

/// The inputs of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInputs {
    /// The version of the run's files.
    pub format: Format,
    /// The folder in which the command ran. The other paths are relative to it.
    pub folder: Utf8PathBuf,
    /// The folder of the suite, as it was named, with its version if it has any.
    pub suite: Utf8PathBuf,
    /// The file with recorded replies of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cassette: Option<Utf8PathBuf>,
    /// The options of the run.
    #[serde(default)]
    pub settings: PlaySettings,
}

/// Options of a run that may decide what happens in it and that `run.json` does not have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaySettings {
    /// Maximum number of actions, whatever the tasks say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    /// Time limits in milliseconds. Absent if they are the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<TimeLimits>,
    /// The model that judges. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeSettings>,
}

/// The time limits of a run in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeLimits {
    /// For an episode.
    pub episode_ms: u64,
    /// For a reply of the agent.
    pub answer_ms: u64,
    /// For an observation, and for an action.
    pub step_ms: u64,
}

/// A judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeSettings {
    /// The name of the model.
    pub name: String,
    /// Sampling settings that replace those of the benchmark.
    #[serde(default)]
    pub sampling: Sampling,
}

impl RunInputs {
    /// A path of the inputs, from the root.
    pub fn path(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.folder.join(path)
    }
}
