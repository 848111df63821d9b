//! What a part says of itself (`status/<i>.<k>.<r>.<node>.json`), on the shared file system.

use std::collections::BTreeMap;

use camino::Utf8Path;
use file_version::Version;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::files::{read_json, replace_json};
use crate::folder::ClusterFolder;

/// The version of the files beside a run.
pub const FORMAT: Version = Version::FIRST;

/// The exit code of wrong use and bad input, which another try does not mend.
pub(crate) const BAD_INPUT: u8 = 2;
/// The exit code of a machine that lacks something.
pub(crate) const LACKING: u8 = 3;
/// The exit code of what may be gone on with.
pub(crate) const INTERRUPTED: u8 = 4;

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

/// The names of the status files that are there, by part and submission.
///
/// Over a network a file that was looked up too early seems not to be there for a while; a list of
/// the folder has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusFiles {
    of: BTreeMap<(u32, u32), Vec<String>>,
}

impl StatusFiles {
    /// Lists the folder. One that cannot be read now has no files.
    pub fn list(folder: &ClusterFolder) -> StatusFiles {
        let mut of: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
        let entries = folder.status().read_dir_utf8().into_iter().flatten().filter_map(Result::ok);
        for name in entries.map(|entry| entry.file_name().to_owned()) {
            let numbers = || {
                let mut words = name.strip_suffix(".json")?.split('.');
                Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
            };
            if let Some(numbers) = numbers() {
                of.entry(numbers).or_default().push(name);
            }
        }
        of.values_mut().for_each(|names| names.sort());
        StatusFiles { of }
    }
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

    /// Reads what the processes of a part in one submission have said, by the names of the files.
    /// There is more than one where the scheduler has started a job twice. What cannot be read now
    /// is left out.
    pub fn read_all(
        folder: &ClusterFolder,
        files: &StatusFiles,
        part: u32,
        submission: u32,
    ) -> Vec<(String, PartStatus)> {
        let names = files.of.get(&(part, submission)).map(Vec::as_slice).unwrap_or_default();
        let read = |name: &String| {
            let status = PartStatus::read(&folder.status().join(name)).ok()??;
            Some((name.clone(), status))
        };
        names.iter().filter_map(read).collect()
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Utf8Path) -> Result<(), Error> {
        replace_json(path, self)
    }
}
