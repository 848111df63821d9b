//! `HTMLContentExactEvaluator`, once a locator has given its value: that value against a target's
//! `required_contents`.

use python_compat::int::Int;
use serde_json::{Map, Value};

use super::super::ScoreError;
use super::super::judge::{PartialScore, Question};
use super::super::webarena::{
    BAD_VALUE, NO_LIST, OR, WRONG_ARGUMENT, alternatives, argument, items, without_quotes,
};
use super::required_values::{self, Number};
use super::string_match::includes;

/// Scores what a locator gave: 0 or 1 as far as no judge is needed. Of the keys the first of these
/// counts.
///
/// - `exact_match`: a text that it has to be;
/// - `must_include`: texts that have to be in it, as words if they are one word, each with
///   alternatives;
/// - `must_exclude`: texts that must not be;
/// - `required_values`: inequalities that it has to satisfy, each with alternatives;
/// - `fuzzy_match`: texts of which a judge has to say that each means the same.
///
/// # Errors
/// Where the published code raises an exception.
pub(super) fn score(
    required: &Map<String, Value>,
    content: &Value,
) -> Result<PartialScore, ScoreError> {
    let mut score = PartialScore::new();
    if let Some(references) =
        required.get("fuzzy_match").filter(|_| asks_a_judge(required, content))
    {
        let references = references.as_str().ok_or(NO_LIST)?;
        let answer = argument(content)?;
        // Alternatives are all asked about, and all have to be right.
        let question = |reference: &str| Question::SameMeaning {
            reference: reference.to_owned(),
            answer: answer.to_owned(),
        };
        score.questions.extend(references.split(OR).map(question));
    } else {
        score.rule(is_met(required, content)?);
    }
    Ok(score)
}

/// No rule goes before a judge's.
fn asks_a_judge(required: &Map<String, Value>, content: &Value) -> bool {
    const RULES: [&str; 4] = ["exact_match", "must_include", "must_exclude", "required_values"];
    !content.is_null() && !RULES.iter().any(|rule| required.contains_key(*rule))
}

fn is_met(required: &Map<String, Value>, content: &Value) -> Result<bool, ScoreError> {
    if content.is_null() {
        return Ok(false);
    }
    if let Some(reference) = required.get("exact_match") {
        let content = match content {
            Value::Number(number) if number.is_f64() => return Err(WRONG_ARGUMENT),
            Value::Number(number) => number.to_string(),
            Value::Bool(truth) => if *truth { "True" } else { "False" }.to_owned(),
            content => argument(content)?.to_owned(),
        };
        return Ok(without_quotes(&content) == without_quotes(argument(reference)?));
    }
    if let Some(references) = required.get("must_include") {
        let mut good = true;
        for reference in items(references)? {
            let mut found = false;
            for reference in alternatives(reference)? {
                found |= includes(argument(content)?, reference);
            }
            good &= found;
        }
        return Ok(good);
    }
    if let Some(references) = required.get("must_exclude") {
        let mut good = true;
        for reference in items(references)? {
            let reference = argument(reference)?;
            // The published code asserts that there are no alternatives here.
            if reference.contains(OR) {
                return Err(NO_LIST);
            }
            good &= !includes(argument(content)?, reference);
        }
        return Ok(good);
    }
    let inequalities = items(required.get("required_values").ok_or(BAD_VALUE)?)?;
    match number(content)? {
        Some(number) => required_values::satisfied(&number, inequalities),
        None => Ok(false),
    }
}

/// Reads a number: texts as whole numbers, numbers as they are.
fn number(content: &Value) -> Result<Option<Number>, ScoreError> {
    match content {
        Value::String(text) => Ok(required_values::parse(text).map(Number::Int)),
        Value::Bool(truth) => Ok(Int::parse(if *truth { "1" } else { "0" }).map(Number::Int)),
        Value::Number(number) if number.is_f64() => Ok(number.as_f64().map(Number::Float)),
        Value::Number(number) => Ok(Int::parse(&number.to_string()).map(Number::Int)),
        _ => Err(WRONG_ARGUMENT),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::mode::ScoringMode;
    use super::*;

    fn check(required: Value, content: Value, expect: Result<f64, ScoreError>) {
        let Value::Object(criteria) = &required else { panic!("{required} is no object") };
        let given =
            score(criteria, &content).and_then(|score| score.score(&[], ScoringMode::Faithful));
        assert_eq!(given, expect, "{required} of {content}");
    }

    #[test]
    fn texts_are_compared_as_answers_are() {
        check(json!({ "exact_match": "Oak" }), json!("'oak'"), Ok(1.0));
        check(json!({ "exact_match": "oak" }), json!(" oak"), Ok(0.0));
        check(json!({ "exact_match": "oak & elm" }), json!("oak &amp; elm"), Ok(0.0));
        check(json!({ "exact_match": "3" }), json!(3), Ok(1.0));
        check(json!({ "exact_match": "3.5" }), json!(3.5), Err(WRONG_ARGUMENT));
        check(
            json!({ "must_include": ["oak |OR| elm", "red"] }),
            json!("red elms, one oak"),
            Ok(1.0),
        );
        check(json!({ "must_include": ["oak |OR| elm"] }), json!("oaken elms"), Ok(0.0));
        check(json!({ "must_include": ["oak"], "exact_match": "x" }), json!("oak"), Ok(0.0));
        check(json!({ "must_exclude": ["oak"] }), json!("oaken"), Ok(1.0));
        check(json!({ "must_exclude": ["a |OR| b"] }), json!("x"), Err(NO_LIST));
        check(json!({ "must_include": ["3"] }), json!(3), Err(WRONG_ARGUMENT));
        check(json!({ "must_include": [] }), json!(3), Ok(1.0));
    }

    #[test]
    fn numbers_satisfy_inequalities() {
        check(json!({ "required_values": ["> 5", "<= 9 |OR| == 12"] }), json!("1,2"), Ok(1.0));
        check(json!({ "required_values": ["< 70"] }), json!(69.99), Ok(1.0));
        check(json!({ "required_values": ["< 70"] }), json!(70.01), Ok(0.0));
        check(json!({ "required_values": ["== 0"] }), json!(0), Ok(1.0));
        check(json!({ "required_values": ["== 0"] }), json!("none"), Ok(0.0));
        check(json!({ "required_values": ["== 0"] }), json!([]), Err(WRONG_ARGUMENT));
        check(json!({ "required_values": [] }), json!(1), Ok(1.0));
    }

    #[test]
    fn nothing_at_all_earns_nothing_and_a_judge_is_asked_last() {
        check(json!({ "must_exclude": ["x"] }), Value::Null, Ok(0.0));
        check(json!({ "fuzzy_match": "x |OR| y" }), json!("z"), Err(ScoreError::NeedsJudge));
        check(json!({ "fuzzy_match": ["x"] }), json!("z"), Err(NO_LIST));
        check(json!({ "one_of": ["x"] }), json!("z"), Err(BAD_VALUE));
    }
}
