//! Numbers: `fix_number` and `evaluate_numbers`.

use python_compat::{Value, float, text};

use super::super::ScoreError;
use super::{OVERFLOW_ERROR, TYPE_ERROR};

/// `fix_number` on text: signs and units that the benchmark drops become spaces, and every comma a
/// decimal point. Areas lose their unit only at the top level of an answer.
pub(super) fn parse(number: &str, drop_area: bool) -> Option<f64> {
    let start = number.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '$' | '%'));
    // What may go from the front begins with an s, and a comma is a point.
    if float::begins_otherwise(start) && !start.starts_with(['s', ',']) {
        return None;
    }
    let spaced = text::replace(text::replace(number.into(), "$", " "), "%", " ");
    let spaced = text::replace(spaced, "sqft", " ");
    let pointed = text::replace(text::strip(&spaced).into(), ",", ".");
    let bare = if drop_area { text::replace(pointed, " square kilometers", "") } else { pointed };
    float::parse(&bare)
}

/// `fix_number`: the number that a value becomes; nothing where the value stays what it is.
pub(super) fn fix(value: &Value, drop_area: bool) -> Result<Option<f64>, ScoreError> {
    match value {
        Value::Str(number) => Ok(parse(number, drop_area)),
        Value::Int(digits) => match digits.parse() {
            Ok(number) if f64::is_finite(number) => Ok(Some(number)),
            _ => Err(OVERFLOW_ERROR),
        },
        _ => Ok(None),
    }
}

/// `evaluate_numbers` on a prediction of any type.
pub(super) fn evaluate_value(prediction: &Value, gold: f64) -> Result<f64, ScoreError> {
    match prediction {
        Value::Float(number) => Ok(closeness(*number, gold)),
        Value::Str(number) => {
            Ok(float::parse(number).map_or(0.0, |number| closeness(number, gold)))
        }
        _ => Err(TYPE_ERROR),
    }
}

/// `distance_function_log`: 1 less the logarithm of the ratio, which for two negative numbers adds
/// instead.
pub(super) fn closeness(prediction: f64, gold: f64) -> f64 {
    if prediction == 0.0 && gold == 0.0 {
        return 1.0;
    }
    let above_zero = |number: f64| if number == 0.0 { 1e-4 } else { number };
    let (prediction, gold) = (above_zero(prediction), above_zero(gold));
    let ratio = if prediction > gold { prediction / gold } else { gold / prediction };
    let score = 1.0 - ratio.ln();
    // NaN, from a negative ratio too, is not above 0.
    if score > 0.0 { score } else { 0.0 }
}
