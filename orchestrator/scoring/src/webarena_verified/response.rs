//! `AgentResponseEvaluator`: the agent's report of what it did, and of what it found.

use std::sync::LazyLock;

use python_compat::pattern::{Flags, Pattern};
use python_compat::text::strip;
use python_compat::{Value, json};

use super::compare::{CompareOptions, compare};
use super::node::{Node, is_truthy, type_name};
use super::report::Assertion;
use super::schema::Normalizer;
use super::task::ResponseRule;
use super::types::{Kind, TypedValue};
use super::{Context, PythonException};

static CODE_BLOCK: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ours(r"```(?:json)?\s*\n?(.*?)\n?```", Flags { dot_all: true, ..Flags::default() })
});

/// Returns what is wrong with the answer, which is a text.
pub(super) fn evaluate(
    answer: &str,
    rule: &ResponseRule,
    context: &Context<'_>,
) -> Result<Vec<Assertion>, PythonException> {
    let expected = expected(rule, context)?;
    let actual = actual(answer, rule, context)?;
    let Node::Dict(fields) = &actual else {
        return compare(
            &actual,
            &Node::Dict(expected),
            "agent_response",
            CompareOptions::default(),
        );
    };
    let options =
        CompareOptions { ignored_key: Some("retrieved_data"), ..CompareOptions::default() };
    let found = field(fields, "retrieved_data");
    let wanted = field(&expected, "retrieved_data");
    let mut wrong = compare(&actual, &Node::Dict(expected), "agent_response", options)?;
    // Data counts only where the task is to retrieve some.
    if context.task.task_type() != "RETRIEVE"
        || fields.is_empty()
        || (wanted.is_none() && found.is_none())
    {
        return Ok(wrong);
    }
    if wanted.is_none() {
        let message = format!("Expected no retrieved_data, but got {}", found.to_text());
        wrong.push(Assertion::failure("retrieved_data_unexpected", vec![message]));
    } else if found.is_none() {
        let message =
            format!("Expected retrieved_data to be {}, but got None or empty", wanted.to_text());
        wrong.push(Assertion::failure("retrieved_data_missing_or_null", vec![message]));
    } else {
        let options = CompareOptions { ordered: rule.ordered, ..CompareOptions::default() };
        wrong.extend(compare(&found, &wanted, "retrieved_data", options)?);
    }
    Ok(wrong)
}

fn field(fields: &[(String, Node)], key: &str) -> Node {
    fields.iter().find(|(name, _)| name == key).map_or(Node::NONE, |(_, value)| value.clone())
}

fn text(text: &str, context: &Context<'_>) -> Result<Node, PythonException> {
    let typed = TypedValue::new(Kind::Text, &Value::Str(text.to_owned()), context.reading(None))?;
    Ok(Node::Typed(Box::new(typed)))
}

fn expected(
    rule: &ResponseRule,
    context: &Context<'_>,
) -> Result<Vec<(String, Node)>, PythonException> {
    let data = rule.expected.retrieved_data.clone().map_or(Value::None, Value::from);
    let data = retrieved(&data, true, rule, context)?;
    Ok(vec![
        ("task_type".to_owned(), text(&rule.expected.task_type.0, context)?),
        ("status".to_owned(), text(&rule.expected.status.0, context)?),
        ("retrieved_data".to_owned(), data),
    ])
}

fn retrieved(
    data: &Value,
    strict: bool,
    rule: &ResponseRule,
    context: &Context<'_>,
) -> Result<Node, PythonException> {
    let values = match data {
        Value::List(items) | Value::Tuple(items) => items.clone(),
        Value::None => Vec::new(),
        Value::Str(text) if text.is_empty() => Vec::new(),
        Value::Dict(dict) if dict.is_empty() => Vec::new(),
        single => vec![single.clone()],
    };
    if values.is_empty() {
        return Ok(Node::NONE);
    }
    let normalizer = Normalizer { strict, reading: context.reading(Some(strict)) };
    normalizer.results(&values, &rule.results_schema.0)
}

fn actual(
    answer: &str,
    rule: &ResponseRule,
    context: &Context<'_>,
) -> Result<Node, PythonException> {
    let value = parse(answer);
    let Value::Dict(answer) = value else { return Ok(Node::raw(&value)) };
    let given = [
        ("task_type", true),
        ("status", true),
        ("retrieved_data", rule.expected.retrieved_data.is_some()),
        ("error_details", rule.expected.error_details.is_some()),
    ];
    let mut fields = Vec::new();
    for (name, _) in given.into_iter().filter(|(_, given)| *given) {
        let old_name = (name == "task_type").then(|| answer.get("performed_operation")).flatten();
        let Some(value) = answer.get(name).or(old_name) else {
            if name == "retrieved_data" {
                fields.push((name.to_owned(), Node::NONE));
            }
            continue;
        };
        let node = if name != "retrieved_data" {
            spoken(value, context)?
        } else if context.task.task_type() == "RETRIEVE" {
            Some(retrieved(value, false, rule, context)?)
                .filter(Node::is_truthy)
                .unwrap_or(Node::NONE)
        } else {
            Node::NONE
        };
        fields.push((name.to_owned(), node));
    }
    Ok(Node::Dict(fields))
}

/// One of the fields with words in them.
fn spoken(value: &Value, context: &Context<'_>) -> Result<Node, PythonException> {
    let Value::Str(words) = value else {
        return Err(PythonException(format!(
            "'{}' object has no attribute 'strip'",
            type_name(value)
        )));
    };
    match strip(words) {
        "" => Ok(Node::NONE),
        words => text(words, context),
    }
}

/// The JSON in the answer, in the first block of code if there is one; the text itself when it is
/// no JSON.
fn parse(answer: &str) -> Value {
    let block = CODE_BLOCK.captures(answer);
    let text = match block.as_deref() {
        Some([_, Some(inside)]) => strip(inside),
        _ => strip(answer),
    };
    let value = json::parse(text).unwrap_or_else(|| Value::Str(text.to_owned()));
    if is_truthy(&value) { value } else { Value::None }
}
