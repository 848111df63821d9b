//! `str(value)` and `repr(value)`.

use std::fmt::Write;

use super::{Value, float};

impl Value {
    /// `str(value)`: text stays as it is, everything else is spelt as in source code.
    pub fn to_text(&self) -> String {
        match self {
            Value::Str(text) => text.clone(),
            other => other.to_repr(),
        }
    }

    /// `repr(value)`.
    pub fn to_repr(&self) -> String {
        let mut out = String::new();
        self.write_repr(&mut out);
        out
    }

    fn write_repr(&self, out: &mut String) {
        match self {
            Value::None => out.push_str("None"),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Int(digits) => out.push_str(digits),
            Value::Float(number) => out.push_str(&float::repr(*number)),
            Value::Str(text) => write_text(text, out),
            Value::List(items) => {
                out.push('[');
                write_items(items, out);
                out.push(']');
            }
            Value::Tuple(items) => {
                out.push('(');
                write_items(items, out);
                out.push_str(if items.len() == 1 { ",)" } else { ")" });
            }
            Value::Dict(dict) => {
                out.push('{');
                for (at, (key, value)) in dict.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    write_text(key, out);
                    out.push_str(": ");
                    value.write_repr(out);
                }
                out.push('}');
            }
        }
    }
}

fn write_items(items: &[Value], out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        item.write_repr(out);
    }
}

/// `repr(text)` of a text.
pub fn repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(text, &mut out);
    out
}

/// Single quotes, unless the text has some and no double ones.
fn write_text(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => write_code(u32::from(c), out),
        }
    }
    out.push(quote);
}

fn write_code(code: u32, out: &mut String) {
    // Writing to a String does not fail.
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// `c.isprintable()`. Rust's debug form of text goes by the same categories; combining marks it
/// escapes only in front.
fn is_printable(c: char) -> bool {
    let shown: String = ['x', c].iter().collect();
    matches!(c, '\'' | '"') || !shown.escape_debug().any(|escaped| escaped == '\\')
}

#[cfg(test)]
mod tests {
    use crate::json;

    #[test]
    fn spells_values_as_python_does() {
        for (input, expect) in [
            (r#"{"a": [1, 2.50, true, null], "b": {}}"#, "{'a': [1, 2.5, True, None], 'b': {}}"),
            (r#"["it's", "\"", "'\""]"#, r#"["it's", '"', '\'"']"#),
            (r#"["a\\b\n\u200b\u00a0\u0001é\ud83d\ude00"]"#, r#"['a\\b\n\u200b\xa0\x01é😀']"#),
            (r#"["e\u0301", "\udb40\udc01"]"#, "['e\u{301}', '\\U000e0001']"),
            (r#"{"x": 1, "y": 2, "x": 1e-7}"#, "{'x': 1e-07, 'y': 2}"),
        ] {
            let value = json::parse(input).expect(input);
            assert_eq!(value.to_text(), expect);
        }
    }
}
