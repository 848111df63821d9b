//! A writer of YAML that every reader understands in the same way.
//!
//! YAML 1.1, which PyYAML and Ruby read, gives plain words other meanings than YAML 1.2 does:
//!
//! - `yes`, `on` and `y` are booleans;
//! - `12:30:45` is a number to the base of 60, and `1_000` and `0o17` are numbers;
//! - `2024-02-16` is a date;
//! - `1e-9` is a string.
//!
//! So this writer quotes every string that does not begin with a letter or is one of those words.

use std::fmt::Write as _;

use serde::Serialize;
use serde::ser::Error as _;
use serde_yaml::{Error, Mapping, Number, Value};

/// Words that YAML 1.1 or 1.2 does not read as strings, in any case.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
/// Maximum length of a key without an explicit `?` mark.
const KEY_LIMIT: usize = 1_000;

/// Writes a value as a YAML document.
///
/// # Errors
/// When the value has no YAML form, or contains tags.
pub fn to_string<T: Serialize>(value: &T) -> Result<String, Error> {
    let mut out = String::new();
    block(&mut out, &serde_yaml::to_value(value)?, 0)?;
    Ok(out)
}

/// Writes a value on lines of its own. The first line is already indented.
fn block(out: &mut String, value: &Value, indent: usize) -> Result<(), Error> {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => mapping(out, entries, indent),
        Value::Sequence(items) if !items.is_empty() => sequence(out, items, indent),
        value => {
            scalar(out, value, indent)?;
            out.push('\n');
            Ok(())
        }
    }
}

fn mapping(out: &mut String, entries: &Mapping, indent: usize) -> Result<(), Error> {
    for (place, (key, value)) in entries.iter().enumerate() {
        margin(out, place, indent);
        let mut name = String::new();
        match key {
            Value::String(text) => line(&mut name, text),
            key => scalar(&mut name, key, indent)?,
        }
        if name.chars().count() > KEY_LIMIT {
            let _ = write!(out, "? {name}\n{:indent$}", "");
        } else {
            out.push_str(&name);
        }
        out.push(':');
        match value {
            Value::Mapping(inner) if !inner.is_empty() => {
                let _ = write!(out, "\n{:1$}", "", indent + 2);
                mapping(out, inner, indent + 2)?;
            }
            // A list has the same indent as its key.
            Value::Sequence(items) if !items.is_empty() => {
                let _ = write!(out, "\n{:indent$}", "");
                sequence(out, items, indent)?;
            }
            value => {
                out.push(' ');
                scalar(out, value, indent + 2)?;
                out.push('\n');
            }
        }
    }
    Ok(())
}

fn sequence(out: &mut String, items: &[Value], indent: usize) -> Result<(), Error> {
    for (place, item) in items.iter().enumerate() {
        margin(out, place, indent);
        out.push_str("- ");
        block(out, item, indent + 2)?;
    }
    Ok(())
}

/// Indents every line but the first, which is already indented.
fn margin(out: &mut String, place: usize, indent: usize) {
    if place > 0 {
        let _ = write!(out, "{:indent$}", "");
    }
}

/// Writes a value on the current line, except for a string of several lines.
fn scalar(out: &mut String, value: &Value, indent: usize) -> Result<(), Error> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&spelt(number)),
        Value::String(text) if is_literal(text) => literal(out, text, indent),
        Value::String(text) => line(out, text),
        Value::Sequence(_) => out.push_str("[]"),
        Value::Mapping(_) => out.push_str("{}"),
        Value::Tagged(tagged) => return Err(Error::custom(format!("{} is a tag", tagged.tag))),
    }
    Ok(())
}

/// Adds a point and a sign to an exponent. Without them it is a string in YAML 1.1.
fn spelt(number: &Number) -> String {
    let text = number.to_string();
    let Some((digits, power)) = text.split_once('e').filter(|_| number.is_f64()) else {
        return text;
    };
    let point = if digits.contains('.') { "" } else { ".0" };
    let sign = if power.starts_with('-') { "" } else { "+" };
    format!("{digits}{point}e{sign}{power}")
}

