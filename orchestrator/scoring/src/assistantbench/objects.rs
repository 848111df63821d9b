//! JSON objects: F1 over keys, lists of objects aligned (`evaluate_dicts`).

use std::borrow::Cow;

use python_compat::{Dict, Value};

use super::super::ScoreError;
use super::{ATTRIBUTE_ERROR, KEY_ERROR, VALUE_ERROR, align, number, strings};

/// `evaluate_dicts` on a list of predicted values; only the first is asked whether it is an object.
pub(super) fn evaluate(prediction: &Value, gold: &[Value]) -> Result<f64, ScoreError> {
    let Value::List(predicted) = prediction else { return Ok(0.0) };
    if !matches!(predicted.first(), None | Some(Value::Dict(_))) {
        return Ok(0.0);
    }
    let mut scores = Vec::with_capacity(gold.len());
    for gold in gold {
        let row: Result<Vec<f64>, ScoreError> =
            predicted.iter().map(|predicted| pair(predicted, gold)).collect();
        scores.push(row?);
    }
    if scores.iter().flatten().any(|score| !score.is_finite()) {
        // The assignment refuses a matrix with such entries.
        return Err(VALUE_ERROR);
    }
    Ok(align::mean_aligned(&scores, predicted.len()))
}

fn pair(predicted: &Value, gold: &Value) -> Result<f64, ScoreError> {
    let recall = mean_over_keys(predicted, gold, true)?;
    let precision = mean_over_keys(gold, predicted, false)?;
    if precision + recall == 0.0 {
        Ok(0.0)
    } else {
        Ok(2.0 * (precision * recall) / (precision + recall))
    }
}

/// `calc_recall`: the mean score over the keys of `expected`, NaN when it has none. For precision
/// the benchmark swaps the roles, so that there the prediction stands where gold belongs.
fn mean_over_keys(
    given: &Value,
    expected: &Value,
    type_of_expected: bool,
) -> Result<f64, ScoreError> {
    let Value::Dict(expected) = expected else { return Err(ATTRIBUTE_ERROR) };
    let mut total = 0.0;
    let mut keys = 0;
    for (key, value) in expected.iter() {
        let Value::Dict(given) = given else { return Err(ATTRIBUTE_ERROR) };
        total += key_score(given, key, value, type_of_expected)?;
        keys += 1;
    }
    Ok(total / f64::from(keys))
}

fn key_score(
    given: &Dict,
    key: &str,
    expected: &Value,
    type_of_expected: bool,
) -> Result<f64, ScoreError> {
    let expected = fix(expected)?;
    let Some(given) = given.get(key) else { return Ok(0.0) };
    let given = fix(given)?;
    if matches!(
        *if type_of_expected { &expected } else { &given }.as_ref(),
        Value::Dict(_) | Value::None
    ) {
        // No evaluator is known for the type.
        return Err(KEY_ERROR);
    }
    Ok(match (given.as_ref(), expected.as_ref()) {
        (Value::Float(given), Value::Float(expected)) => number::closeness(*given, *expected),
        (Value::Str(_), Value::Str(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::List(_), Value::List(_)) => strings::evaluate(&given, &expected),
        _ => 0.0,
    })
}

fn fix(value: &Value) -> Result<Cow<'_, Value>, ScoreError> {
    let number = number::fix(value, false)?;
    Ok(number.map_or(Cow::Borrowed(value), |number| Cow::Owned(Value::Float(number))))
}
