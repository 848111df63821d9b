//! The input and the output of scorers: steps, scores and their errors.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A scorer's view of one step: the page, and the action that the agent is about to take.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step<'a> {
    /// The page's URL.
    pub url: &'a str,
    /// A selector of the element acted on, when the action has one.
    pub selector: Option<&'a str>,
    /// The content of the element, or the text that is being typed into it.
    pub value: Option<&'a str>,
    /// The page's HTML as it stands, when the scorer [needs it](crate::Needs::html) and an element
    /// is acted on.
    pub html: Option<&'a str>,
    /// The text of the final answer, when this step gives it.
    pub answer: Option<&'a str>,
    /// In this step the agent says that the goal cannot be reached.
    pub infeasible: bool,
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
    /// The conditions that do not hold, for people.
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
    /// The condition held before anything was done, so that it says nothing about the agent.
    #[error("what the task wants was so before anything was done")]
    FromTheStart,
    /// The program that decides has not: it was not started, or could not tell. No agent is to
    /// blame.
    #[error("the scorer's program did not decide: {0}")]
    Program(String),
    /// The program that decides has not: it broke down on what the agent left.
    #[error("the scorer's program did not decide: {0}")]
    ProgramBrokeDown(String),
    /// The published code leaves this part out of the mean.
    #[error("the published scorer leaves this out")]
    Skipped,
}

impl Score {
    pub(crate) fn of(success: bool, wrong: Vec<String>) -> Score {
        Score {
            value: f64::from(u8::from(success)),
            success,
            near_success: false,
            nodes: None,
            answered: None,
            wrong,
        }
    }
    /// Of an episode in which nothing could be read in the end.
    pub(crate) fn broken_off() -> Score {
        Score::of(false, vec!["the episode broke off".to_owned()])
    }
}
