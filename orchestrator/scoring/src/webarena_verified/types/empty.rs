//! `Empty`: the many ways to say nothing.

use python_compat::Value;
use python_compat::text::{lower, split, strip};

use super::Normal;
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::{is_number, is_truthy};

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    let nothing = match value {
        Value::Str(text) => {
            let spaced = split(strip(&lower(text))).collect::<Vec<_>>().join(" ");
            let parts: Vec<&str> = spaced.split('/').map(strip).collect();
            matches!(parts.join("/").as_str(), "" | "n/a" | "na" | "nan" | "null" | "none")
        }
        value => !is_truthy(value) && !is_number(value),
    };
    if nothing {
        Ok(Normal::Nothing)
    } else {
        Err(PythonException::new("Value is not an empty representation"))
    }
}
