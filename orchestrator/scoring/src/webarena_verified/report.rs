//! The result of an evaluation.

use serde::Serialize;

/// How an assertion, an evaluator or a task came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All is as expected.
    Success,
    /// Something is not.
    Failure,
    /// The published code raises an exception.
    Error,
}

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assertion {
    /// The package's name for it.
    pub assertion_name: String,
    /// Always a failure.
    pub status: Status,
    /// The package's words for it.
    pub assertion_msgs: Vec<String>,
}

impl Assertion {
    pub(super) fn failure(name: impl Into<String>, messages: Vec<String>) -> Assertion {
        Assertion { assertion_name: name.into(), status: Status::Failure, assertion_msgs: messages }
    }
}

/// The result of one entry of a task's `eval`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatorResult {
    /// `AgentResponseEvaluator` or `NetworkEventEvaluator`.
    pub evaluator_name: &'static str,
    /// How it came out.
    pub status: Status,
    /// 0 or 1.
    pub score: f64,
    /// The differences; empty on success.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    /// The package's message of the exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_msg: Option<String>,
    /// For network events: whether none may be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_not_exist: Option<bool>,
}

/// The result of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskResult {
    pub task_id: i64,
    /// The template that it was made of.
    pub intent_template_id: i64,
    /// The sites on which it is done.
    pub sites: Vec<String>,
    /// The revision of the task that was scored.
    pub task_revision: i64,
    /// An error if an evaluator has one.
    pub status: Status,
    /// 1 when all evaluators say so, else 0.
    pub score: f64,
    /// In the order of the task's `eval`.
    pub evaluators_results: Vec<EvaluatorResult>,
    /// Why no evaluator could say anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_msg: Option<String>,
}

impl TaskResult {
    /// Returns the differences, in the package's words.
    pub fn wrong(&self) -> impl Iterator<Item = &str> {
        let parts = self.evaluators_results.iter().flat_map(|result| {
            let messages = result.assertions.iter().flat_map(|assertion| &assertion.assertion_msgs);
            messages.chain(&result.error_msg)
        });
        self.error_msg.iter().chain(parts).map(String::as_str)
    }
}
