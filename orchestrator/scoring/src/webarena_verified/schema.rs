//! `ValueNormalizer`: which type each part of a value is read as.

use python_compat::{Dict, Value, json};

use super::PythonException;
use super::node::{Node, is_truthy, type_name};
use super::types::{Kind, Reading, TypedValue};

/// How values are read. Expected values have to be what they should; actual ones stay as they are
/// where they are not.
#[derive(Clone, Copy)]
pub(super) struct Normalizer<'a> {
    pub(super) strict: bool,
    pub(super) reading: Reading<'a>,
}

/// The constraints of a schema on a value.
#[derive(Clone, Copy)]
enum Type<'s> {
    Named(&'s str),
    Object(&'s Dict),
}

static TEXT: Type<'static> = Type::Named("string");

impl Normalizer<'_> {
    /// `normalize_array`, for what an agent has found.
    pub(super) fn results(&self, values: &[Value], schema: &Dict) -> Result<Node, PythonException> {
        match schema.get("type") {
            None => {}
            Some(Value::Str(kind)) if kind == "array" => {}
            Some(other) => {
                return Err(PythonException(format!(
                    "Schema type must be 'array', got: {}",
                    other.to_repr()
                )));
            }
        }
        let empty = Dict::default();
        let items = match schema.get("items") {
            None => &empty,
            Some(Value::Dict(items)) => items,
            Some(other) => {
                return Err(PythonException(format!(
                    "'{}' object has no attribute 'get'",
                    type_name(other)
                )));
            }
        };
        let is_object = matches!(items.get("type"), Some(Value::Str(kind)) if kind == "object");
        let nodes = values.iter().map(|value| {
            if is_object { self.object_or_array(value, items) } else { self.simple(value, items) }
        });
        Ok(Node::Tuple(nodes.collect::<Result<_, _>>()?))
    }

    /// `normalize`, for the fields of a form or the parameters of a URL.
    pub(super) fn fields(
        &self,
        value: &Value,
        schema: Option<&Dict>,
    ) -> Result<Node, PythonException> {
        if !is_truthy(value) {
            return Ok(Node::NONE);
        }
        let Some(schema) = schema.filter(|schema| !schema.is_empty()) else {
            return self.object(value, &Dict::default());
        };
        let (kind, is_array) = type_of(schema)?;
        match (kind, value) {
            (Type::Object(schema), value) => self.object_or_array(value, schema),
            (kind, Value::List(_) | Value::Tuple(_)) if is_array => self.array(value, kind),
            (_, value) if is_array && self.strict => Err(PythonException(format!(
                "Schema expects array but got {}: {}",
                type_name(value),
                value.to_repr()
            ))),
            (_, value) if is_array => Ok(Node::raw(value)),
            (Type::Named(name), value) => self.single(value, name),
        }
    }

    /// `normalize_single`.
    pub(super) fn single(&self, value: &Value, name: &str) -> Result<Node, PythonException> {
        let kind = Kind::of(name)
            .ok_or_else(|| PythonException(format!("Unknown type name: '{name}'")))?;
        self.lenient(TypedValue::new(kind, value, self.reading), value, |raised| raised)
    }

    /// A typed value; or else the error, or the value as it is.
    fn lenient(
        &self,
        typed: Result<TypedValue, PythonException>,
        value: &Value,
        error: impl FnOnce(PythonException) -> PythonException,
    ) -> Result<Node, PythonException> {
        match typed {
            Ok(typed) => Ok(Node::Typed(Box::new(typed))),
            Err(raised) if self.strict => Err(error(raised)),
            Err(_) => Ok(Node::raw(value)),
        }
    }

    fn simple(&self, value: &Value, schema: &Dict) -> Result<Node, PythonException> {
        let named = |key: &str| match schema.get(key) {
            Some(Value::Str(name)) if !name.is_empty() => Some(name.as_str()),
            _ => None,
        };
        let name = named("format").or_else(|| named("type")).unwrap_or("string");
        let kind = Kind::of(name).ok_or_else(|| {
            PythonException(format!("Unknown type name: '{name}' during normalization"))
        })?;
        self.lenient(TypedValue::new(kind, value, self.reading), value, |_| {
            PythonException(format!(
                "Failed to normalize value {} with type '{}'",
                value.to_repr(),
                kind.class()
            ))
        })
    }

    fn object_or_array(&self, value: &Value, schema: &Dict) -> Result<Node, PythonException> {
        match value {
            Value::List(items) | Value::Tuple(items) => {
                let nodes = items.iter().map(|item| self.object(item, schema));
                Ok(Node::Tuple(nodes.collect::<Result<_, _>>()?))
            }
            value => self.object(value, schema),
        }
    }

    fn array(&self, value: &Value, kind: Type<'_>) -> Result<Node, PythonException> {
        let parsed = match value {
            Value::Str(text) => json::parse(text).filter(|parsed| matches!(parsed, Value::List(_))),
            _ => None,
        };
        let value = parsed.as_ref().unwrap_or(value);
        let (Value::List(items) | Value::Tuple(items)) = value else {
            if self.strict {
                let (text, kind) = (value.to_text(), type_name(value));
                return Err(PythonException(format!(
                    "Property '{text}' schema expects array but got {kind}"
                )));
            }
            return Ok(Node::raw(value));
        };
        let name = match kind {
            Type::Object(schema) => return self.object_or_array(value, schema),
            Type::Named(name) => name,
        };
        let kind = Kind::of(name)
            .ok_or_else(|| PythonException(format!("Unknown type name: '{name}'")))?;
        let nodes = items.iter().enumerate().map(|(at, item)| {
            self.lenient(TypedValue::new(kind, item, self.reading), item, |_| {
                PythonException(format!(
                    "Failed to normalize array element at index {at}: {}",
                    item.to_repr()
                ))
            })
        });
        Ok(Node::Tuple(nodes.collect::<Result<_, _>>()?))
    }

    fn object(&self, value: &Value, schema: &Dict) -> Result<Node, PythonException> {
        let parsed = match value {
            Value::Str(text) => json::parse(text).filter(|parsed| matches!(parsed, Value::Dict(_))),
            _ => None,
        };
        let value = parsed.as_ref().unwrap_or(value);
        let Value::Dict(object) = value else {
            if self.strict {
                let (kind, text) = (type_name(value), value.to_repr());
                return Err(PythonException(format!(
                    "Expected dict for object normalization, got {kind}: {text}"
                )));
            }
            return Ok(Node::raw(value));
        };
        let properties = match schema.get("properties") {
            Some(Value::Dict(properties)) => Some(properties),
            _ => None,
        };
        let fields = object.iter().map(|(name, value)| {
            let schema = properties.and_then(|properties| properties.get(name));
            Ok((name.to_owned(), self.field(name, value, schema)?))
        });
        Ok(Node::Dict(fields.collect::<Result<_, PythonException>>()?))
    }

    fn field(
        &self,
        name: &str,
        value: &Value,
        schema: Option<&Value>,
    ) -> Result<Node, PythonException> {
        let schema = match (value, schema) {
            (Value::None, _) => return Ok(Node::NONE),
            (_, None | Some(Value::None)) => {
                return self.lenient(
                    TypedValue::new(Kind::Text, value, self.reading),
                    value,
                    |raised| raised,
                );
            }
            (_, Some(schema)) => schema,
        };
        let Value::Dict(schema) = schema else { return Err(no_schema(schema)) };
        let (kind, is_array) = type_of(schema)?;
        let node = match kind {
            kind if is_array => self.array(value, kind),
            Type::Object(schema) => self.object(value, schema),
            Type::Named(name) => {
                let kind = Kind::of(name).unwrap_or(Kind::Text);
                TypedValue::new(kind, value, self.reading).map(|typed| Node::Typed(Box::new(typed)))
            }
        };
        match node {
            Ok(node) => Ok(node),
            Err(_) if self.strict => Err(PythonException(format!(
                "Failed to normalize property '{name}': {}",
                value.to_repr()
            ))),
            Err(_) => Ok(Node::raw(value)),
        }
    }
}

fn no_schema(schema: &Value) -> PythonException {
    PythonException(format!("Schema must be dict or MappingProxyType, got {}", type_name(schema)))
}

/// `_extract_type_from_schema`: the type of a value, or of the items of an array.
fn type_of(schema: &Dict) -> Result<(Type<'_>, bool), PythonException> {
    let named = |key: &str| match schema.get(key) {
        Some(Value::Str(name)) if !name.is_empty() => Some(name.as_str()),
        _ => None,
    };
    match named("type") {
        Some("array") => match schema.get("items") {
            None => Ok((TEXT, true)),
            Some(Value::Dict(items)) => Ok((type_of(items)?.0, true)),
            Some(other) => Err(no_schema(other)),
        },
        Some("object") => Ok((Type::Object(schema), false)),
        kind => Ok((named("format").or(kind).map_or(TEXT, Type::Named), false)),
    }
}
