//! `HTMLContentEvaluator`, once a locator has given its text: that text against a target's
//! `required_contents`.

use python_compat::html::unescape;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::ScoreError;
use super::super::judge::PartialScore;
use super::super::mode::ScoringMode;
use super::answer::{equals, includes};
use super::edition::Edition;
use super::reading::read_contents;
use super::{BAD_TYPE, BAD_VALUE, NO_ITEMS, alternatives, argument, items, points};

/// `required_contents` of a target.
///
/// - `exact_match`: a text that the content has to be; it goes before the other key;
/// - `must_include`: texts of which all have to be in the content, each with alternatives divided
///   by ` |OR| `.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequiredContents(#[serde(deserialize_with = "read_contents")] pub Map<String, Value>);

impl RequiredContents {
    /// Scores what a locator gave.
    pub(super) fn judge(
        &self,
        content: &Value,
        edition: Edition,
    ) -> Result<PartialScore, ScoreError> {
        let mut judged = PartialScore::new();
        judged.share(match edition {
            Edition::Lite => return self.score_lite(content),
            Edition::WebArena => self.score(content.as_str().ok_or(BAD_TYPE)?)?,
            Edition::WebChore => self.share(content.as_str().ok_or(BAD_TYPE)?)?,
        });
        Ok(judged)
    }

    /// Scores what a locator gave: 0 or 1. Its character references are decoded once, those of the
    /// contents are not.
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

    /// The same by WebChoreArena's rules: of `must_include` the share of texts that are there.
    fn share(&self, content: &str) -> Result<f64, ScoreError> {
        let Some(references) =
            self.0.get("must_include").filter(|_| !self.0.contains_key("exact_match"))
        else {
            return self.score(content);
        };
        let content = unescape(content).ok_or(BAD_VALUE)?;
        let references = items(references)?;
        if references.is_empty() {
            return Err(NO_ITEMS);
        }
        let mut good = 0.0;
        for reference in references {
            let mut found = false;
            for reference in alternatives(reference)? {
                found |= super::webchore::includes_one(
                    reference,
                    &content,
                    false,
                    ScoringMode::Faithful,
                );
            }
            good += points(found);
        }
        Ok(good / references.len() as f64)
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
