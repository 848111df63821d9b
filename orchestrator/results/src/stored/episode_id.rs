//! The id of an episode in a run: its task and attempt, and its name in files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Identifies an episode: a task and an attempt. In files it is its name, such as `tea-1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EpisodeId {
    /// The id of the task.
    pub task: String,
    /// The number of the attempt, from 1.
    pub repeat: u32,
}

/// The text is not the name of an episode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {0:?} as an episode: write the task and the attempt, such as tea-1")]
pub struct NoEpisode(String);

impl FromStr for EpisodeId {
    type Err = NoEpisode;

    fn from_str(text: &str) -> Result<EpisodeId, NoEpisode> {
        let read = || {
            let (task, repeat) = text.rsplit_once('-')?;
            let repeat = repeat.parse().ok().filter(|repeat| *repeat > 0)?;
            (!task.is_empty()).then(|| EpisodeId { task: task.to_owned(), repeat })
        };
        read().ok_or_else(|| NoEpisode(text.to_owned()))
    }
}

impl TryFrom<String> for EpisodeId {
    type Error = NoEpisode;

    fn try_from(text: String) -> Result<EpisodeId, NoEpisode> {
        text.parse()
    }
}

impl From<EpisodeId> for String {
    fn from(id: EpisodeId) -> String {
        id.to_string()
    }
}

impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.task, self.repeat)
    }
}

impl EpisodeId {
    /// The name of the episode's folder. It is unique for each id and safe as a path.
    pub fn folder_name(&self) -> String {
        use fmt::Write as _;
        let mut name = String::new();
        for byte in self.task.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
                name.push(char::from(byte));
            } else {
                let _ = write!(name, "%{byte:02X}");
            }
        }
        let _ = write!(name, "-{}", self.repeat);
        name
    }
}
