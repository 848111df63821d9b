//! Scorers: the published rules of benchmarks, reproduced with their bugs.
//!
//! An episode's [`ScoreState`] is a plain value that is fed one [`Step`] at a time, before each action and once at
//! the end, and can be saved and taken up again. Nothing here asks a model or a page: what a rule needs is in the step.

pub mod assistantbench;
pub mod mind2web_live;
mod python;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use mind2web_live::KeyNode;

/// What decides the score of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scorer {
    /// AssistantBench: the final answer against a gold text, number, object or list.
    #[serde(rename = "assistantbench")]
    AssistantBench {
        /// As in the benchmark's `answer`: a list is one item a line, an object is JSON.
        gold: String,
    },
    /// Mind2Web-Live: key nodes to be reached in any order.
    #[serde(rename = "mind2web_live")]
    Mind2WebLive {
        /// What must have been reached; at least one.
        #[serde(deserialize_with = "mind2web_live::read_nodes")]
        nodes: Vec<KeyNode>,
    },
}

/// What a scorer sees of one step: the page, and what the agent is about to do with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step<'a> {
    /// The page's URL.
    pub url: &'a str,
    /// A selector of the element acted on, when the action has one.
    pub selector: Option<&'a str>,
    /// What the element holds, or what is being typed into it.
    pub value: Option<&'a str>,
    /// The text of the final answer, when this step gives it.
    pub answer: Option<&'a str>,
}

/// What a scorer remembers of an episode.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ScoreState {
    /// The best score of each key node so far, in the order of the task.
    pub nodes: Vec<f64>,
    /// The last answer given.
    pub answer: Option<String>,
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
    /// There was an answer to judge; absent for scorers that judge none.
    pub answered: Option<bool>,
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
}

impl Scorer {
    /// The state of an episode that has not begun.
    pub fn start(&self) -> ScoreState {
        let nodes = match self {
            Scorer::AssistantBench { .. } => 0,
            Scorer::Mind2WebLive { nodes } => nodes.len(),
        };
        ScoreState { nodes: vec![0.0; nodes], answer: None }
    }

    /// Takes one step into account. Scores never fall; of several answers the last counts.
    pub fn observe(&self, state: &mut ScoreState, step: &Step<'_>) {
        if let Some(answer) = step.answer {
            state.answer = Some(answer.to_owned());
        }
        if let Scorer::Mind2WebLive { nodes } = self {
            mind2web_live::observe(nodes, &mut state.nodes, step);
        }
    }

    /// The score as it stands.
    ///
    /// # Errors
    /// Where the published code raises an exception or gives no finite number; the benchmark then has no score.
    pub fn score(&self, state: &ScoreState) -> Result<Score, ScoreError> {
        match self {
            Scorer::AssistantBench { gold } => {
                let Some(answer) = &state.answer else {
                    return Ok(Score {
                        value: 0.0,
                        success: false,
                        near_success: false,
                        answered: Some(false),
                    });
                };
                let scored = assistantbench::question_scorer(answer, gold)?;
                Ok(Score {
                    value: scored.accuracy,
                    success: scored.accuracy >= 1.0 - ROUNDING,
                    near_success: false,
                    answered: Some(scored.has_answer),
                })
            }
            Scorer::Mind2WebLive { .. } => {
                let (value, missing) = mind2web_live::completion(&state.nodes);
                let success = missing == 0 && !state.nodes.is_empty();
                Ok(Score { value, success, near_success: missing == 1, answered: None })
            }
        }
    }
}

/// What sums of fractions may lose on their way to 1.
const ROUNDING: f64 = 1e-9;
