//! The values that `json.loads` makes, and tuples.

use std::collections::HashMap;

/// A Python object.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// `None`.
    #[default]
    None,
    /// `True` or `False`.
    Bool(bool),
    /// Of any size, hence its decimal digits, with `-` in front of negative ones.
    Int(String),
    Float(f64),
    /// A text.
    Str(String),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    /// A dictionary.
    Dict(Dict),
}

/// A dictionary: keeps the place of a key's first and the value of its last mention.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dict {
    entries: Vec<(String, Value)>,
    /// Of all keys, once there are more than a glance takes in.
    places: HashMap<String, usize>,
}

/// So many keys are faster gone through than looked up.
const FEW: usize = 16;

impl Dict {
    /// `self[key] = value`.
    pub fn insert(&mut self, key: String, value: Value) {
        if let Some(place) = self.place(&key) {
            self.entries[place].1 = value;
            return;
        }
        self.entries.push((key, value));
        if self.entries.len() > FEW {
            let unknown = self.entries.iter().enumerate().skip(self.places.len());
            self.places.extend(unknown.map(|(place, (key, _))| (key.clone(), place)));
        }
    }

    /// `self.get(key)`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.place(key).map(|place| &self.entries[place].1)
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.entries.len() > FEW {
            self.places.get(key).copied()
        } else {
            self.entries.iter().position(|(known, _)| known == key)
        }
    }

    /// `self.items()`.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// `not self`.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// JSON that was read with limits on its numbers.
impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::None,
            serde_json::Value::Bool(truth) => Value::Bool(truth),
            serde_json::Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() => Value::Float(float),
                _ => Value::Int(number.to_string()),
            },
            serde_json::Value::String(text) => Value::Str(text),
            serde_json::Value::Array(items) => {
                Value::List(items.into_iter().map(Value::from).collect())
            }
            serde_json::Value::Object(entries) => {
                let mut dict = Dict::default();
                for (key, value) in entries {
                    dict.insert(key, Value::from(value));
                }
                Value::Dict(dict)
            }
        }
    }
}

impl Value {
    /// `len()`; nothing where Python raises `TypeError`.
    pub fn is_empty(&self) -> Option<bool> {
        match self {
            Value::Str(text) => Some(text.is_empty()),
            Value::List(items) | Value::Tuple(items) => Some(items.is_empty()),
            Value::Dict(dict) => Some(dict.is_empty()),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_place_however_many_there_are() {
        let mut dict = Dict::default();
        for round in 0..2 {
            for key in 0..3 * FEW {
                dict.insert(format!("k{key}"), Value::Int((key * 2 + round).to_string()));
                assert_eq!(
                    dict.get(&format!("k{key}")),
                    Some(&Value::Int((key * 2 + round).to_string()))
                );
            }
        }
        let found: Vec<&str> = dict.iter().map(|(key, _)| key).collect();
        assert_eq!(found, (0..3 * FEW).map(|key| format!("k{key}")).collect::<Vec<_>>());
        assert_eq!(dict.get("k"), None);
    }
}
