//! `JSONEvaluator`: values of the same type; of objects the same keys with values that print the
//! same, of lists items that print the same in any order.

use std::collections::HashMap;
use std::mem::discriminant;

use python_compat::text::strip;
use python_compat::{Dict, Value, json};

use super::super::ScoreError;
use super::super::mode::ScoringMode;
use super::answer::readings;

/// Describes what is wrong with an answer; none if it is right.
pub(super) fn wrong(
    wanted: &str,
    answer: &str,
    mode: ScoringMode,
) -> Result<Option<String>, ScoreError> {
    if answer.is_empty() {
        return Ok(Some("there is no answer".to_owned()));
    }
    let read = |text: &str| match mode {
        ScoringMode::Faithful => json::parse(text),
        ScoringMode::Fixed => json::parse(text).map(sorted),
    };
    let Some(wanted) = read(wanted) else { return Err(ScoreError::Raised("JSONDecodeError")) };
    let readings = readings(answer, mode)?;
    let Some(answer) = readings.iter().find_map(|reading| read(reading)) else {
        return Ok(Some(format!("the answer is no JSON: `{}`", readings[0])));
    };
    Ok((!equal(&answer, &wanted)).then(|| format!("the answer is {}", answer.to_repr())))
}

fn equal(answer: &Value, wanted: &Value) -> bool {
    match (answer, wanted) {
        (Value::Dict(answer), Value::Dict(wanted)) => {
            let same = |(key, wanted): (&str, &Value)| {
                let printed = answer.get(key).map(Value::to_text);
                printed.is_some_and(|printed| strip(&printed) == strip(&wanted.to_text()))
            };
            answer.iter().count() == wanted.iter().count() && wanted.iter().all(same)
        }
        (Value::List(answer), Value::List(wanted)) => counted(answer) == counted(wanted),
        _ => discriminant(answer) == discriminant(wanted) && answer == wanted,
    }
}

/// How often each of them prints so.
fn counted(items: &[Value]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for item in items {
        *counts.entry(item.to_text()).or_default() += 1;
    }
    counts
}

/// The same with the keys of all objects in order, as objects print in the order of their keys.
fn sorted(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(sorted).collect()),
        Value::Dict(dict) => {
            let mut entries: Vec<(&str, &Value)> = dict.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let mut ordered = Dict::default();
            for (key, value) in entries {
                ordered.insert(key.to_owned(), sorted(value.clone()));
            }
            Value::Dict(ordered)
        }
        other => other,
    }
}
