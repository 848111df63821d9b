//! `json.loads`, which takes what JSON does not have: `NaN`, `Infinity`, integers of any size.

use super::{Dict, Value};

/// Python gives up on nesting near its recursion limit; so do we, a little earlier.
const DEPTH_LIMIT: usize = 500;
/// Longer integers are refused by Python 3.11.
const INT_DIGITS_LIMIT: usize = 4300;

/// `json.loads(text)`; nothing where it raises. Halves of surrogate pairs, which Rust's text cannot
/// hold, become U+FFFD.
pub fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip_space();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.skip_space();
        match self.rest.bytes().next()? {
            b'{' | b'[' if depth >= DEPTH_LIMIT => None,
            b'{' => self.dict(depth + 1),
            b'[' => self.list(depth + 1),
            b'"' => self.text().map(Value::Str),
            b'n' => self.word("null", Value::None),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'N' => self.word("NaN", Value::Float(f64::NAN)),
            b'I' => self.word("Infinity", Value::Float(f64::INFINITY)),
            _ => self.word("-Infinity", Value::Float(f64::NEG_INFINITY)).or_else(|| self.number()),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.eat(word).then_some(value)
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.eat("[");
        self.skip_space();
        if self.eat("]") {
            return Some(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            if self.eat("]") {
                return Some(Value::List(items));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Value> {
        let mut dict = Dict::default();
        self.eat("{");
        self.skip_space();
        if self.eat("}") {
            return Some(Value::Dict(dict));
        }
        loop {
            self.skip_space();
            let key = self.text()?;
            self.skip_space();
            if !self.eat(":") {
                return None;
            }
            dict.insert(key, self.value(depth)?);
            self.skip_space();
            if self.eat("}") {
                return Some(Value::Dict(dict));
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn digits(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }

    fn number(&mut self) -> Option<Value> {
        let start = self.rest;
        self.eat("-");
        if !self.eat("0") && self.digits().is_empty() {
            return None;
        }
        let whole = start.len() - self.rest.len();
        let fraction = self.optional(|reader| reader.eat(".") && !reader.digits().is_empty());
        let exponent = self.optional(|reader| {
            let marked = reader.eat("e") || reader.eat("E");
            let _sign = reader.eat("-") || reader.eat("+");
            marked && !reader.digits().is_empty()
        });
        if fraction || exponent {
            return start[..start.len() - self.rest.len()].parse().ok().map(Value::Float);
        }
        match &start[..whole] {
            "-0" => Some(Value::Int("0".to_owned())),
            digits if digits.trim_start_matches('-').len() > INT_DIGITS_LIMIT => None,
            digits => Some(Value::Int(digits.to_owned())),
        }
    }

    /// Takes back what `part` has read when it says that it is not there.
    fn optional(&mut self, part: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.rest;
        let there = part(self);
        if !there {
            self.rest = before;
        }
        there
    }

    fn text(&mut self) -> Option<String> {
        if !self.eat("\"") {
            return None;
        }
        let mut text = String::new();
        loop {
            let end = self.rest.find(|c| matches!(c, '"' | '\\' | '\0'..='\x1f'))?;
            let (plain, rest) = self.rest.split_at(end);
            text.push_str(plain);
            self.rest = rest;
            if self.eat("\"") {
                return Some(text);
            }
            if !self.eat("\\") {
                return None;
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let c = rest.next()?;
        self.rest = rest.as_str();
        Some(match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.code()?,
            _ => return None,
        })
    }

    fn code(&mut self) -> Option<char> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) {
            let before = self.rest;
            if self.eat("\\u") {
                let second = self.hex()?;
                if (0xdc00..0xe000).contains(&second) {
                    return char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
                }
                self.rest = before;
            }
        }
        Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits =
            self.rest.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_and_refuses_what_python_does() {
        assert_eq!(
            parse(" [1, -0, 1.5e3] "),
            Some(Value::List(vec![
                Value::Int("1".to_owned()),
                Value::Int("0".to_owned()),
                Value::Float(1500.0),
            ]))
        );
        assert_eq!(parse(r#""\ud83d\ude00\ud800x""#), Some(Value::Str("😀\u{fffd}x".to_owned())));
        assert_eq!(parse("-Infinity"), Some(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(parse("1e400"), Some(Value::Float(f64::INFINITY)));
        for text in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "[1,]",
            "{1: 2}",
            "'a'",
            "\"\t\"",
            "\u{feff}1",
            "[1] x",
            "nan",
            r#""\x""#,
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
        assert_eq!(parse(&"9".repeat(4301)), None);
    }
}
