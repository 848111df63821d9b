//! The status that a part writes about itself (`status/<i>.<k>.<r>.<node>.json`), on the shared
//! file system.

use std::collections::BTreeMap;

use camino::Utf8Path;
use file_version::Version;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::files::{read_json, replace_json};
use crate::folder::ClusterFolder;

/// The version of the files beside a run.
pub const FORMAT: Version = Version::FIRST;

/// The exit code of wrong use and bad input. Another try would fail as well.
pub(crate) const BAD_INPUT: u8 = 2;
/// The exit code of a machine that lacks something.
pub(crate) const LACKING: u8 = 3;
/// The exit code of an interrupted part, which may be resumed.
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
    /// A counter that grows as long as the part lives.
    pub beat: u64,
    /// Its activity, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    /// Its state.
    pub state: PartState,
}

/// The state of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PartState {
    /// It checks the node.
    Checking,
    /// It plays.
    Playing,
    /// Its episodes are played.
    Ended,
    /// The node lacks something. Nothing was played there.
    Unfit {
        /// The problems of the node.
        problems: Vec<String>,
    },
    /// It ended before its episodes were played.
    Failed {
        /// The exit code.
        code: u8,
        /// The reason.
        message: String,
    },
    /// It got a signal to end.
    Interrupted,
}

/// The names of the existing status files, by part and submission.
///
/// Over a network a file that was looked up too early seems not to be there for a while; a list of
/// the folder has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusFiles {
    of: BTreeMap<(u32, u32), Vec<String>>,
}

impl StatusFiles {
    /// Lists the folder. An unreadable folder counts as empty, until the next time.
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
    /// Whether the part has not ended.
    pub fn is_alive(&self) -> bool {
        matches!(self, PartState::Checking | PartState::Playing)
    }
}

impl PartStatus {
    /// Reads a status; none if the part has not written one yet.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Utf8Path) -> Result<Option<PartStatus>, Error> {
        read_json(path)
    }

    /// Reads the statuses of the processes of a part in one submission, by the names of the files.
    /// There are several if the scheduler has started a job twice. Unreadable files are left out.
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
