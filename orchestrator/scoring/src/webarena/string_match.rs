//! `StringEvaluator`: the agent's answer against a task's `reference_answers`.

use python_compat::nltk::word_tokenize;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::ScoreError;
use super::super::judge::{PartialScore, Question};
use super::super::mode::ScoringMode;
use super::answer::{clean, equals, includes};
use super::edition::Edition;
use super::{NO_LIST, OR, argument, items};

/// `reference_answers` of a task, its keys in their order.
///
/// - `exact_match`: a text that the answer has to be;
/// - `must_include`: texts that have to be in the answer, the only one as a word if it is one
///   character;
/// - `fuzzy_match`: texts that a judge compares with the answer, or `"N/A"`: the answer has to be
///   that, or else give a reason that a judge accepts.
///
/// Other keys say nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StringMatch(pub Map<String, Value>);

impl StringMatch {
    /// Scores an answer by a benchmark's evaluators.
    pub(super) fn score_by(
        &self,
        edition: Edition,
        answer: &str,
        reason: &str,
        mode: ScoringMode,
    ) -> Result<PartialScore, ScoreError> {
        match edition {
            Edition::WebArena | Edition::Lite => self.score(answer, reason, mode),
            Edition::WebChore => self.score_webchore(answer, reason, mode),
        }
    }

    /// Scores an answer: 0 or 1 as far as no judge is needed. `reason` is why the goal cannot be
    /// reached, where that is so.
    ///
    /// # Errors
    /// Where the published code raises an exception.
    pub fn score(
        &self,
        answer: &str,
        reason: &str,
        mode: ScoringMode,
    ) -> Result<PartialScore, ScoreError> {
        let answer = clean(answer);
        let mut score = PartialScore::new();
        for (rule, value) in &self.0 {
            match rule.as_str() {
                "exact_match" => score.rule(equals(argument(value)?, &answer)),
                "must_include" => {
                    let references = items(value)?;
                    for reference in references {
                        let reference = argument(reference)?;
                        // `tokenize=(len(value) == 1)` in `StringEvaluator.__call__`.
                        let includes = |reference: &str| {
                            must_include(reference, &answer, references.len() == 1)
                        };
                        score.rule(match mode {
                            ScoringMode::Faithful => includes(reference),
                            ScoringMode::Fixed => reference.split(OR).any(includes),
                        });
                    }
                }
                "fuzzy_match" if value == "N/A" => {
                    score.not_achievable(equals("N/A", &answer), mode, || Question::SameReason {
                        reason: reason.to_owned(),
                        answer: answer.to_string(),
                    });
                }
                "fuzzy_match" => {
                    for reference in value.as_array().ok_or(NO_LIST)? {
                        let reference = argument(reference)?.to_owned();
                        score
                            .questions
                            .push(Question::SameMeaning { reference, answer: answer.to_string() });
                    }
                }
                // The published `match` has no default.
                _ => {}
            }
        }
        Ok(score)
    }
}

/// `must_include`: a single character has to be a word of the answer where it is the only
/// reference.
fn must_include(reference: &str, answer: &str, tokenize: bool) -> bool {
    let one = clean(reference);
    if tokenize && one.chars().count() == 1 && word_tokenize(&one).len() == 1 {
        word_tokenize(&clean(answer)).contains(&one)
    } else {
        includes(reference, answer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(references: Value, answer: &str, expect: Result<f64, ScoreError>) {
        let string_match: StringMatch =
            serde_json::from_value(references.clone()).expect("an object");
        let score = string_match
            .score(answer, "", ScoringMode::Faithful)
            .and_then(|score| score.score(&[], ScoringMode::Faithful));
        assert_eq!(score, expect, "{references} of {answer:?}");
    }

    #[test]
    fn texts_are_compared_clean() {
        check(json!({ "exact_match": "Oak Lane" }), " \"'OAK LANE'\"", Ok(1.0));
        check(json!({ "exact_match": "\"'Oak Lane'\"" }), "oak lane", Ok(0.0));
        check(json!({ "must_include": ["oak", "elm"] }), "Elm and Oak", Ok(1.0));
        check(json!({ "must_include": ["oak |OR| elm"] }), "elm", Ok(0.0));
        check(json!({ "must_include": [], "note": 5 }), "elm", Ok(1.0));
    }

    #[test]
    fn fixed_rules_mend_what_they_name() {
        for (references, answer, faithful, fixed) in [
            (json!({ "must_include": ["oak |OR| elm"] }), "elm", Ok(0.0), Ok(1.0)),
            (json!({ "must_include": ["oak |OR| elm", "red"] }), "elm", Ok(0.0), Ok(0.0)),
            (
                json!({ "exact_match": "x", "fuzzy_match": "N/A" }),
                "n/a",
                Err(ScoreError::NeedsJudge),
                Ok(0.0),
            ),
            (
                json!({ "fuzzy_match": "N/A" }),
                "none",
                Err(ScoreError::NeedsJudge),
                Err(ScoreError::NeedsJudge),
            ),
        ] {
            let string_match: StringMatch =
                serde_json::from_value(references.clone()).expect("an object");
            for (mode, expect) in [(ScoringMode::Faithful, faithful), (ScoringMode::Fixed, fixed)] {
                let score =
                    string_match.score(answer, "", mode).and_then(|score| score.score(&[], mode));
                assert_eq!(score, expect, "{references} of {answer:?}, {mode}");
            }
        }
    }

    #[test]
    fn a_single_character_is_a_word() {
        check(json!({ "must_include": ["4"] }), "There are 4 of them", Ok(1.0));
        check(json!({ "must_include": ["4"] }), "There are 40 of them", Ok(0.0));
        check(json!({ "must_include": ["4", "40"] }), "There are 40 of them", Ok(1.0));
        check(json!({ "must_include": ["4"] }), "There are 4. All red", Ok(0.0));
        check(json!({ "must_include": ["4"] }), "There are 4. (All red)", Ok(1.0));
        check(json!({ "must_include": [""] }), "x", Ok(1.0));
    }

    #[test]
    fn judges_are_asked_where_rules_do_not_decide() {
        check(json!({ "fuzzy_match": "N/A" }), "n/a", Ok(1.0));
        check(json!({ "fuzzy_match": "N/A" }), "there is none", Err(ScoreError::NeedsJudge));
        check(
            json!({ "exact_match": "x", "fuzzy_match": "N/A" }),
            "n/a",
            Err(ScoreError::NeedsJudge),
        );
        check(json!({ "fuzzy_match": ["x"] }), "x", Err(ScoreError::NeedsJudge));
        check(json!({ "fuzzy_match": ["x"], "must_include": ["no"] }), "x", Ok(0.0));
        check(json!({ "fuzzy_match": [] }), "x", Ok(1.0));
    }

    #[test]
    fn wrong_types_raise() {
        for (references, class) in [
            (json!({ "exact_match": null }), "BeartypeCallHintParamViolation"),
            (json!({ "must_include": ["x", 5] }), "BeartypeCallHintParamViolation"),
            (json!({ "must_include": "x" }), "AssertionError"),
            (json!({ "fuzzy_match": "n/a" }), "AssertionError"),
            (json!({ "fuzzy_match": [null] }), "BeartypeCallHintParamViolation"),
        ] {
            check(references, "x", Err(ScoreError::Raised(class)));
        }
    }
}
