//! The tasks of the benchmark, read strictly: what is not understood is an error.

use python_compat::pattern::{Flags, Pattern};
use python_compat::text::strip;
use python_compat::{Dict, Value};
use serde::Deserialize;
use thiserror::Error;

use super::jsonpath::{Path, is_path};
use super::site::Site;
use super::types::{ADDRESS, Kind};

/// A task with what decides its score.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub(super) sites: Vec<Site>,
    /// Names the folder of a run.
    pub task_id: i64,
    pub(super) intent_template_id: i64,
    #[serde(rename = "start_urls")]
    _start_urls: Vec<String>,
    /// The instruction to the agent.
    pub intent: String,
    pub(super) eval: Vec<Evaluator>,
    #[serde(rename = "intent_template")]
    _intent_template: String,
    #[serde(rename = "instantiation_dict")]
    _instantiation_dict: serde_json::Map<String, serde_json::Value>,
    pub(super) revision: i64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "evaluator")]
pub(super) enum Evaluator {
    #[serde(rename = "AgentResponseEvaluator")]
    Response(Box<ResponseRule>),
    #[serde(rename = "NetworkEventEvaluator")]
    Network(Box<NetworkRule>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseRule {
    pub(super) expected: ExpectedResponse,
    #[serde(default)]
    pub(super) ordered: bool,
    pub(super) results_schema: Object,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedResponse {
    #[serde(alias = "performed_operation")]
    pub(super) task_type: TaskType,
    pub(super) status: ResponseStatus,
    /// Whether it is there matters.
    #[serde(default, deserialize_with = "read_present")]
    pub(super) retrieved_data: Option<serde_json::Value>,
    #[serde(default, deserialize_with = "read_present")]
    pub(super) error_details: Option<serde_json::Value>,
}

/// In capitals, however it was written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct TaskType(pub(super) String);

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ResponseStatus(pub(super) String);

impl TryFrom<String> for TaskType {
    type Error = String;

    fn try_from(text: String) -> Result<TaskType, String> {
        one_of(&text, &["RETRIEVE", "MUTATE", "NAVIGATE"]).map(TaskType)
    }
}

impl TryFrom<String> for ResponseStatus {
    type Error = String;

    fn try_from(text: String) -> Result<ResponseStatus, String> {
        let known = [
            "SUCCESS",
            "ACTION_NOT_ALLOWED_ERROR",
            "PERMISSION_DENIED_ERROR",
            "NOT_FOUND_ERROR",
            "DATA_VALIDATION_ERROR",
            "UNKNOWN_ERROR",
        ];
        one_of(&text, &known).map(ResponseStatus)
    }
}

fn one_of(text: &str, known: &[&str]) -> Result<String, String> {
    let name = text.to_uppercase();
    if known.contains(&name.as_str()) {
        Ok(name)
    } else {
        Err(format!("`{text}` is none of {}", known.join(", ")))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkRule {
    pub(super) expected: ExpectedEvent,
    #[serde(default = "yes")]
    pub(super) last_event_only: bool,
    #[serde(default)]
    pub(super) ignored_query_params: Option<Vec<String>>,
    #[serde(default)]
    pub(super) ignored_query_params_patterns: Patterns<true>,
    #[serde(default)]
    pub(super) decode_base64_query: bool,
    #[serde(default)]
    pub(super) query_params_schema: Option<Object>,
    #[serde(default)]
    pub(super) post_data_schema: Option<Object>,
    #[serde(default)]
    pub(super) ignored_post_data_params_patterns: Patterns<false>,
    #[serde(default)]
    pub(super) should_not_exist: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedEvent {
    pub(super) url: OneOrMore,
    #[serde(default)]
    pub(super) headers: Option<Object>,
    #[serde(default)]
    pub(super) query_params: Option<Object>,
    #[serde(default)]
    pub(super) post_data: Option<ExpectedValues>,
    #[serde(default)]
    pub(super) response_content: Option<ExpectedValues>,
    #[serde(default = "ok")]
    pub(super) response_status: i64,
    #[serde(default = "get")]
    pub(super) http_method: String,
    #[serde(default)]
    pub(super) response_cookies: Option<Object>,
}

fn yes() -> bool {
    true
}

fn ok() -> i64 {
    200
}

fn get() -> String {
    "GET".to_owned()
}

fn read_present<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(input).map(Some)
}

/// A text, or several of which one will do.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(super) struct OneOrMore(pub(super) Value);

impl TryFrom<serde_json::Value> for OneOrMore {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<OneOrMore, String> {
        let is_text = |value: &Value| matches!(value, Value::Str(text) if !text.is_empty());
        match Value::from(value) {
            Value::List(items) if items.iter().all(is_text) => Ok(OneOrMore(Value::List(items))),
            value if is_text(&value) => Ok(OneOrMore(value)),
            other => Err(format!("a URL or a list of URLs is expected, not {}", other.to_text())),
        }
    }
}

/// An object in the order of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(super) struct Object(pub(super) Dict);

impl TryFrom<serde_json::Value> for Object {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Object, String> {
        match Value::from(value) {
            Value::Dict(dict) => Ok(Object(dict)),
            other => Err(format!("an object is expected, not {}", other.to_text())),
        }
    }
}

/// Expected values with the paths of those that are not simply a key.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(super) struct ExpectedValues {
    pub(super) values: Dict,
    /// In the order of the keys: how each is found.
    pub(super) keys: Vec<(String, Option<Path>)>,
}

impl TryFrom<serde_json::Value> for ExpectedValues {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<ExpectedValues, String> {
        let Object(values) = Object::try_from(value)?;
        let keys = values.iter().map(|(key, _)| {
            let key = strip(key).to_owned();
            let path = match is_path(&key) {
                true => Some(
                    Path::parse(&key)
                        .ok_or_else(|| format!("the path `{key}` is not understood"))?,
                ),
                false => None,
            };
            Ok((key, path))
        });
        Ok(ExpectedValues { keys: keys.collect::<Result<_, String>>()?, values })
    }
}

/// Patterns that are searched for, with or without regard to capitals. As in the package, what is
/// none is passed over.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Option<Vec<String>>")]
pub(super) struct Patterns<const IGNORE_CASE: bool>(pub(super) Vec<Pattern>);

impl<const IGNORE_CASE: bool> From<Option<Vec<String>>> for Patterns<IGNORE_CASE> {
    fn from(patterns: Option<Vec<String>>) -> Self {
        let flags = Flags { ignore_case: IGNORE_CASE, ..Flags::default() };
        Patterns(
            patterns.iter().flatten().filter_map(|pattern| Pattern::new(pattern, flags)).collect(),
        )
    }
}

/// Why tasks could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// No JSON, or not the JSON of tasks; with line and key.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A schema names a type that is not known, or is not scored here.
    #[error("task {task}: {key}: the type `{name}` is not known here")]
    UnknownType {
        task: i64,
        /// The key of the schema.
        key: &'static str,
        /// The name that it refers to.
        name: String,
    },
    /// Two tasks have one number.
    #[error("task {0} is there twice")]
    Duplicate(i64),
    /// Nothing says what the agent should answer.
    #[error("task {0}: eval has no AgentResponseEvaluator")]
    NoResponse(i64),
}

/// Reads the tasks of a file.
///
/// # Errors
/// When something in it is not known, or not scored here.
pub fn read(text: &str) -> Result<Vec<Task>, DatasetError> {
    let tasks: Vec<Task> = serde_json::from_str(text)?;
    let mut seen = std::collections::HashSet::new();
    for task in &tasks {
        if !seen.insert(task.task_id) {
            return Err(DatasetError::Duplicate(task.task_id));
        }
        if !task.eval.iter().any(|evaluator| matches!(evaluator, Evaluator::Response(_))) {
            return Err(DatasetError::NoResponse(task.task_id));
        }
        for evaluator in &task.eval {
            let schemas = match evaluator {
                Evaluator::Response(rule) => vec![("results_schema", Some(&rule.results_schema))],
                Evaluator::Network(rule) => vec![
                    ("query_params_schema", rule.query_params_schema.as_ref()),
                    ("post_data_schema", rule.post_data_schema.as_ref()),
                ],
            };
            for (key, schema) in schemas {
                if let Some(name) = schema.and_then(|Object(schema)| unknown_type(schema)) {
                    return Err(DatasetError::UnknownType { task: task.task_id, key, name });
                }
            }
        }
    }
    Ok(tasks)
}

/// A name in a schema that no type has.
fn unknown_type(schema: &Dict) -> Option<String> {
    for key in ["type", "format"] {
        match schema.get(key) {
            None => {}
            Some(Value::Str(name)) => {
                let structure = key == "type" && matches!(name.as_str(), "array" | "object");
                if name == ADDRESS || (!structure && Kind::of(name).is_none()) {
                    return Some(name.clone());
                }
            }
            Some(other) => return Some(other.to_text()),
        }
    }
    let inside = |value: &Value| match value {
        Value::Dict(schema) => unknown_type(schema),
        other => Some(other.to_text()),
    };
    let properties = schema.get("properties").and_then(|properties| match properties {
        Value::Dict(properties) => properties.iter().find_map(|(_, schema)| inside(schema)),
        other => Some(other.to_text()),
    });
    properties.or_else(|| schema.get("items").and_then(inside))
}

impl Task {
    /// How many evaluators of each kind there are: of the answer, and of network events.
    pub fn evaluators(&self) -> (usize, usize) {
        let responses = self
            .eval
            .iter()
            .filter(|evaluator| matches!(evaluator, Evaluator::Response(_)))
            .count();
        (responses, self.eval.len() - responses)
    }

    /// Returns the kind of work, by the first evaluator of answers.
    pub(super) fn task_type(&self) -> &str {
        let types = self.eval.iter().find_map(|evaluator| match evaluator {
            Evaluator::Response(rule) => Some(rule.expected.task_type.0.as_str()),
            Evaluator::Network(_) => None,
        });
        types.unwrap_or_default()
    }
}
