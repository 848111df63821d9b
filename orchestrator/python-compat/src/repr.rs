//! `str(value)` and `repr(value)`.

use python_repr::write_repr;

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
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Value::None => out.push_str("None"),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Int(digits) => out.push_str(digits),
            Value::Float(number) => out.push_str(&float::repr(*number)),
            Value::Str(text) => write_repr(text, out),
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
                    write_repr(key, out);
                    out.push_str(": ");
                    value.write(out);
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
        item.write(out);
    }
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
