//! `episode.json`, and the lines of `trace.jsonl` and `ledger.jsonl`.

use std::collections::BTreeSet;

use browser::Dialog;
use gateway::{Entry, Levels, Near};
use jiff::Timestamp;
use scoring::Score;
use scoring::judge::Judgement;
use serde::{Deserialize, Serialize};

use super::{EpisodeId, FORMAT, Format, ModelUsage, Times};

/// How an attempt ended, and what it was worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRecord {
    /// Version of the files.
    pub format: Format,
    /// Id of the task.
    pub task: String,
    /// Which attempt at it, from 1.
    pub repeat: u32,
    /// The goal, where the page gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The final answer.
    pub answer: Option<String>,
    /// Usually 0 to 1; absent where a judge has to decide and has not. An episode that ended in an error scores 0.
    pub score: Option<f64>,
    /// Whether the task is done entirely.
    pub success: bool,
    /// The scorer's account of the score.
    pub detail: Option<Score>,
    /// Why no judge has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// A judge was to decide, and asking it failed; otherwise the score waits for one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judge_failed: bool,
    /// What a judge has ruled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<Judgement>,
    /// Actions taken.
    pub steps: u32,
    /// What the judge took; nothing where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<ModelUsage>,
    /// What the agent's models took; nothing where it asked none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelUsage>,
    /// Requests by the level they were answered at.
    pub requests: Levels,
    /// Requests that the recording could not answer.
    pub misses: Vec<MissRecord>,
    /// Hosts that were asked for and are not in the world.
    pub refused_hosts: BTreeSet<String>,
    /// When it began.
    pub started: Timestamp,
    /// How long it took, in milliseconds.
    pub wall_ms: u64,
    /// What that time went into; absent in files of format 2.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// Digest of what must repeat.
    pub fingerprint: String,
}

impl EpisodeRecord {
    /// Of an attempt that ended so at once: nothing was seen, done, asked or earned.
    pub fn new(id: &EpisodeId, outcome: Outcome, started: Timestamp) -> EpisodeRecord {
        EpisodeRecord {
            format: FORMAT,
            task: id.task.clone(),
            repeat: id.repeat,
            goal: None,
            outcome,
            answer: None,
            score: None,
            success: false,
            detail: None,
            unjudged: None,
            judge_failed: false,
            judgements: Vec::new(),
            steps: 0,
            judging: None,
            models: None,
            requests: Levels::default(),
            misses: Vec::new(),
            refused_hosts: BTreeSet::new(),
            started,
            wall_ms: 0,
            times: None,
            fingerprint: String::new(),
        }
    }

    /// Which episode this is.
    pub fn id(&self) -> EpisodeId {
        EpisodeId { task: self.task.clone(), repeat: self.repeat }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent gave an answer.
    Answered,
    /// The agent said that the goal cannot be reached.
    Infeasible,
    /// The agent left without an answer.
    Stopped,
    /// The page said that the episode was over.
    Done,
    /// The allowed actions were used up.
    MaxSteps,
    /// The agent got nowhere, and the task's rules stopped it.
    Stuck,
    /// The allowed time was used up.
    TimedOut,
    /// Something broke; the score is 0.
    Error {
        /// What.
        message: String,
    },
}

impl Outcome {
    /// The word for it, as on disk.
    pub fn kind(&self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Infeasible => "infeasible",
            Outcome::Stopped => "stopped",
            Outcome::Done => "done",
            Outcome::MaxSteps => "max_steps",
            Outcome::Stuck => "stuck",
            Outcome::TimedOut => "timed_out",
            Outcome::Error { .. } => "error",
        }
    }
}

/// A request that the recording could not answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissRecord {
    /// Step whose action caused it.
    pub step: u32,
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The nearest recorded requests.
    pub near: Vec<Near>,
}

/// A line of the trace: what was seen, what was done about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// From 1.
    pub step: u32,
    /// Milliseconds since the episode began.
    pub at_ms: u64,
    /// The same by the page's clock; absent where only an address was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// URL of the page seen.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its accessibility tree.
    pub observation: String,
    /// Dialogs that came up on the way to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// What it, or the pages before it, had saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<SavedFile>,
    /// File name of the screenshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// The action, as the agent wrote it.
    pub action: Option<String>,
    /// Why, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The element that the action was about; of several actions the last that was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<ActedOn>,
    /// The places that the actions named, across and down in pixels of the screenshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[f64; 2]>,
    /// Why the action failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the page did not come to rest after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
    /// What the score had come to by the end of the step; absent where it hangs on what is looked at in the end, or on a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How far each key node had been reached by then, where the task has key nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<f64>,
    /// How long the agent took to answer, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_ms: Option<u64>,
    /// How long acting took, until the page had come to rest, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_ms: Option<u64>,
}

/// A file that a page had saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// The file's name; it is in the folder `downloads`.
    pub name: String,
    /// Where it came from.
    pub url: String,
    /// Whether all of it came; there is no file otherwise.
    pub whole: bool,
}

/// The element that an action was about, as it was just before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActedOn {
    /// A CSS path that selects it in its document.
    pub selector: String,
    /// What it holds; after typing or choosing, the new value.
    pub value: String,
    /// Where it lay on the screenshot: left, top, width and height in its pixels, which are CSS pixels. It may lie outside; absent where it has no
    /// place on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Step whose action caused it; 0 is the opening of the start page.
    pub step: u32,
    /// The gateway's entry.
    #[serde(flatten)]
    pub entry: Entry,
}