/// Whether a string can be a literal block (`|`).
fn is_literal(text: &str) -> bool {
    let first = text.lines().find(|line| !line.is_empty()).unwrap_or(" ");
    text.contains('\n')
        && !first.starts_with(' ')
        && text.chars().all(|c| c == '\n' || is_printable(c))
}

fn literal(out: &mut String, text: &str, indent: usize) {
    let body = text.trim_end_matches('\n');
    // The number of line breaks at the end.
    let ends = text.len() - body.len();
    out.push_str(match ends {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    let blank = std::iter::repeat_n("", ends.saturating_sub(1));
    for line in body.split('\n').chain(blank) {
        out.push('\n');
        if !line.is_empty() {
            let _ = write!(out, "{:indent$}{line}", "", indent = indent.max(2));
        }
    }
}

/// Writes a string on one line: plain, in single quotes, or with escapes.
fn line(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else if text.chars().all(is_printable) {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
    } else {
        escaped(out, text);
    }
}

fn is_plain(text: &str) -> bool {
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    let begins_well = text.starts_with(|c: char| c.is_alphabetic() || c == '/' || c == '_');
    let ends_well = !text.ends_with([':', ' ']);
    let unbroken = !text.contains(": ") && !text.contains(" #");
    begins_well && ends_well && unbroken && !is_word && text.chars().all(is_printable)
}

fn escaped(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) > 0xffff => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
        }
    }
    out.push('"');
}

/// Whether a character needs no escape: it is neither a line break nor a byte-order mark.
fn is_printable(c: char) -> bool {
    let breaks = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    !breaks
        && matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(value: &Value) {
        let text = to_string(value).expect("it has no tags");
        assert_eq!(&serde_yaml::from_str::<Value>(&text).expect("our own YAML"), value, "{text}");
    }

    #[test]
    fn what_other_readers_take_for_something_else_is_quoted() {
        let texts = [
            "yes",
            "No",
            "ON",
            "off",
            "y",
            "N",
            "true",
            "null",
            "~",
            "12:30:45",
            "0o17",
            "0b1",
            "1_000",
            "1e3",
            ".5",
            ".inf",
            "2024-02-16",
            "2024-02-16T09:00:00Z",
            "=",
            "<<",
            "",
            " x",
            "x ",
            "x:",
            "x: y",
            "x #y",
            "-",
            "#x",
            "&x",
            "*x",
            "!x",
            "%x",
            "@x",
            "[x",
            "{x",
            "|",
            ">",
            "'x'",
            "\"x\"",
            "?",
        ];
        for text in texts {
            let value = Value::from(text);
            let written = to_string(&value).expect("a text");
            assert_eq!(written, format!("'{}'\n", text.replace('\'', "''")));
            check(&value);
        }
        for text in ["oak", "https://a.test/?q=1#x", "Who said \"yes\", and [when]?", "/a b", "été"]
        {
            assert_eq!(to_string(&Value::from(text)).expect("a text"), format!("{text}\n"));
        }
        for (number, expect) in [(1e-9, "1.0e-9"), (2.5e20, "2.5e+20"), (0.5, "0.5")] {
            assert_eq!(to_string(&number).expect("a number").trim_end(), expect);
            check(&Value::from(number));
        }
    }

    #[test]
    fn lists_and_lines_are_laid_out() {
        let yaml = "a:\n- b: |-\n    one\n\n    two\n  'yes': []\n- - c\n  - d: {}\n    e: \"\\u0085\"\nf:\n  g: |+\n    x\n\n\n  h: 1\n";
        let value: Value = serde_yaml::from_str(yaml).expect("YAML");
        assert_eq!(to_string(&value).expect("it has no tags"), yaml);
        check(&value);
    }

    fn values() -> impl Strategy<Value = Value> {
        let text =
            prop_oneof!["[ a-z:#'\"\n\t-]{0,12}", any::<String>(), "(yes|no|on|1_0|0x1f|1:2)"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop::num::f64::NORMAL.prop_map(Value::from),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((text.clone(), inner), 0..4).prop_map(|entries| {
                    let entries = entries.into_iter().map(|(key, value)| (Value::from(key), value));
                    Value::Mapping(entries.collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(value in values()) {
            check(&value);
        }
    }
}
