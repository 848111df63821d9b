//! What a part says of itself (`status/<i>.<k>.json`), on the shared file system.

use camino::Utf8Path;
use formats::Version;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::files::{read_json, replace_json};

/// The version of the files beside a run.
pub const FORMAT: Version = Version::FIRST;

/// The status of a part in one submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartStatus {
    /// The version of the file.
    #[serde(default)]
    pub format: Version,
    /// The number of the part, from 1.
    pub part: u32,
    /// The number of the submission, from 1.
    pub submission: u32,
    /// The name of the node.
    pub node: String,
    /// The job, as the scheduler numbers it.
    pub job: String,
    /// Grows as long as the part lives.
    pub beat: u64,
    /// What it is at, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    /// How far it is.
    pub state: PartState,
}

/// How far a part is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PartState {
    /// It looks whether the node has what it needs.
    Checking,
    /// It plays.
    Playing,
    /// Its episodes are played.
    Ended,
    /// The node lacks something. Nothing was played there.
    Unfit {
        /// What the node lacks.
        problems: Vec<String>,
    },
    /// It ended before its episodes were played.
    Failed {
        /// The exit code.
        code: u8,
        /// Why.
        message: String,
    },
    /// It was told to end.
    Interrupted,
}

impl PartState {
    /// Whether the part goes on.
    pub fn is_alive(&self) -> bool {
        matches!(self, PartState::Checking | PartState::Playing)
    }
}

impl PartStatus {
    /// Reads a status; none if the part has not said anything yet.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Utf8Path) -> Result<Option<PartStatus>, Error> {
        read_json(path)
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Utf8Path) -> Result<(), Error> {
        replace_json(path, self)
    }
}
