//! Values once they are normalised: JSON with typed values in it.

use python_compat::Value;
use python_compat::int::Int;

use super::PythonException;
use super::types::TypedValue;

/// A value that the package compares: as it came, of a type, or a container of both.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Text, number, truth value or nothing; never a container.
    Raw(Value),
    Typed(Box<TypedValue>),
    List(Vec<Node>),
    Tuple(Vec<Node>),
    Dict(Vec<(String, Node)>),
}

impl Node {
    pub(super) const NONE: Node = Node::Raw(Value::None);

    pub(super) fn raw(value: &Value) -> Node {
        match value {
            Value::List(items) => Node::List(items.iter().map(Node::raw).collect()),
            Value::Tuple(items) => Node::Tuple(items.iter().map(Node::raw).collect()),
            Value::Dict(dict) => Node::Dict(
                dict.iter().map(|(key, value)| (key.to_owned(), Node::raw(value))).collect(),
            ),
            scalar => Node::Raw(scalar.clone()),
        }
    }

    pub(super) fn text(text: impl Into<String>) -> Node {
        Node::Raw(Value::Str(text.into()))
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Node::Raw(Value::None))
    }

    /// `type(value).__name__`.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Node::Raw(value) => type_name(value),
            Node::Typed(typed) => typed.kind.class(),
            Node::List(_) => "list",
            Node::Tuple(_) => "tuple",
            Node::Dict(_) => "dict",
        }
    }

    /// `bool(value)`.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Node::Raw(value) => is_truthy(value),
            Node::Typed(_) => true,
            Node::List(items) | Node::Tuple(items) => !items.is_empty(),
            Node::Dict(entries) => !entries.is_empty(),
        }
    }

    /// `str(value)`.
    pub(super) fn to_text(&self) -> String {
        match self {
            Node::Raw(value) => value.to_text(),
            Node::Typed(typed) => typed.to_text(),
            other => other.to_repr(),
        }
    }

    /// `repr(value)`.
    pub(super) fn to_repr(&self) -> String {
        let list = |items: &[Node]| items.iter().map(Node::to_repr).collect::<Vec<_>>().join(", ");
        match self {
            Node::Raw(value) => value.to_repr(),
            Node::Typed(typed) => typed.to_repr(),
            Node::List(items) => format!("[{}]", list(items)),
            Node::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
            Node::Tuple(items) => format!("({})", list(items)),
            Node::Dict(entries) => format!("{{{}}}", entries_repr(entries)),
        }
    }

    /// `self == other` where both are no containers.
    pub(super) fn equals(&self, other: &Node) -> Result<bool, PythonException> {
        match (self, other) {
            (Node::Typed(typed), other) | (other, Node::Typed(typed)) => typed.equals(other),
            (Node::Raw(one), Node::Raw(other)) => Ok(values_equal(one, other)),
            // A container is never equal to what is none.
            (Node::Raw(_), _) | (_, Node::Raw(_)) => Ok(false),
            (Node::List(one), Node::List(other)) | (Node::Tuple(one), Node::Tuple(other)) => {
                if one.len() != other.len() {
                    return Ok(false);
                }
                for (one, other) in one.iter().zip(other) {
                    if !one.equals(other)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

pub(super) fn entries_repr(entries: &[(String, Node)]) -> String {
    let entry = |(key, value): &(String, Node)| {
        format!("{}: {}", Value::Str(key.clone()).to_repr(), value.to_repr())
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// `bool(value)`.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::None => false,
        Value::Bool(truth) => *truth,
        Value::Int(digits) => digits != "0",
        Value::Float(number) => *number != 0.0,
        container => container.is_empty() == Some(false),
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::None => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Str(_) => "str",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Dict(_) => "dict",
    }
}

/// Whether `isinstance(value, (int, float))`.
pub(super) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_))
}

/// `==` of values from JSON: truth values are the integers 1 and 0.
pub(super) fn values_equal(one: &Value, other: &Value) -> bool {
    match (as_int(one), as_int(other)) {
        (Some(one), Some(other)) => one == other,
        (Some(int), None) => int_equals(&int, other),
        (None, Some(int)) => int_equals(&int, one),
        (None, None) => one == other,
    }
}

fn int_equals(int: &Int, other: &Value) -> bool {
    matches!(other, Value::Float(float) if int.compare(*float) == Some(std::cmp::Ordering::Equal))
}

fn as_int(value: &Value) -> Option<Int> {
    match value {
        Value::Bool(truth) => Int::parse(if *truth { "1" } else { "0" }),
        Value::Int(digits) => Int::parse(digits),
        _ => None,
    }
}
