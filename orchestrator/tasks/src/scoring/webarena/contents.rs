//! `HTMLContentEvaluator`, once a locator has given its text: that text against a target's `required_contents`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::ScoreError;
use super::super::judge::Judged;
use super::super::python::html::unescape;
use super::answer::{equals, includes};
use super::{BAD_TYPE, BAD_VALUE, alternatives, argument, items, points};

/// `required_contents` of a target.
///
/// - `exact_match`: a text that the content has to be; it goes before the other key;
/// - `must_include`: texts of which all have to be in the content, each with alternatives divided by ` |OR| `.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequiredContents(pub Map<String, Value>);

impl RequiredContents {
    /// Scores what a locator gave, by WebArena's rules or by WebArena-Lite's.
    pub(super) fn judge(&self, content: &Value, lite: bool) -> Result<Judged, ScoreError> {
        if lite {
            return self.score_lite(content);
        }
        let mut judged = Judged::new();
        judged.rule(self.score(content.as_str().ok_or(BAD_TYPE)?)? == 1.0);
        Ok(judged)
    }

    /// Scores what a locator gave: 0 or 1. Its character references are decoded once, those of the contents are not.
    ///
    /// # Errors
    /// Where the published code raises an exception.
    pub fn score(&self, content: &str) -> Result<f64, ScoreError> {
        let content = unescape(content).ok_or(BAD_VALUE)?;
        if let Some(reference) = self.0.get("exact_match") {
            return Ok(points(equals(argument(reference)?, &content)));
        }
        let mut good = true;
        for reference in items(self.0.get("must_include").ok_or(BAD_VALUE)?)? {
            good &= alternatives(reference)?.any(|reference| includes(reference, &content));
        }
        Ok(points(good))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(contents: Value, content: &str, expect: Result<f64, ScoreError>) {
        let rule: RequiredContents = serde_json::from_value(contents.clone()).expect("an object");
        assert_eq!(rule.score(content), expect, "{contents} of {content:?}");
    }

    #[test]
    fn the_content_alone_is_decoded() {
        check(json!({ "exact_match": "Oak & Elm" }), " &quot;oak &amp elm&#34;", Ok(1.0));
        check(json!({ "exact_match": "oak &amp; elm" }), "oak &amp; elm", Ok(0.0));
        check(json!({ "exact_match": "oak elm" }), "&nbsp;oak&nbsp;elm", Ok(0.0));
    }

    #[test]
    fn alternatives_are_for_must_include() {
        check(json!({ "must_include": ["oak |OR| ash", "ELM"] }), "elms and ashes", Ok(1.0));
        check(json!({ "must_include": ["oak|OR|ash"] }), "ash", Ok(0.0));
        check(json!({ "exact_match": "oak |OR| ash" }), "ash", Ok(0.0));
        check(json!({ "must_include": ["4"] }), "40", Ok(1.0));
        check(json!({ "must_include": [5], "exact_match": "x" }), "x", Ok(1.0));
    }

    #[test]
    fn wrong_types_raise() {
        for (contents, class) in [
            (json!({}), "ValueError"),
            (json!({ "must_exclude": ["x"] }), "ValueError"),
            (json!({ "exact_match": ["x"] }), "BeartypeCallHintParamViolation"),
            (json!({ "must_include": null }), "AssertionError"),
            (json!({ "must_include": ["x", 5] }), "AttributeError"),
        ] {
            check(contents, "x", Err(ScoreError::Raised(class)));
        }
    }
}
