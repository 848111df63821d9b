//! The paths by which values are picked out of objects: JSONPath, or a pattern for a key.

use python_compat::pattern::{Flags, Pattern};
use python_compat::{Dict, Value, json};

use super::PythonException;
use super::node::{is_truthy, values_equal};
use super::types::is_pattern;

/// Whether a key of an expected object is a path.
pub(super) fn is_path(key: &str) -> bool {
    key.starts_with('$') || is_pattern(key)
}

/// How a value is found.
#[derive(Debug, Clone)]
pub(super) enum Path {
    /// The value whose key matches.
    Key(Option<Pattern>),
    Steps {
        steps: Vec<Step>,
        /// Several values are a list even if there is only one.
        has_filter: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Field(String),
    /// `*`
    AnyField,
    Index(usize),
    /// `[*]`
    AnyItem,
    /// `[?(@.key == value)]`, or without a value: that have the key.
    Filter(Vec<String>, Option<(Comparison, Value)>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
}

impl Path {
    /// Reads a path; nothing where it has what is not understood here.
    pub(super) fn parse(text: &str) -> Option<Path> {
        let pattern =
            text.strip_prefix("$.").filter(|rest| rest.starts_with('^') && rest.ends_with('$'));
        if let Some(pattern) = pattern.or(is_pattern(text).then_some(text)) {
            return Some(Path::Key(Pattern::at_start(pattern, Flags::default())));
        }
        let mut rest = text.strip_prefix('$')?.trim_end();
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest)?;
            steps.push(step);
            rest = after;
        }
        Some(Path::Steps { steps, has_filter: text.contains("?(") })
    }

    /// The value in the data of an event: nothing where there is none, a tuple where there are
    /// several.
    pub(super) fn extract(&self, data: &Dict) -> Result<Value, PythonException> {
        let (found, has_filter) = match self {
            // What is no pattern after all matches nothing.
            Path::Key(None) => return Ok(Value::None),
            Path::Key(Some(pattern)) => {
                let mut found = Vec::new();
                for (key, value) in data.iter() {
                    if pattern.is_match(key).map_err(|_| PythonException::too_long(key))? {
                        found.push(value.clone());
                    }
                }
                (found, false)
            }
            Path::Steps { steps, has_filter } => {
                let data = Value::Dict(data.clone());
                let mut found = find(steps, &data)?;
                if found.is_empty() {
                    found = find(steps, &unpacked(&data))?;
                }
                (found, *has_filter)
            }
        };
        Ok(match found.as_slice() {
            [] => Value::None,
            [only] if !has_filter => only.clone(),
            _ => Value::Tuple(found),
        })
    }
}

fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('[') {
        return bracket(rest);
    }
    let rest = text.strip_prefix('.')?;
    if let Some(rest) = rest.strip_prefix('*') {
        return Some((Step::AnyField, rest));
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '@')))
        .unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then(|| (Step::Field(name.to_owned()), after))
}

/// Reads the text behind `[`.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix("*]") {
        return Some((Step::AnyItem, rest));
    }
    if let Some(quote @ ('\'' | '"')) = text.chars().next() {
        let (name, rest) = text[1..].split_once(quote)?;
        return Some((Step::Field(name.to_owned()), rest.strip_prefix(']')?))
            .filter(|_| !name.contains('\\'));
    }
    if let Some(rest) = text.strip_prefix("?(") {
        let (condition, rest) = rest.split_once(")]")?;
        return Some((filter(condition)?, rest));
    }
    let (index, rest) = text.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

/// `@.key`, or `@.key == value` with a number, a text in quotes or a truth value.
fn filter(condition: &str) -> Option<Step> {
    let (target, comparison) = match (condition.split_once("!="), condition.split_once("==")) {
        (Some((target, value)), _) => (target, Some((Comparison::NotEqual, value))),
        (None, Some((target, value))) => (target, Some((Comparison::Equal, value))),
        (None, None) => (condition, None),
    };
    let names = target.trim().strip_prefix("@.")?.split('.');
    let names: Vec<String> = names.map(str::to_owned).collect();
    let plain = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if !names.iter().all(plain) {
        return None;
    }
    let comparison = match comparison {
        Some((comparison, value)) => Some((comparison, literal(value.trim())?)),
        None => None,
    };
    Some(Step::Filter(names, comparison))
}

fn literal(text: &str) -> Option<Value> {
    if let Some(inside) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Value::Str(inside.to_owned())).filter(|_| !inside.contains(['\'', '\\']));
    }
    json::parse(text)
        .filter(|value| !matches!(value, Value::List(_) | Value::Dict(_) | Value::None))
}

fn find(steps: &[Step], data: &Value) -> Result<Vec<Value>, PythonException> {
    let mut found = vec![data.clone()];
    for step in steps {
        let mut next = Vec::new();
        for value in &found {
            follow(step, value, &mut next)?;
        }
        found = next;
    }
    Ok(found)
}

