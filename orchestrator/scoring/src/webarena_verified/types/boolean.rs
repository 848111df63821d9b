//! `Boolean`.

use python_compat::Value;

use super::Normal;
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::{is_number, is_truthy};

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    let truth = match value {
        value if is_number(value) => Some(is_truthy(value)),
        Value::Str(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "y" | "1" | "t" | "on" => Some(true),
            "false" | "no" | "n" | "0" | "f" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    };
    truth.map(Normal::Truth).ok_or(PythonException::new("Cannot normalize to boolean"))
}
