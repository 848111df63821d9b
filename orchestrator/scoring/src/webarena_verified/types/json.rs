//! `JsonString`: JSON in text, with its keys in order.

use python_compat::{Value, float, json};

use super::Normal;
use crate::webarena_verified::PythonException;

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    let Value::Str(text) = value else {
        return Err(PythonException::new("JsonString only accepts string input."));
    };
    let parsed = json::parse(text)
        .ok_or_else(|| PythonException(format!("Invalid JSON string: {}", value.to_repr())))?;
    let mut out = String::new();
    write(&parsed, &mut out);
    Ok(Normal::Text(out))
}

/// `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::None => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(digits) => out.push_str(digits),
        Value::Float(number) if number.is_nan() => out.push_str("NaN"),
        Value::Float(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { "Infinity" } else { "-Infinity" });
        }
        Value::Float(number) => out.push_str(&float::repr(*number)),
        Value::Str(text) => write_text(text, out),
        Value::List(items) | Value::Tuple(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Dict(dict) => {
            let mut entries: Vec<(&str, &Value)> = dict.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
