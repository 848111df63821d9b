//! `run.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{FORMAT, Format};

/// What was run. Two runs with the same suite, digest and agent may be compared, and one may go on where it was interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the files.
    pub format: Format,
    /// Version of the program that wrote them.
    pub sandbox: String,
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 over the tasks and the world they run in.
    pub suite_digest: String,
    /// The agent, as given on the command line.
    pub agent: String,
    /// How often each task is attempted.
    pub repeat: u32,
    /// The tasks of the run, in the order of the suite.
    pub tasks: Vec<TaskRecord>,
    /// When the run was begun.
    pub started: Timestamp,
}

/// A task, as far as results need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// Its id.
    pub id: String,
    /// The goal in words.
    pub goal: String,
}

impl RunRecord {
    /// A record of now.
    pub fn new(
        suite: &str,
        suite_digest: String,
        agent: String,
        repeat: u32,
        tasks: Vec<TaskRecord>,
    ) -> RunRecord {
        RunRecord {
            format: FORMAT,
            sandbox: env!("CARGO_PKG_VERSION").to_owned(),
            suite: suite.to_owned(),
            suite_digest,
            agent,
            repeat,
            tasks,
            started: Timestamp::now(),
        }
    }

    /// The first thing in which two runs are not the same experiment: its name and both values.
    pub fn differs_from(&self, other: &RunRecord) -> Option<(&'static str, String, String)> {
        let pairs = [
            ("suite", &self.suite, &other.suite),
            ("agent", &self.agent, &other.agent),
            ("suite digest (tasks, world or snapshots)", &self.suite_digest, &other.suite_digest),
        ];
        pairs.into_iter().find(|(_, a, b)| a != b).map(|(name, a, b)| (name, a.clone(), b.clone()))
    }
}
