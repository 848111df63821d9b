//! `ValueComparator`: expected and actual values, whatever their shape.

use python_compat::Value;

use super::PythonException;
use super::node::Node;
use super::report::Assertion;

/// The treatment of differences between containers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CompareOptions<'a> {
    /// Lists have to be in order.
    pub(super) ordered: bool,
    /// A key whose value does not matter.
    pub(super) ignored_key: Option<&'a str>,
    /// Objects may have keys that are not expected.
    pub(super) ignore_extra_keys: bool,
}

/// Returns the differences; none where all is as expected.
pub(super) fn compare(
    actual: &Node,
    expected: &Node,
    name: &str,
    options: CompareOptions<'_>,
) -> Result<Vec<Assertion>, PythonException> {
    match (expected, actual) {
        (expected, actual) if expected.is_none() && actual.is_none() => Ok(Vec::new()),
        (expected, actual) if expected.is_none() || actual.is_none() => {
            Ok(vec![mismatch(format!("{name}_none_mismatch"), expected, actual)])
        }
        (Node::Dict(expected), actual) => objects(actual, expected, name, options),
        (
            Node::List(expected) | Node::Tuple(expected),
            Node::List(actual) | Node::Tuple(actual),
        ) => {
            if options.ordered {
                in_order(actual, expected, name, options)
            } else {
                in_any_order(actual, expected, name, options)
            }
        }
        (Node::List(_) | Node::Tuple(_), actual) => Ok(vec![Assertion::failure(
            format!("{name}_invalid_format"),
            vec![format!("Expected an array, but got: {}", actual.type_name())],
        )]),
        (expected, actual) if expected.equals(actual)? => Ok(Vec::new()),
        (expected, actual) => Ok(vec![mismatch(format!("{name}_mismatch"), expected, actual)]),
    }
}

fn mismatch(name: String, expected: &Node, actual: &Node) -> Assertion {
    Assertion::failure(
        name,
        vec![format!("Expected {}, got {}", expected.to_text(), actual.to_text())],
    )
}

fn objects(
    actual: &Node,
    expected: &[(String, Node)],
    name: &str,
    options: CompareOptions<'_>,
) -> Result<Vec<Assertion>, PythonException> {
    let Node::Dict(actual) = actual else {
        return Ok(vec![Assertion::failure(
            format!("{name}_invalid_format"),
            vec![format!("Expected a structured object, but got: {}", actual.type_name())],
        )]);
    };
    if expected.is_empty() {
        return Err(PythonException::new("Expected object must have at least one key"));
    }
    let mut messages = Vec::new();
    let extra = only_in(actual, expected);
    if !extra.is_empty() && !options.ignore_extra_keys {
        messages.push(format!("Extra keys in actual object: {}", keys_repr(&extra)));
    }
    let missing = only_in(expected, actual);
    if !missing.is_empty() {
        messages.push(format!("Missing keys in actual object: {}", keys_repr(&missing)));
    }
    let mut wrong = Vec::new();
    if !messages.is_empty() {
        wrong.push(Assertion::failure(format!("{name}_keys_mismatch"), messages));
    }
    for (key, expected) in
        expected.iter().filter(|(key, _)| Some(key.as_str()) != options.ignored_key)
    {
        if let Some((_, actual)) = actual.iter().find(|(other, _)| other == key) {
            wrong.extend(compare(actual, expected, &format!("{name}.{key}"), options)?);
        }
    }
    Ok(wrong)
}

/// In order of the alphabet.
fn only_in<'a>(one: &'a [(String, Node)], other: &[(String, Node)]) -> Vec<&'a str> {
    let keys = one.iter().map(|(key, _)| key.as_str());
    let mut keys: Vec<&str> =
        keys.filter(|key| other.iter().all(|(other, _)| other != key)).collect();
    keys.sort_unstable();
    keys
}

fn keys_repr(keys: &[&str]) -> String {
    Value::List(keys.iter().map(|&key| Value::Str(key.to_owned())).collect()).to_text()
}

/// Each expected item takes the first item that is left and equal.
fn in_any_order(
    actual: &[Node],
    expected: &[Node],
    name: &str,
    options: CompareOptions<'_>,
) -> Result<Vec<Assertion>, PythonException> {
    let mut taken = vec![false; actual.len()];
    let mut missing = 0;
    for (at, expected) in expected.iter().enumerate() {
        let mut found = None;
        for (place, actual) in actual.iter().enumerate().filter(|(place, _)| !taken[*place]) {
            if compare(actual, expected, &format!("{name}[{at}]"), options)?.is_empty() {
                found = Some(place);
                break;
            }
        }
        match found {
            Some(place) => taken[place] = true,
            None => missing += 1,
        }
    }
    let extra = taken.iter().filter(|taken| !**taken).count();
    let (total, matched) = (expected.len(), expected.len() - missing);
    let message = match (missing, extra) {
        (0, 0) => return Ok(Vec::new()),
        (0, _) => format!(
            "Array contains all expected elements ({matched}/{total}) but has {extra} extra element(s)"
        ),
        (_, 0) => {
            format!("Array is missing {missing} expected element(s). Matched ({matched}/{total})")
        }
        _ => format!(
            "Array value mismatch (unordered). Matched ({matched}/{total}), Missing: {missing}, Extra: {extra}"
        ),
    };
    Ok(vec![array_mismatch(name, message, expected, actual)])
}

fn in_order(
    actual: &[Node],
    expected: &[Node],
    name: &str,
    options: CompareOptions<'_>,
) -> Result<Vec<Assertion>, PythonException> {
    let mut wrong = Vec::new();
    let mut mismatched = 0;
    for (at, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let nested = compare(actual, expected, &format!("{name}[{at}]"), options)?;
        mismatched += usize::from(!nested.is_empty());
        wrong.extend(nested);
    }
    if actual.len() != expected.len() {
        let matched = actual.len().min(expected.len()) - mismatched;
        let message = format!(
            "Array value mismatch (ordered). Matched ({matched}/{total})",
            total = expected.len()
        );
        wrong.push(array_mismatch(name, message, expected, actual));
    }
    Ok(wrong)
}

fn array_mismatch(name: &str, message: String, expected: &[Node], actual: &[Node]) -> Assertion {
    let shown = format!("Expected: {}, Got: {}", shown(expected), shown(actual));
    Assertion::failure(format!("{name}_array_values_mismatch"), vec![message, shown])
}

/// Of more than three items, the first two and the last.
fn shown(items: &[Node]) -> String {
    match items {
        [first, second, _, .., last] if items.len() > 3 => {
            format!("[{}, {}, ..., {}]", first.to_text(), second.to_text(), last.to_text())
        }
        _ => format!("[{}]", items.iter().map(Node::to_text).collect::<Vec<_>>().join(", ")),
    }
}
