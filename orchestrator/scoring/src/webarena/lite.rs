//! WebArena-Lite's `HTMLContentEvaluator`, where it is not WebArena's: what a locator gave against
//! a target's `required_contents`.

use serde_json::Value;

use super::super::ScoreError;
use super::super::judge::{PartialScore, Question};
use super::answer::{equals, includes};
use super::{BAD_TYPE, BAD_VALUE, RequiredContents, alternatives, argument, items};

impl RequiredContents {
    /// Scores what a locator gave: 0 or 1 as far as no judge is needed. Of the keys the first of
    /// these counts.
    ///
    /// - `exact_match` and `must_include` as WebArena has them, but no character reference is
    ///   decoded;
    /// - `fuzzy_match`: texts; a judge has to say that the content means the same as all of them,
    ///   joined.
    ///
    /// # Errors
    /// Where the published code raises an exception.
    pub(super) fn score_lite(&self, content: &Value) -> Result<PartialScore, ScoreError> {
        let mut score = PartialScore::new();
        if content.is_null() {
            score.rule(false);
        } else if let Some(reference) = self.0.get("exact_match") {
            score.rule(equals(argument(reference)?, argument(content)?));
        } else if let Some(references) = self.0.get("must_include") {
            let content = argument(content)?;
            for reference in items(references)? {
                score.rule(alternatives(reference)?.any(|reference| includes(reference, content)));
            }
        } else {
            let references = items(self.0.get("fuzzy_match").ok_or(BAD_VALUE)?)?;
            let references: Option<Vec<&str>> = references.iter().map(Value::as_str).collect();
            // `", ".join(...)` of what is no text.
            let reference = references.ok_or(BAD_TYPE)?.join(", ");
            score
                .questions
                .push(Question::SameMeaning { reference, answer: argument(content)?.to_owned() });
        }
        Ok(score)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::mode::ScoringMode;
    use super::*;

    fn check(contents: Value, content: Value, expect: Result<f64, ScoreError>) {
        let rule: RequiredContents = serde_json::from_value(contents.clone()).expect("an object");
        let score =
            rule.score_lite(&content).and_then(|score| score.score(&[], ScoringMode::Faithful));
        assert_eq!(score, expect, "{contents} of {content}");
    }

    #[test]
    fn contents_are_compared_as_they_are() {
        check(json!({ "exact_match": "Oak & Elm" }), json!(" oak & elm"), Ok(1.0));
        check(json!({ "exact_match": "Oak & Elm" }), json!("oak &amp; elm"), Ok(0.0));
        check(json!({ "must_include": ["oak |OR| ash", "ELM"] }), json!("elms and ashes"), Ok(1.0));
        check(json!({ "must_include": ["oak", "elm"] }), json!("elm"), Ok(0.0));
        check(json!({ "must_include": [] }), Value::Null, Ok(0.0));
    }

    #[test]
    fn a_judge_compares_the_content_with_all_texts_at_once() {
        let rule: RequiredContents =
            serde_json::from_value(json!({ "fuzzy_match": ["oak", "elm"] })).expect("an object");
        let score = rule.score_lite(&json!("Elms, oaks")).expect("a rule of the benchmark");
        let question = Question::SameMeaning {
            reference: "oak, elm".to_owned(),
            answer: "Elms, oaks".to_owned(),
        };
        assert_eq!((score.rule_score, score.questions), (1.0, vec![question]));
    }

    #[test]
    fn wrong_types_raise() {
        for (contents, content, class) in [
            (json!({}), json!("x"), "ValueError"),
            (json!({ "exact_match": "5" }), json!(5), "BeartypeCallHintParamViolation"),
            (json!({ "must_include": "x" }), json!("x"), "AssertionError"),
            (json!({ "fuzzy_match": "x" }), json!("x"), "AssertionError"),
            (json!({ "fuzzy_match": [5] }), json!("x"), "TypeError"),
        ] {
            check(contents, content, Err(ScoreError::Raised(class)));
        }
    }
}
