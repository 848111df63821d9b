//! Readers for the parts of an `eval`. The values by which published files mean nothing are read as
//! nothing.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// At least one: the published code refuses a task without.
pub(crate) fn read_types<'de, D, T>(input: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let types = Vec::<T>::deserialize(input)?;
    if types.is_empty() {
        Err(D::Error::custom("`eval_types` names no evaluator"))
    } else {
        Ok(types)
    }
}

/// A null is none.
pub(crate) fn read_targets<'de, D, T>(input: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Vec<T>>::deserialize(input)?.unwrap_or_default())
}

/// `reference_answers`: null, a list and a text are none. `StringEvaluator` calls `.items()`, which
/// none of them has, and other evaluators never look at it.
pub(crate) fn read_answers<'de, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    match Value::deserialize(input)? {
        Value::Null | Value::Array(_) | Value::String(_) => Ok(None),
        value => T::deserialize(value).map(Some).map_err(D::Error::custom),
    }
}

/// `required_contents`: `[]` has no key of a rule. `HTMLContentEvaluator` raises an exception at it
/// as at an object without keys; other evaluators never look at it.
pub(crate) fn read_contents<'de, D>(input: D) -> Result<Map<String, Value>, D::Error>
where
    D: Deserializer<'de>,
{
    match Value::deserialize(input)? {
        Value::Object(contents) => Ok(contents),
        value if is_nothing(&value) => Ok(Map::new()),
        other => {
            Err(D::Error::custom(format!("`{other}` is no object with the contents of a page")))
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}
