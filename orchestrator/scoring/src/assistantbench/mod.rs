//! AssistantBench's `question_scorer`, as in BrowserGym's
//! `browsergym/assistantbench/.../evaluation/evaluator.py`.
//!
//! The gold answer's form decides the rule: a number, JSON objects (one a line), a text, or a list
//! of texts (one a line). A prediction that is JSON changes its type before it is compared, with
//! the surprises that brings.

mod align;
mod fixed;
mod number;
mod objects;
mod rule;
mod strings;

use std::borrow::Cow;

pub use fixed::question_scorer_fixed;
use python_compat::{Value, json, text};
pub use rule::GoldAnswer;

use super::ScoreError;

const TYPE_ERROR: ScoreError = ScoreError::Raised("TypeError");
const VALUE_ERROR: ScoreError = ScoreError::Raised("ValueError");
const KEY_ERROR: ScoreError = ScoreError::Raised("KeyError");
const ATTRIBUTE_ERROR: ScoreError = ScoreError::Raised("AttributeError");
const OVERFLOW_ERROR: ScoreError = ScoreError::Raised("OverflowError");

/// The result of the published `question_scorer`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answered {
    /// The benchmark's accuracy; two negative numbers may give more than 1.
    pub accuracy: f64,
    /// The benchmark counts the prediction as an answer.
    pub has_answer: bool,
}

/// The gold answer and with it the rule.
enum Gold {
    Number(f64),
    Json(Vec<Value>),
    /// A text, or a list of them.
    Text(Value),
}

/// Scores a prediction, exactly as the agent sent it, against a gold answer.
///
/// # Errors
/// Where the published code raises an exception or gives no finite number.
pub fn question_scorer(prediction: &str, gold: &str) -> Result<Answered, ScoreError> {
    let gold = parse_gold(gold);
    let prediction = json::parse(prediction).unwrap_or_else(|| Value::Str(prediction.to_owned()));
    let (prediction, comparable) = fix_prediction(prediction, &gold)?;
    let has_answer = has_answer(&prediction)?;
    if !comparable {
        return Ok(Answered { accuracy: 0.0, has_answer });
    }
    let accuracy = match &gold {
        Gold::Number(gold) => number::evaluate_value(&prediction, *gold)?,
        Gold::Json(gold) => objects::evaluate(&prediction, gold)?,
        Gold::Text(gold) => strings::evaluate(&prediction, gold),
    };
    if accuracy.is_finite() {
        Ok(Answered { accuracy, has_answer })
    } else {
        Err(ScoreError::NotFinite)
    }
}

fn parse_gold(gold: &str) -> Gold {
    let lines: Vec<&str> = gold.split('\n').filter(|line| !text::strip(line).is_empty()).collect();
    let text = |line: &str| Value::Str(line.to_owned());
    if let [line] = lines[..] {
        if let Some(number) = number::parse(line, true) {
            return Gold::Number(number);
        }
        return match json::parse(&repair_quotes(line)) {
            Some(value) => Gold::Json(vec![value]),
            None => Gold::Text(text(line)),
        };
    }
    match lines.iter().map(|line| json::parse(&repair_quotes(line))).collect() {
        Some(values) => Gold::Json(values),
        None => Gold::Text(Value::List(lines.into_iter().map(text).collect())),
    }
}

/// Python's spelling of an object becomes JSON, as far as the benchmark's replacements go.
fn repair_quotes(gold: &str) -> Cow<'_, str> {
    if !gold.contains('\'') {
        return gold.into();
    }
    let repaired = gold
        .replace("{'", "{\"")
        .replace("', '", "\", \"")
        .replace("': '", "\": \"")
        .replace("'}", "\"}")
        .replace("': ", "\": ");
    repaired.into()
}

/// Gives the prediction the form that the rule expects, and says whether the rule is to be run at
/// all.
fn fix_prediction(prediction: Value, gold: &Gold) -> Result<(Value, bool), ScoreError> {
    let prediction = match unwrap_single_number(prediction)? {
        list @ Value::List(_) => list,
        // A tuple is what unwrapping leaves behind; the benchmark goes on with it as it is.
        other => {
            let other = match number::fix(&other, true)? {
                Some(number) => Value::Float(number),
                None => other,
            };
            if matches!(gold, Gold::Json(_)) { Value::List(split_lines(other)) } else { other }
        }
    };
    let too_many = matches!(&prediction, Value::List(items) if items.len() > 1)
        && matches!(gold, Gold::Number(_));
    let comparable = prediction.is_empty() != Some(true) && !too_many;
    Ok((prediction, comparable))
}

/// `[5]` and `["5"]` become what `fix_number` returns, which is a pair: the number and whether it
/// is one.
fn unwrap_single_number(prediction: Value) -> Result<Value, ScoreError> {
    let Value::List(items) = &prediction else { return Ok(prediction) };
    let [item] = items.as_slice() else { return Ok(prediction) };
    let looks_numeric = match item {
        Value::Int(_) => true,
        Value::Str(digits) => text::is_numeric(digits),
        _ => false,
    };
    if !looks_numeric {
        return Ok(prediction);
    }
    Ok(Value::Tuple(match number::fix(item, true)? {
        Some(number) => vec![Value::Float(number), Value::Bool(true)],
        None => vec![item.clone(), Value::Bool(false)],
    }))
}

/// JSON, one value a line, or else the prediction as a whole.
fn split_lines(prediction: Value) -> Vec<Value> {
    let Value::Str(lines) = &prediction else { return vec![prediction] };
    lines.split('\n').map(json::parse).collect::<Option<_>>().unwrap_or_else(|| vec![prediction])
}

fn has_answer(prediction: &Value) -> Result<bool, ScoreError> {
    let is_float = matches!(prediction, Value::Float(_));
    let empty = !is_float && prediction.is_empty().ok_or(TYPE_ERROR)?;
    let mut answered = !empty && !is_nan(prediction);
    if let Value::List(items) = prediction {
        let mut all_blank = true;
        for item in items {
            let is_number = matches!(item, Value::Float(_) | Value::Int(_));
            let blank = !is_number && item.is_empty().ok_or(TYPE_ERROR)?;
            if !blank && !is_nan(item) {
                all_blank = false;
                break;
            }
        }
        answered &= !all_blank;
    }
    Ok(answered)
}

/// `numpy.isnan` in a condition: true for NaN alone, also when it is the only thing in a list.
fn is_nan(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_nan(),
        Value::List(items) if items.len() == 1 => is_nan(&items[0]),
        _ => false,
    }
}
