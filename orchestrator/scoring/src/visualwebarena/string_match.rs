//! `StringEvaluator`: the agent's answer against a task's `reference_answers`.

use std::borrow::Cow;

use python_compat::int::Int;
use python_compat::nltk::word_tokenize;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::ScoreError;
use super::super::judge::{PartialScore, Question};
use super::super::mode::ScoringMode;
use super::super::webarena::{
    BAD_TYPE, NO_LIST, WRONG_ARGUMENT, alternatives, argument, items, without_quotes,
};
use super::required_values::{Number, parse, satisfied};

/// `reference_answers` of a task, its keys in their order, which matters: once `required_values`
/// has been looked at, the answer is a number for the keys after it.
///
/// - `exact_match`: a text that the answer has to be;
/// - `must_include`: texts that have to be in the answer, as words if they are one word; ` |OR| `
///   divides alternatives;
/// - `must_exclude`: texts that must not be, in the same sense;
/// - `one_of`: texts of which one has to be in the answer;
/// - `required_values`: inequalities that the answer has to satisfy, with alternatives;
/// - `fuzzy_match`: as in [WebArena](super::super::webarena::StringMatch).
///
/// Other keys say nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StringMatch(pub Map<String, Value>);

/// The answer as the rules so far have left it.
enum Answer<'a> {
    Text(Cow<'a, str>),
    Number(Int),
    /// A text where a number was expected.
    Nothing,
}

impl StringMatch {
    /// Scores an answer: 0 or 1 as far as no judge is needed. `reason` is why the goal cannot be
    /// reached, where that is so.
    ///
    /// # Errors
    /// Where the published code raises an exception.
    pub fn score(&self, answer: &str, reason: &str) -> Result<PartialScore, ScoreError> {
        let mut answer = Answer::Text(without_quotes(answer));
        let mut score = PartialScore::new();
        for (rule, value) in &self.0 {
            match rule.as_str() {
                "exact_match" => score.rule(answer.equals(argument(value)?)?),
                "required_values" => {
                    let inequalities = items(value)?;
                    answer = answer.to_number()?;
                    // What is no number satisfies nothing, not even no inequality.
                    score.rule(match &answer {
                        Answer::Number(number) => {
                            satisfied(&Number::Int(number.clone()), inequalities)?
                        }
                        Answer::Text(_) | Answer::Nothing => false,
                    });
                }
                "must_include" => {
                    for reference in items(value)? {
                        let included =
                            alternatives(reference)?.map(|reference| answer.includes(reference));
                        let included: Vec<bool> = included.collect::<Result<_, _>>()?;
                        score.rule(included.contains(&true));
                    }
                }
                "must_exclude" => {
                    for reference in items(value)? {
                        score.rule(!answer.includes(argument(reference)?)?);
                    }
                }
                "one_of" => score.rule(answer.has_one_of(items(value)?)?),
                "fuzzy_match" if value == "N/A" => {
                    let equal = answer.equals("N/A")?;
                    if !equal || score.rule_score < 1.0 {
                        let answer = answer.text()?.to_owned();
                        let reason = reason.to_owned();
                        score.not_achievable(equal, ScoringMode::Faithful, || {
                            Question::SameReason { reason, answer }
                        });
                    }
                }
                "fuzzy_match" => {
                    for reference in value.as_array().ok_or(NO_LIST)? {
                        let reference = argument(reference)?.to_owned();
                        let answer = answer.text()?.to_owned();
                        score.questions.push(Question::SameMeaning { reference, answer });
                    }
                }
                _ => {}
            }
        }
        Ok(score)
    }
}

