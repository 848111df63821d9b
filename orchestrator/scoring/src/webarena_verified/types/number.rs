//! `Number`: digits with commas, or words.

use python_compat::{Value, float};

use super::{Normal, numbers_in_words};
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::{is_number, is_truthy};

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    if !is_truthy(value) && !is_number(value) {
        return Err(PythonException::new("Number value is empty or None"));
    }
    let number = match value {
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::Float(number) => Some(*number),
        Value::Int(digits) => {
            let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
            return number
                .map(Normal::Float)
                .ok_or(PythonException::new("int too large to convert to float"));
        }
        other => {
            let text = other.to_text();
            float::parse(&text.replace([',', ' '], "")).or_else(|| numbers_in_words::parse(&text))
        }
    };
    number
        .map(Normal::Float)
        .ok_or_else(|| PythonException(format!("Unable to parse number: {}", value.to_text())))
}