fn follow(step: &Step, value: &Value, next: &mut Vec<Value>) -> Result<(), PythonException> {
    match (step, value) {
        (Step::Field(name), Value::Dict(dict)) => next.extend(dict.get(name).cloned()),
        (Step::AnyField, Value::Dict(dict)) => {
            next.extend(dict.iter().map(|(_, value)| value.clone()))
        }
        (Step::AnyItem, Value::List(items)) => next.extend(items.iter().cloned()),
        // What is no list is taken for the only item of one.
        (Step::AnyItem, Value::None) => {}
        (Step::AnyItem, other) => next.push(other.clone()),
        (Step::Index(index), Value::List(items)) => next.extend(items.get(*index).cloned()),
        (Step::Index(index), Value::Str(text)) => {
            next.extend(text.chars().nth(*index).map(|c| Value::Str(c.to_string())));
        }
        (Step::Index(index), Value::Dict(dict)) if dict.iter().count() > *index => {
            return Err(PythonException(index.to_string()));
        }
        (Step::Index(_), value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_)))
            if is_truthy(value) =>
        {
            let kind = super::node::type_name(value);
            return Err(PythonException(format!("object of type '{kind}' has no len()")));
        }
        (Step::Filter(names, comparison), Value::List(_) | Value::Dict(_)) => {
            let items: Vec<&Value> = match value {
                Value::List(items) => items.iter().collect(),
                Value::Dict(dict) => dict.iter().map(|(_, value)| value).collect(),
                _ => Vec::new(),
            };
            for item in items {
                if holds(names, comparison.as_ref(), item)? {
                    next.push(item.clone());
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// A number in a condition makes the value one, as `int` does.
fn holds(
    names: &[String],
    comparison: Option<&(Comparison, Value)>,
    item: &Value,
) -> Result<bool, PythonException> {
    let mut value = item;
    for name in names {
        let Value::Dict(dict) = value else { return Ok(false) };
        let Some(inside) = dict.get(name) else { return Ok(false) };
        value = inside;
    }
    let Some((comparison, expected)) = comparison else { return Ok(true) };
    let converted = match expected {
        Value::Int(_) | Value::Bool(_) => match as_int(value)? {
            Some(value) => value,
            None => return Ok(false),
        },
        _ => value.clone(),
    };
    let equal = values_equal(&converted, expected);
    Ok(equal == (*comparison == Comparison::Equal))
}

/// `int(value)`; nothing where it raises `ValueError`.
fn as_int(value: &Value) -> Result<Option<Value>, PythonException> {
    use python_compat::int::Int;
    Ok(match value {
        Value::Bool(_) | Value::Int(_) => Some(value.clone()),
        Value::Float(number) if number.is_finite() => {
            Some(Value::Int(format!("{:.0}", number.trunc())))
        }
        Value::Float(number) if number.is_nan() => None,
        Value::Float(_) => {
            return Err(PythonException::new("cannot convert float infinity to integer"));
        }
        Value::Str(text) => Int::parse(text).map(|int| Value::Int(int.to_text())),
        other => {
            let kind = super::node::type_name(other);
            return Err(PythonException(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{kind}'"
            )));
        }
    })
}

/// `deserialize_nested_json`: texts in objects that are JSON become what they say.
fn unpacked(data: &Value) -> Value {
    match data {
        Value::Dict(dict) => {
            let mut unpacked_dict = Dict::default();
            for (key, value) in dict.iter() {
                let value = match value {
                    Value::Str(text) => json::parse(text).unwrap_or_else(|| value.clone()),
                    other => unpacked(other),
                };
                unpacked_dict.insert(key.to_owned(), value);
            }
            Value::Dict(unpacked_dict)
        }
        Value::List(items) => Value::List(items.iter().map(unpacked).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, data: &str, expect: &str) {
        let Some(Value::Dict(data)) = json::parse(data) else { panic!("{data} is no object") };
        let path = Path::parse(path).expect(path);
        assert_eq!(path.extract(&data).map(|value| value.to_repr()), Ok(expect.to_owned()));
    }

    #[test]
    fn values_are_picked_out() {
        check("$.note.text", r#"{"note": {"text": "ok"}}"#, "'ok'");
        check("$.a[1].b", r#"{"a": [{}, {"b": 5}]}"#, "5");
        check("$['a-b'].c", r#"{"a-b": "{\"c\": [1]}"}"#, "[1]");
        check("$.a[?(@.n == 1)].v", r#"{"a": [{"n": "1", "v": 2}, {"n": 0, "v": 3}]}"#, "(2,)");
        check("$.a[*].v", r#"{"a": [{"v": 2}, {"v": 3}]}"#, "(2, 3)");
        check("$.none", "{}", "None");
        check(r"$.^row_\d+$", r#"{"row_7": "x", "rows": "y"}"#, "'x'");
        check("^r.$", r#"{"r1": 1, "r2": 2}"#, "(1, 2)");
        for bad in ["$..a", "$.a b", "$.a[1:2]", "a.b", "$[?(@.a ~ 1)]", "$.1a"] {
            assert!(Path::parse(bad).is_none(), "{bad}");
        }
    }
}
