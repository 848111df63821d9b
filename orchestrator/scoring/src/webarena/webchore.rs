//! WebChoreArena's `StringEvaluator`, as in `BrowserGym/evaluation_harness/evaluators.py` of
//! WebChoreArena/WebChoreArena, where it is not WebArena's.

use python_compat::nltk::word_tokenize;
use python_compat::text::strip;
use serde_json::Value;

use super::super::ScoreError;
use super::super::judge::{PartialScore, Question};
use super::super::mode::ScoringMode;
use super::answer::{clean, equals};
use super::{BAD_TYPE, NO_ITEMS, StringMatch, argument, items, points};

/// The separator of an answer's alternatives: they are divided once capitals have gone.
const OR: &str = " |or| ";

impl StringMatch {
    /// Scores an answer: 0 to 1 as far as no judge is needed.
    ///
    /// - `must_include` gives the share of its texts that are in the answer, each with alternatives
    ///   divided by ` |OR| `;
    /// - `fuzzy_match` has a judge say once whether the key points of a text, or of several joined
    ///   by `; `, are in the answer;
    /// - `exact_match` and `fuzzy_match: "N/A"` are as in WebArena.
    ///
    /// # Errors
    /// Where the published code raises an exception.
    pub(super) fn score_webchore(
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
                "must_include" => score.share(share(items(value)?, &answer, mode)?),
                "fuzzy_match" if value == "N/A" => {
                    score.not_achievable(equals("N/A", &answer), mode, || Question::SameReason {
                        reason: reason.to_owned(),
                        answer: answer.to_string(),
                    });
                }
                "fuzzy_match" => score.questions.push(Question::KeyPoints {
                    reference: key_points(value)?,
                    answer: answer.to_string(),
                }),
                _ => {}
            }
        }
        Ok(score)
    }
}

/// How many of the texts are in the answer, as a share.
fn share(references: &[Value], answer: &str, mode: ScoringMode) -> Result<f64, ScoreError> {
    if references.is_empty() {
        return Err(NO_ITEMS);
    }
    let mut good = 0.0;
    for reference in references {
        good += points(includes_one(argument(reference)?, answer, references.len() == 1, mode));
    }
    Ok(good / references.len() as f64)
}

/// `"; ".join(value)` of a list.
fn key_points(value: &Value) -> Result<String, ScoreError> {
    match value {
        Value::Array(references) => {
            let references: Option<Vec<&str>> = references.iter().map(Value::as_str).collect();
            Ok(references.ok_or(BAD_TYPE)?.join("; "))
        }
        value => argument(value).map(str::to_owned),
    }
}

/// `must_include`: a single character has to be a word of the answer where it is the only
/// reference. The published code looks for such an alternative in itself, and always finds it.
pub(super) fn includes_one(reference: &str, text: &str, tokenize: bool, mode: ScoringMode) -> bool {
    let reference = clean(reference);
    let text = clean(text);
    let is_word = |one: &str| tokenize && one.chars().count() == 1 && word_tokenize(one).len() == 1;
    let has_word = |one: &str| word_tokenize(&text).iter().any(|word| *word == one);
    if !reference.contains(OR) {
        return if is_word(&reference) { has_word(&reference) } else { text.contains(&*reference) };
    }
    reference.split(OR).map(strip).any(|one| match is_word(one) {
        true => mode.is_faithful() || has_word(one),
        false => text.contains(one),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(
        references: Value,
        answer: &str,
        faithful: Result<f64, ScoreError>,
        fixed: Result<f64, ScoreError>,
    ) {
        let string_match: StringMatch =
            serde_json::from_value(references.clone()).expect("an object");
        for (mode, expect) in [(ScoringMode::Faithful, faithful), (ScoringMode::Fixed, fixed)] {
            let score = string_match
                .score_webchore(answer, "", mode)
                .and_then(|score| score.score(&[], mode));
            assert_eq!(score, expect, "{references} of {answer:?}, {mode}");
        }
    }

    #[test]
    fn texts_have_alternatives_and_count_each() {
        let same =
            |references, answer, expect: f64| check(references, answer, Ok(expect), Ok(expect));
        same(json!({ "must_include": ["1480 |OR| 1,480"] }), "It is 1,480.", 1.0);
        same(json!({ "must_include": ["1480 |or| 1,480"] }), "It is 1.480.", 0.0);
        same(json!({ "must_include": ["oak", "elm |OR| ash"] }), "An ash", 0.5);
        same(json!({ "must_include": ["4"] }), "There are 40", 0.0);
        same(json!({ "must_include": ["4"] }), "There are 4 of them", 1.0);
        same(json!({ "exact_match": "4 |OR| 5" }), "4", 0.0);
    }

    #[test]
    fn a_single_character_among_alternatives_is_always_found() {
        let references = json!({ "must_include": ["4 |OR| four"] });
        check(references.clone(), "There are 40", Ok(1.0), Ok(0.0));
        check(references, "There are 4 of them", Ok(1.0), Ok(1.0));
    }

    #[test]
    fn a_judge_is_asked_once() {
        for (value, reference) in [(json!("oak"), "oak"), (json!(["oak", "elm"]), "oak; elm")] {
            let string_match: StringMatch =
                serde_json::from_value(json!({ "fuzzy_match": value })).expect("an object");
            let score =
                string_match.score_webchore("Trees", "", ScoringMode::Faithful).expect("a score");
            let question =
                Question::KeyPoints { reference: reference.to_owned(), answer: "trees".to_owned() };
            assert_eq!((score.rule_score, score.questions), (1.0, vec![question]));
        }
        let unjudged = || Err(ScoreError::NeedsJudge);
        check(json!({ "fuzzy_match": "N/A" }), "none", unjudged(), unjudged());
        check(json!({ "fuzzy_match": "N/A" }), "N/A", Ok(1.0), Ok(1.0));
    }

    #[test]
    fn wrong_types_raise() {
        for (references, class) in [
            (json!({ "must_include": [] }), "ZeroDivisionError"),
            (json!({ "must_include": "x" }), "AssertionError"),
            (json!({ "must_include": [5] }), "BeartypeCallHintParamViolation"),
            (json!({ "fuzzy_match": [5] }), "TypeError"),
            (json!({ "fuzzy_match": 5 }), "BeartypeCallHintParamViolation"),
        ] {
            let raised = || Err(ScoreError::Raised(class));
            check(references, "x", raised(), raised());
        }
    }
}
