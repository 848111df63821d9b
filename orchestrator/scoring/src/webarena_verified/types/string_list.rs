//! `StringList`: texts between commas, in any order.

use python_compat::Value;
use python_compat::text::strip;

use super::Normal;
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::is_truthy;

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    if !is_truthy(value) {
        return Err(PythonException::new("StringList value is empty or None"));
    }
    let text = value.to_text();
    let mut items: Vec<String> =
        text.split(',').map(strip).filter(|item| !item.is_empty()).map(str::to_owned).collect();
    if items.is_empty() {
        return Err(PythonException(format!("No valid items in StringList: {}", value.to_repr())));
    }
    items.sort_unstable();
    Ok(Normal::Texts(items))
}