impl Answer<'_> {
    /// As an argument that has to be a text.
    fn text(&self) -> Result<&str, ScoreError> {
        match self {
            Answer::Text(text) => Ok(text),
            Answer::Number(_) | Answer::Nothing => Err(WRONG_ARGUMENT),
        }
    }

    fn to_number(&self) -> Result<Answer<'static>, ScoreError> {
        Ok(parse(self.text()?).map_or(Answer::Nothing, Answer::Number))
    }

    /// `exact_match`, which takes numbers, too.
    fn equals(&self, reference: &str) -> Result<bool, ScoreError> {
        let text = match self {
            Answer::Text(text) => without_quotes(text),
            Answer::Number(number) => number.to_text().into(),
            Answer::Nothing => return Err(WRONG_ARGUMENT),
        };
        Ok(text == without_quotes(reference))
    }

    fn includes(&self, reference: &str) -> Result<bool, ScoreError> {
        Ok(includes(self.text()?, reference))
    }

    /// `one_of` stops at the first that it finds.
    fn has_one_of(&self, references: &[Value]) -> Result<bool, ScoreError> {
        for reference in references {
            let reference = without_quotes(argument(reference)?);
            if self.text().map_err(|_| BAD_TYPE)?.contains(&*reference) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// `must_include`, and what `must_exclude` denies: one word is looked for among words.
pub(super) fn includes(text: &str, reference: &str) -> bool {
    let (text, reference) = (without_quotes(text), without_quotes(reference));
    let is_there = text.contains(&*reference);
    // Words stand in a text as they are, but for quotation marks, which are spelt anew.
    if !is_there && !reference.contains(['`', '\'']) {
        return false;
    }
    if word_tokenize(&reference).len() == 1 {
        word_tokenize(&text).contains(&reference)
    } else {
        is_there
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
            .score(answer, "")
            .and_then(|score| score.score(&[], ScoringMode::Faithful));
        assert_eq!(score, expect, "{references} of {answer:?}");
    }

    #[test]
    fn single_words_are_looked_for_among_words() {
        check(json!({ "must_include": ["oak"] }), "An oak.", Ok(1.0));
        check(json!({ "must_include": ["oak"] }), "oaken, oak-like", Ok(0.0));
        check(json!({ "must_include": ["an oak"] }), "an oaken door", Ok(1.0));
        check(json!({ "must_include": ["elm |OR| oak"] }), "oak", Ok(1.0));
        check(json!({ "must_include": ["$4"] }), "$4.50", Ok(1.0));
        check(json!({ "must_exclude": ["oak"] }), "oaken", Ok(1.0));
        check(json!({ "must_exclude": ["elm |OR| oak"] }), "oak", Ok(1.0));
        check(json!({ "one_of": ["elm", "oak"] }), "oaken", Ok(1.0));
        check(json!({ "one_of": [] }), "oaken", Ok(0.0));
    }

    #[test]
    fn white_space_stays() {
        check(json!({ "exact_match": "oak" }), " oak", Ok(0.0));
        check(json!({ "exact_match": "'Oak'" }), "\"oak\"", Ok(1.0));
        check(json!({ "must_include": [" oak"] }), "an oak", Ok(0.0));
    }

    #[test]
    fn a_number_stays_one() {
        check(json!({ "required_values": ["> 5", "< 9 |OR| == 12"] }), "+1_2", Ok(1.0));
        check(json!({ "required_values": [] }), "twelve", Ok(0.0));
        check(json!({ "required_values": [5] }), "twelve", Ok(0.0));
        check(json!({ "required_values": ["> 5"], "exact_match": "7" }), "07", Ok(1.0));
        check(json!({ "exact_match": "7", "required_values": ["> 5"] }), "07", Ok(0.0));
        check(
            json!({ "required_values": ["> 5"], "must_include": [], "must_exclude": [] }),
            "7",
            Ok(1.0),
        );
        let wrong = Err(WRONG_ARGUMENT);
        check(json!({ "required_values": ["> 5"], "must_exclude": ["x"] }), "7", wrong.clone());
        check(json!({ "required_values": ["> 5"], "exact_match": "x" }), "seven", wrong.clone());
        check(json!({ "required_values": ["> 5"], "fuzzy_match": "N/A" }), "7", wrong);
        check(json!({ "required_values": ["> 5"], "one_of": ["7"] }), "7", Err(BAD_TYPE));
    }

    #[test]
    fn wrong_types_raise() {
        for (references, class) in [
            (json!({ "must_include": [5] }), "AttributeError"),
            (json!({ "must_exclude": [5] }), "BeartypeCallHintParamViolation"),
            (json!({ "one_of": [5] }), "BeartypeCallHintParamViolation"),
            (json!({ "one_of": { "x": 1 } }), "AssertionError"),
            (json!({ "required_values": "> 5" }), "AssertionError"),
            (json!({ "required_values": [5] }), "AttributeError"),
        ] {
            check(references, "7", Err(ScoreError::Raised(class)));
        }
        check(json!({ "one_of": ["7", 5] }), "7", Ok(1.0));
    }
}
