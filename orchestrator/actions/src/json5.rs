//! JSON as models write it: comments, single quotes, unquoted names, trailing commas, line breaks
//! in strings.
//!
//! It is the part of JSON5 that agents were seen to use. Numbers are JSON's.

use serde_json::{Map, Value};

/// The maximum nesting depth.
const DEPTH: usize = 16;

/// Parses an object with nothing behind it.
pub(super) fn object(text: &str) -> Option<Map<String, Value>> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0 };
    let value = reader.value(0)?;
    reader.blanks();
    match value {
        Value::Object(map) if reader.at == reader.chars.len() => Some(map),
        _ => None,
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found =
            expected.chars().enumerate().all(|(n, c)| self.chars.get(self.at + n) == Some(&c));
        if found {
            self.at += expected.chars().count();
        }
        found
    }

    fn blanks(&mut self) {
        loop {
            if self.eat("//") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            } else if self.eat("/*") {
                while self.at < self.chars.len() && !self.eat("*/") {
                    self.at += 1;
                }
            } else if self.peek().is_some_and(char::is_whitespace) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '+' | '.'))
        {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.blanks();
        match self.peek()? {
            '"' | '\'' => Some(Value::String(self.text()?)),
            '{' if depth < DEPTH => {
                self.at += 1;
                let mut map = Map::new();
                self.items('}', |reader| {
                    let name = match reader.peek()? {
                        '"' | '\'' => reader.text()?,
                        _ => reader.word(),
                    };
                    reader.blanks();
                    if name.is_empty() || !reader.eat(":") {
                        return None;
                    }
                    let value = reader.value(depth + 1)?;
                    map.insert(name, value);
                    Some(())
                })?;
                Some(Value::Object(map))
            }
            '[' if depth < DEPTH => {
                self.at += 1;
                let mut items = Vec::new();
                self.items(']', |reader| {
                    items.push(reader.value(depth + 1)?);
                    Some(())
                })?;
                Some(Value::Array(items))
            }
            _ => serde_json::from_str(&self.word()).ok(),
        }
    }

    /// Comma-separated items, up to a closing bracket.
    fn items(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        loop {
            self.blanks();
            if self.peek()? == close {
                self.at += 1;
                return Some(());
            }
            item(self)?;
            self.blanks();
            if !self.eat(",") && self.peek()? != close {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.next()?;
        let mut out = String::new();
        loop {
            match self.next()? {
                '\\' => match self.next()? {
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    'b' => out.push('\u{8}'),
                    'f' => out.push('\u{c}'),
                    'v' => out.push('\u{b}'),
                    'u' => out.push(self.escaped()?),
                    '\n' => {}
                    other => out.push(other),
                },
                c if c == quote => return Some(out),
                c => out.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let first = self.code()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        let second = if self.eat("\\u") { self.code()? } else { return None };
        char::decode_utf16([u16::try_from(first).ok()?, u16::try_from(second).ok()?]).next()?.ok()
    }

    fn code(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |code, _| Some(code * 16 + self.next()?.to_digit(16)?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_is_read() {
        for (text, expected) in [
            (r#"{"a": "b", "c": null}"#, json!({ "a": "b", "c": null })),
            (
                "{a: 'it\\'s', /* why */ 'b': -1.5, // x\n c: [true, {}],}",
                json!({ "a": "it's", "b": -1.5, "c": [true, {}] }),
            ),
            (
                "{\"a\": \"two\nlines\", \"b\": \"\\ud83d\\ude00\\u0041\"}",
                json!({ "a": "two\nlines", "b": "😀A" }),
            ),
        ] {
            assert_eq!(object(text).map(Value::Object), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_is_none() {
        let deep = "[".repeat(100);
        for text in [
            "",
            "{",
            "{a}",
            "{a:}",
            "{a:1 b:2}",
            "[1]",
            "{} {}",
            "{'a': '",
            "{a: \"\\ud83d\"}",
            "{a: /*",
            &*deep,
        ] {
            assert_eq!(object(text), None, "{text}");
        }
    }
}
