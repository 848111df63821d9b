//! Scores by expressions in the page, for benchmarks whose pages know when they are done and what
//! that is worth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The verdict of a page: expressions of JavaScript, evaluated among the page's own scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageCheck {
    /// Its value is the score: a number, or a truth value that counts as 1 or 0.
    #[serde(deserialize_with = "crate::read_text")]
    pub reward: String,
    /// The episode is over once this is true. Without it the agent ends the episode.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_done")]
    pub done: Option<String>,
}

/// The values that a page returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The value of [`PageCheck::reward`], or what went wrong.
    pub reward: Result<Value, String>,
    /// The value of [`PageCheck::done`], or what went wrong; absent where there is none.
    pub done: Option<Result<Value, String>>,
}

impl Verdict {
    /// Whether the page says that the episode is over. A page that cannot say has not said so.
    pub fn is_done(&self) -> bool {
        matches!(self.done, Some(Ok(Value::Bool(true))))
    }

    /// The score; or why there is none, for people.
    pub(crate) fn value(&self) -> Result<f64, String> {
        if let Some(Err(why)) = &self.done {
            return Err(format!("the page does not say whether it is done: {why}"));
        }
        let number = match &self.reward {
            Ok(Value::Bool(good)) => Some(f64::from(u8::from(*good))),
            Ok(Value::Number(number)) => number.as_f64(),
            Ok(_) => None,
            Err(why) => return Err(format!("the page does not say its reward: {why}")),
        };
        number.ok_or_else(|| "the page's reward is no number".to_owned())
    }
}

fn read_done<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    crate::read_text(input).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(reward: Value, done: Value) -> (Result<f64, String>, bool) {
        let verdict = Verdict { reward: Ok(reward), done: Some(Ok(done)) };
        (verdict.value(), verdict.is_done())
    }

    #[test]
    fn numbers_and_truth_values_are_scores() {
        assert_eq!(said(json!(0.5), json!(false)), (Ok(0.5), false));
        assert_eq!(said(json!(-1), json!(true)), (Ok(-1.0), true));
        assert_eq!(said(json!(true), json!(1)), (Ok(1.0), false));
        assert_eq!(
            said(json!("1"), json!(true)).0,
            Err("the page's reward is no number".to_owned())
        );
    }

    #[test]
    fn what_a_page_throws_earns_nothing_and_ends_nothing() {
        let thrown = || Err("ReferenceError: won is not defined".to_owned());
        let verdict = Verdict { reward: Ok(json!(1)), done: Some(thrown()) };
        assert!(!verdict.is_done() && verdict.value().is_err());
        let verdict = Verdict { reward: thrown(), done: None };
        let why = "the page does not say its reward: ReferenceError: won is not defined";
        assert_eq!(verdict.value(), Err(why.to_owned()));
    }
}
