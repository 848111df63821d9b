//! The leaves of a JSON body as named fields.

use std::collections::HashMap;

use crate::matching::json::{Node, parse};

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The scalars of a document, named by their key without its path. A repeated name gets `.2_`,
/// `.3_` and so on. `None` if the body is not JSON.
pub(super) fn leaves(body: &[u8]) -> Option<Fields> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    std::str::from_utf8(body).ok()?;
    let mut leaves = Leaves::default();
    leaves.walk(&parse(body)?, "")?;
    Some(leaves.fields)
}

#[derive(Default)]
struct Leaves {
    fields: Fields,
    places: HashMap<String, usize>,
    repeats: HashMap<String, usize>,
}

impl Leaves {
    fn walk(&mut self, node: &Node<'_>, name: &str) -> Option<()> {
        match node {
            Node::Object(members) => {
                // If a key occurs twice in one object, the last value counts, at the position of
                // the first.
                let mut order: Vec<String> = Vec::new();
                let mut last: HashMap<String, &Node<'_>> = HashMap::new();
                for (key, value) in members {
                    let key: String = serde_json::from_slice(key).ok()?;
                    if last.insert(key.clone(), value).is_none() {
                        order.push(key);
                    }
                }
                order.iter().try_for_each(|key| self.walk(last[key], key))
            }
            Node::Array(items) => items.iter().try_for_each(|item| self.walk(item, name)),
            Node::Scalar(text) => {
                let value = scalar(text)?;
                if !name.is_empty() {
                    self.put(name, value);
                }
                Some(())
            }
        }
    }

    fn put(&mut self, name: &str, value: Vec<u8>) {
        let mut key = name.to_owned();
        if self.places.contains_key(name) {
            let count = self.repeats.entry(key.clone()).or_insert(1);
            *count += 1;
            key.push_str(&format!(".{count}_"));
        }
        match self.places.get(&key) {
            Some(place) => self.fields[*place].1 = value,
            None => {
                self.places.insert(key.clone(), self.fields.len());
                self.fields.push((key.into_bytes(), value));
            }
        }
    }
}

/// The text of a scalar: strings unescaped, numbers in Python's format, whole floats without a
/// fraction.
fn scalar(raw: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(raw).ok()?;
    if text.starts_with('"') {
        return serde_json::from_str::<String>(text).ok().map(String::into_bytes);
    }
    if matches!(text, "true" | "false" | "null") {
        return Some(text.into());
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit() {
        return None;
    }
    if !text.contains(['.', 'e', 'E']) {
        return Some(if digits == "0" { "0" } else { text }.into());
    }
    let number: f64 = text.parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    Some(float(number).into_bytes())
}

fn float(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.fract() == 0.0 {
        format!("{number:.0}")
    } else if number.abs() < 1e-4 {
        let text = format!("{number:e}");
        match text.split_once("e-") {
            Some((mantissa, exponent)) => format!("{mantissa}e-{exponent:0>2}"),
            None => text,
        }
    } else {
        number.to_string()
    }
}
