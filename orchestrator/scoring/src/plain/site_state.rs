//! Scores the final state of a site, which is read as JSON by a probe of its manifest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::ProbeQuestion;

/// A question to a site, and what its answer has to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateCheck {
    /// The site.
    pub site: String,
    /// A probe of its manifest.
    pub probe: String,
    /// The probe's parameters.
    #[serde(default, alias = "with", skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// The condition on the value.
    #[serde(with = "serde_yaml::with::singleton_map_recursive")]
    #[schemars(with = "Expectation")]
    pub expect: Expectation,
}

/// The condition on a probe's value. Objects are compared by the keys that are named here, so that
/// a row may have more columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// It is this; lists have the same items in the same order.
    Equals(Value),
    /// It is a list with each of these in it.
    Includes(Vec<Value>),
    /// It is a list with none of these in it.
    Excludes(Vec<Value>),
    /// It is a list of so many items.
    Count(usize),
}

impl StateCheck {
    /// The question alone.
    pub fn question(&self) -> ProbeQuestion<'_> {
        ProbeQuestion { site: &self.site, probe: &self.probe, params: &self.params }
    }

    /// Describes why a value breaks the condition, if it does.
    pub fn judge(&self, answer: &Value) -> Option<String> {
        let wrong = match (&self.expect, answer) {
            (Expectation::Equals(wanted), found) => !fits(wanted, found),
            (Expectation::Includes(wanted), Value::Array(found)) => {
                !wanted.iter().all(|wanted| found.iter().any(|found| fits(wanted, found)))
            }
            (Expectation::Excludes(unwanted), Value::Array(found)) => {
                unwanted.iter().any(|unwanted| found.iter().any(|found| fits(unwanted, found)))
            }
            (Expectation::Count(wanted), Value::Array(found)) => found.len() != *wanted,
            _ => true,
        };
        wrong.then(|| format!("{} of {} is {}", self.probe, self.site, shortened(answer)))
    }
}

/// Numbers are compared by value, and as texts with texts: databases are not strict about which of
/// the two they hold.
fn fits(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .all(|(key, wanted)| found.get(key).is_some_and(|found| fits(wanted, found))),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len()
                && wanted.iter().zip(found).all(|(wanted, found)| fits(wanted, found))
        }
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        (Value::Number(number), Value::String(text))
        | (Value::String(text), Value::Number(number)) => number.to_string() == *text,
        (wanted, found) => wanted == found,
    }
}

fn shortened(answer: &Value) -> String {
    const MOST: usize = 300;
    let mut text = answer.to_string();
    if let Some((end, _)) = text.char_indices().nth(MOST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(expect: Value, answer: Value, right: bool) {
        let check = StateCheck {
            site: "shop".to_owned(),
            probe: "orders".to_owned(),
            params: BTreeMap::new(),
            expect: serde_json::from_value(expect.clone()).unwrap(),
        };
        assert_eq!(check.judge(&answer).is_none(), right, "{expect} of {answer}");
    }

    #[test]
    fn expectations() {
        let orders = json!([{ "id": 1, "state": "sent" }, { "id": 2, "state": "new" }]);
        check(json!({ "equals": [{ "id": 1 }, { "state": "new" }] }), orders.clone(), true);
        check(json!({ "equals": [{ "id": 1 }] }), orders.clone(), false);
        check(json!({ "equals": [{ "id": 2 }, { "id": 1 }] }), orders.clone(), false);
        check(json!({ "includes": [{ "id": 2, "state": "new" }] }), orders.clone(), true);
        check(json!({ "includes": [{ "id": 2, "state": "sent" }] }), orders.clone(), false);
        check(json!({ "excludes": [{ "state": "lost" }] }), orders.clone(), true);
        check(json!({ "excludes": [{ "state": "sent" }] }), orders.clone(), false);
        check(json!({ "count": 2 }), orders.clone(), true);
        check(json!({ "count": 1 }), orders, false);
        check(json!({ "count": 0 }), json!("nothing"), false);
        check(
            json!({ "equals": [{ "id": "7", "price": 2 }] }),
            json!([{ "id": 7, "price": 2.0 }]),
            true,
        );
        check(json!({ "equals": { "gone": null } }), json!({}), false);
    }
}
