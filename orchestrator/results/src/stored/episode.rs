//! The result of an episode (`episode.json`), and the lines of `trace.jsonl` and `ledger.jsonl`.

use std::collections::{BTreeMap, BTreeSet};

use gateway::{Entry, Levels, NearestRequest};
use jiff::Timestamp;
use observation::{ConsoleMessage, Dialog, ElementBox};
use scoring::Score;
use scoring::judge::Judgement;
use serde::{Deserialize, Serialize};

use super::{AgentFailure, EarlierAttempt, EpisodeId, FORMAT, Format, ModelUsage, Times};

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRecord {
    /// The version of the files.
    pub format: Format,
    /// The id of the task.
    pub task: String,
    /// The number of the attempt, from 1.
    pub repeat: u32,
    /// The goal, if the page gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// How the attempt ended.
    pub outcome: Outcome,
    /// The final answer.
    pub answer: Option<String>,
    /// Usually 0 to 1. Absent if a judge must decide and has not. An episode with an error scores
    /// 0.
    pub score: Option<f64>,
    /// Whether the task is completely done.
    pub success: bool,
    /// The scorer's details.
    pub detail: Option<Score>,
    /// The reason why there is no judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// Whether a judge was called and failed. Otherwise the score waits for a judge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judge_failed: bool,
    /// The judgements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<Judgement>,
    /// Number of actions.
    pub steps: u32,
    /// Usage of the judge's model. Absent if it was not called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<ModelUsage>,
    /// Usage of the agent's models. Absent if none was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelUsage>,
    /// Number of requests by how they were answered.
    pub requests: Levels,
    /// Requests that the recording could not answer.
    pub misses: Vec<MissRecord>,
    /// Requested hosts that are not part of the world.
    pub refused_hosts: BTreeSet<String>,
    /// The reasons why pages crashed. An empty page has replaced each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<String>,
    /// Earlier attempts at this episode, which failed and were replaced by this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierAttempt>,
    /// The start time.
    pub started: Timestamp,
    /// The duration in milliseconds.
    pub wall_ms: u64,
    /// How the time was spent. Absent in files of format 2.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// The digest of what must repeat.
    pub fingerprint: String,
}

impl EpisodeRecord {
    /// An attempt that ended at once, without steps, requests or score.
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
            crashes: Vec::new(),
            earlier: Vec::new(),
            started,
            wall_ms: 0,
            times: None,
            fingerprint: String::new(),
        }
    }

    /// The id of the episode.
    pub fn id(&self) -> EpisodeId {
        EpisodeId { task: self.task.clone(), repeat: self.repeat }
    }
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent gave an answer.
    Answered,
    /// The agent declared the goal infeasible.
    Infeasible,
    /// The agent stopped without an answer.
    Stopped,
    /// The page ended the episode.
    Done,
    /// The maximum number of actions was reached.
    MaxSteps,
    /// The agent made no progress, and the task's rules stopped it.
    Stuck,
    /// The time limit was reached.
    TimedOut,
    /// The agent's replies, or their effects, ended the episode. It is lost: the score is 0.
    AgentFailed {
        /// The kind of failure.
        reason: AgentFailure,
        /// The error.
        message: String,
    },
    /// Something failed that no agent can cause. The score is 0.
    Error {
        /// The error.
        message: String,
    },
}

impl Outcome {
    /// The name of the outcome in files.
    pub fn kind(&self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Infeasible => "infeasible",
            Outcome::Stopped => "stopped",
            Outcome::Done => "done",
            Outcome::MaxSteps => "max_steps",
            Outcome::Stuck => "stuck",
            Outcome::TimedOut => "timed_out",
            Outcome::AgentFailed { .. } => "agent_failed",
            Outcome::Error { .. } => "error",
        }
    }

    /// Returns the message of a failure, if there is one.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Outcome::AgentFailed { message, .. } | Outcome::Error { message } => Some(message),
            Outcome::Answered
            | Outcome::Infeasible
            | Outcome::Stopped
            | Outcome::Done
            | Outcome::MaxSteps
            | Outcome::Stuck
            | Outcome::TimedOut => None,
        }
    }
}

