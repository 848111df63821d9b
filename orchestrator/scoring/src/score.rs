//! What a scorer is given, what it remembers, and what it gives.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::judge::Judgement;
use super::plain::{Decision, Verdict};
use super::rules::Rules;
use super::webarena::Found;
use super::{mind2web_live, turkingbench, webarena_verified, workarena};

/// What a scorer sees of one step: the page, and what the agent is about to do with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step<'a> {
    /// The page's URL.
    pub url: &'a str,
    /// A selector of the element acted on, when the action has one.
    pub selector: Option<&'a str>,
    /// What the element holds, or what is being typed into it.
    pub value: Option<&'a str>,
    /// The page's HTML as it stands, when the scorer [wants it](super::Scorer::wants_html) and an element is acted on.
    pub html: Option<&'a str>,
    /// The text of the final answer, when this step gives it.
    pub answer: Option<&'a str>,
    /// In this step the agent says that the goal cannot be reached.
    pub infeasible: bool,
}

/// What a scorer remembers of an episode.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ScoreState {
    /// Whether published bugs are reproduced.
    #[serde(default, skip_serializing_if = "Rules::is_faithful")]
    pub rules: Rules,
    /// The best score of each key node so far, in the order of the task.
    pub nodes: Vec<f64>,
    /// The last answer given.
    pub answer: Option<String>,
    /// The agent has said that the goal cannot be reached.
    #[serde(default)]
    pub infeasible: bool,
    /// What a site's state was in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// What the page said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What a program has decided, or why it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Result<Decision, String>>,
    /// The address of the last page, where it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What was read of pages in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Found>,
    /// What was read of the start page before anything was done, where rules look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Found>,
    /// What the network showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<webarena_verified::Checked>,
    /// What a judge has to be asked about key nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<mind2web_live::Asks>,
    /// What a judge has ruled on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judgements: Vec<Judgement>,
    /// What was so on an instance when it was last looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<workarena::Verdict>,
    /// What was in the fields of a form in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<turkingbench::Held>,
    /// The states of the parts of [`Scorer::All`](super::Scorer::All).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ScoreState>,
}

/// The result of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Usually 0 to 1; AssistantBench gives more than 1 for two negative numbers.
    pub value: f64,
    /// The task is done entirely.
    pub success: bool,
    /// Exactly one key node is missing; always false for scorers without key nodes.
    pub near_success: bool,
    /// How many key nodes the score is the mean of; absent for scorers without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
    /// There was an answer to judge; absent for scorers that judge none.
    pub answered: Option<bool>,
    /// What is not as it should be, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

/// Why there is no score.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The published code raises an exception on this input.
    #[error("the published scorer raises {0}")]
    Raised(&'static str),
    /// The published code's result is not a finite number.
    #[error("the published scorer gives no finite number")]
    NotFinite,
    /// The published code asks a model, and what it says decides.
    #[error("the published scorer asks a judge")]
    NeedsJudge,
    /// The rules look at an instance, and nobody has.
    #[error("nobody looked at the instance: the task was not set up")]
    NotLooked,
    /// What is looked at was so before anything was done, so that it says nothing of what was.
    #[error("what the task wants was so before anything was done")]
    FromTheStart,
    /// The program that decides has not.
    #[error("the scorer's program did not decide: {0}")]
    Program(String),
    /// The published code leaves this part out of the mean.
    #[error("the published scorer leaves this out")]
    Skipped,
}

impl ScoreState {
    /// The same, to be scored by these rules.
    #[must_use]
    pub fn by(mut self, rules: Rules) -> ScoreState {
        self.rules = rules;
        self.parts = self.parts.into_iter().map(|part| part.by(rules)).collect();
        self
    }
}

impl Score {
    pub(super) fn of(success: bool, wrong: Vec<String>) -> Score {
        Score {
            value: f64::from(u8::from(success)),
            success,
            near_success: false,
            nodes: None,
            answered: None,
            wrong,
        }
    }
}
