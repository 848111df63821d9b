//! `run.json`.

use browser::Dialect;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tasks::scoring::rules::Rules;

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
    /// The notation of its actions; not written where it is BrowserGym's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dialect: Dialect,
    /// Whether a reply might hold several actions; not written where it might not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub multiaction: bool,
    /// By which rules episodes are scored; not written where they are the published ones, bug for bug.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: Rules,
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
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// Words to tell it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
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
            dialect: Dialect::default(),
            multiaction: false,
            rules: Rules::default(),
            repeat,
            tasks,
            started: Timestamp::now(),
        }
    }

    /// The first thing in which two runs are not the same experiment: its name and both values.
    pub fn differs_from(&self, other: &RunRecord) -> Option<(&'static str, String, String)> {
        let text = |run: &RunRecord| {
            [
                ("suite", run.suite.clone()),
                ("agent", run.agent.clone()),
                ("dialect", run.dialect.to_string()),
                ("number of actions in a reply", (if run.multiaction { "any" } else { "one" }).to_owned()),
                ("rules", run.rules.to_string()),
                ("suite digest (tasks, world or snapshots)", run.suite_digest.clone()),
            ]
        };
        let pairs = text(self).into_iter().zip(text(other));
        pairs.into_iter().find(|(a, b)| a != b).map(|((name, a), (_, b))| (name, a, b))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