/// A request that the recording could not answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissRecord {
    /// The step whose action caused it.
    pub step: u32,
    /// The HTTP method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The nearest recorded requests.
    pub near: Vec<NearestRequest>,
}

/// A line of the trace: an observation and the action that followed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The number of the step, from 1.
    pub step: u32,
    /// Milliseconds since the episode began.
    pub at_ms: u64,
    /// The same by the page's clock. Absent if only a URL was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The URL of the page.
    pub url: String,
    /// The title of the page.
    pub title: String,
    /// The accessibility tree of the page.
    pub observation: String,
    /// Dialogs that opened before this observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// Files downloaded before this observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<SavedFile>,
    /// Texts that came and went before this observation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The file name of the screenshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// The action, as the agent wrote it.
    pub action: Option<String>,
    /// The agent's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The element of the action. If there are several actions, that of the last one with an
    /// element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<ActedOn>,
    /// The element that received the action, such as `<button id="save"> "Save all"`. If there are
    /// several actions, the last one for which that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// The coordinates in the actions: x and y in pixels of the screenshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[f64; 2]>,
    /// The boxes, on the screenshot, of the observation's elements that are in view, by their bids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub boxes: BTreeMap<String, ElementBox>,
    /// The reason why the action failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reason why the page did not settle after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
    /// The score at the end of the step. Absent if it depends on the final state or on a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The progress of each key node, if the task has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<f64>,
    /// The agent's time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_ms: Option<u64>,
    /// The time of the action in milliseconds, until the page settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting_ms: Option<u64>,
}

/// A file that a page downloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// The file's name in the folder `downloads`.
    pub name: String,
    /// The URL of the file.
    pub url: String,
    /// Whether the download is complete. If not, there is no file.
    pub whole: bool,
}

/// The element of an action, in its state just before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActedOn {
    /// A CSS selector in its document.
    pub selector: String,
    /// Its value. After typing or selecting, the new value.
    pub value: String,
    /// Its bounding box on the screenshot: left, top, width and height in CSS pixels. It may lie
    /// outside of the screenshot. Absent if the element is not rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The step whose action caused it. Step 0 is the opening of the start page.
    pub step: u32,
    /// The gateway's entry.
    #[serde(flatten)]
    pub entry: Entry,
}

/// A line of `console.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMessage {
    /// The step whose action caused it. Step 0 is the opening of the start page.
    pub step: u32,
    /// The message.
    #[serde(flatten)]
    pub message: ConsoleMessage,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;

    use super::super::lines::{read_lines, read_versioned, write_json, write_lines};
    use super::super::{EpisodeId, Step};
    use super::*;

    /// The longest reply of an agent's program (`agents::program`).
    const LONGEST_REPLY: usize = 1 << 20;

    #[test]
    fn what_an_agent_may_say_can_be_read_again() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        for piece in [",", "[{", "\"", "\\", ":\u{1}"] {
            let text = piece.repeat(LONGEST_REPLY / piece.len());
            let id = EpisodeId { task: "a".to_owned(), repeat: 1 };
            let record = EpisodeRecord {
                answer: Some(text.clone()),
                ..EpisodeRecord::new(&id, Outcome::Answered, Timestamp::UNIX_EPOCH)
            };
            let path = folder.join("episode.json");
            write_json(&path, &record).unwrap();
            let read: EpisodeRecord = read_versioned(&path, 64 << 20).unwrap();
            assert_eq!(read.answer.as_deref(), Some(text.as_str()), "{piece:?}");
            let step = Step { action: Some(text.clone()), ..Step::default() };
            let path = folder.join("trace.jsonl");
            write_lines(&path, &[step]).unwrap();
            let read: Vec<Step> = read_lines(&path).unwrap();
            assert_eq!(read[0].action.as_deref(), Some(text.as_str()), "{piece:?}");
        }
    }
}
