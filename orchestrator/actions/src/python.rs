//! The part of Python's notation in which actions and observations are written: literals, and calls
//! with literal arguments.

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Number(f64),
    Bool(bool),
    None,
    List(Vec<Literal>),
}

/// A call: its name, its positional arguments, and its keyword arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) positional: Vec<Literal>,
    pub(crate) keywords: Vec<(String, Literal)>,
}

/// Why a text is not a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at character {at}")]
pub struct SyntaxError {
    /// What should be there instead.
    pub expected: &'static str,
    /// Counted from 1.
    pub at: usize,
}

/// The maximum nesting depth of lists.
const DEPTH: usize = 16;

/// Parses exactly one call. Spaces and comments around it are allowed.
pub(crate) fn parse_call(text: &str) -> Result<Call, SyntaxError> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0 };
    reader.blanks();
    let call = reader.call()?;
    reader.blanks();
    if reader.at == reader.chars.len() {
        Ok(call)
    } else {
        Err(reader.expected("the end of the action"))
    }
}

/// Parses every call in a text, and skips everything else, comments included.
pub(crate) fn parse_calls(text: &str) -> Vec<Call> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0 };
    let mut calls = Vec::new();
    loop {
        reader.blanks();
        let start = reader.at;
        if let Ok(call) = reader.call() {
            calls.push(call);
            continue;
        }
        reader.at = start;
        // A word that calls nothing is skipped as a whole: its end might look like another call.
        if reader.word().is_empty() && reader.next().is_none() {
            return calls;
        }
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { expected, at: self.at + 1 }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) {
        while let Some(c) = self.peek() {
            if c == '#' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            } else if c.is_whitespace() {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn call(&mut self) -> Result<Call, SyntaxError> {
        let name = self.word();
        if name.is_empty() {
            return Err(self.expected("the name of an action"));
        }
        self.blanks();
        if !self.eat('(') {
            return Err(self.expected("`(`"));
        }
        let mut call = Call { name, positional: Vec::new(), keywords: Vec::new() };
        loop {
            self.blanks();
            if self.eat(')') {
                return Ok(call);
            }
            match self.keyword() {
                Some(name) => call.keywords.push((name, self.literal(0)?)),
                None if call.keywords.is_empty() => call.positional.push(self.literal(0)?),
                None => return Err(self.expected("a keyword argument")),
            }
            self.blanks();
            if !self.eat(',') && self.peek() != Some(')') {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn keyword(&mut self) -> Option<String> {
        let start = self.at;
        let name = self.word();
        self.blanks();
        if !name.is_empty() && self.eat('=') {
            self.blanks();
            return Some(name);
        }
        self.at = start;
        None
    }

    fn literal(&mut self, depth: usize) -> Result<Literal, SyntaxError> {
        match self.peek() {
            Some('\'' | '"') => Ok(Literal::Text(self.text()?)),
            Some(open @ ('[' | '(')) if depth < DEPTH => {
                self.at += 1;
                let close = if open == '[' { ']' } else { ')' };
                let mut items = Vec::new();
                loop {
                    self.blanks();
                    if self.eat(close) {
                        return Ok(Literal::List(items));
                    }
                    items.push(self.literal(depth + 1)?);
                    self.blanks();
                    if !self.eat(',') && self.peek() != Some(close) {
                        return Err(self.expected("`,` or the end of the list"));
                    }
                }
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => {
                let start = self.at;
                match self.word().as_str() {
                    "True" => Ok(Literal::Bool(true)),
                    "False" => Ok(Literal::Bool(false)),
                    "None" => Ok(Literal::None),
                    _ => {
                        self.at = start;
                        Err(self.expected("a string, a number, a list, True, False or None"))
                    }
                }
            }
        }
    }

    fn number(&mut self) -> Result<Literal, SyntaxError> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E' | '_'))
        {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().filter(|&&c| c != '_').collect();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Literal::Number(number)),
            _ => {
                self.at = start;
                Err(self.expected("a number"))
            }
        }
    }

    fn text(&mut self) -> Result<String, SyntaxError> {
        let Some(quote) = self.next() else { return Err(self.expected("a string")) };
        let triple = self.peek() == Some(quote) && self.chars.get(self.at + 1) == Some(&quote);
        if triple {
            self.at += 2;
        }
        let mut out = String::new();
        loop {
            let Some(c) = self.next() else { return Err(self.expected("the end of the string")) };
            match c {
                '\\' => self.escape(&mut out)?,
                c if c == quote && !triple => return Ok(out),
                c if c == quote
                    && self.peek() == Some(quote)
                    && self.chars.get(self.at + 1) == Some(&quote) =>
                {
                    self.at += 2;
                    return Ok(out);
                }
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), SyntaxError> {
        let Some(c) = self.next() else { return Err(self.expected("the end of the string")) };
        match c {
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            '\\' | '\'' | '"' => out.push(c),
            '\n' => {}
            'x' => out.push(self.code(2)?),
            'u' => out.push(self.code(4)?),
            'U' => out.push(self.code(8)?),
            other => {
                // As in Python: an unknown escape stands for itself.
                out.push('\\');
                out.push(other);
            }
        }
        Ok(())
    }

    fn code(&mut self, digits: usize) -> Result<char, SyntaxError> {
        let mut code = 0u32;
        for _ in 0..digits {
            let digit = self.next().and_then(|c| c.to_digit(16));
            let digit = digit.ok_or_else(|| self.expected("a hexadecimal digit"))?;
            code = code
                .checked_mul(16)
                .map(|code| code | digit)
                .ok_or_else(|| self.expected("a character"))?;
        }
        char::from_u32(code).ok_or_else(|| self.expected("a character"))
    }
}

#[cfg(test)]
mod tests {
    use python_repr::repr;

    use super::*;

    #[test]
    fn calls_are_read_and_bad_ones_say_where() {
        let call = parse_call(" f('a', [1, -2.5], \"b\\u00e9\", key=True) # why\n").unwrap();
        assert_eq!(call.name, "f");
        assert_eq!(
            call.positional[1],
            Literal::List(vec![Literal::Number(1.0), Literal::Number(-2.5)])
        );
        assert_eq!(call.positional[2], Literal::Text("bé".to_owned()));
        assert_eq!(call.keywords, [("key".to_owned(), Literal::Bool(true))]);
        for (text, expected) in [
            ("", "expected the name of an action at character 1"),
            ("f(", "expected a string, a number, a list, True, False or None at character 3"),
            ("f('a", "expected the end of the string at character 5"),
            ("f(1) g(2)", "expected the end of the action at character 6"),
            ("f(k=1, 2)", "expected a keyword argument at character 8"),
        ] {
            assert_eq!(parse_call(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn every_string_survives_the_round_trip() {
        for text in [
            "",
            "'",
            "\"",
            "'\"",
            "\\",
            "\\n",
            "\n",
            "a\u{0}b",
            "\u{1f600}",
            "\u{10ffff}",
            "\u{ad}",
        ] {
            let call = parse_call(&format!("f({})", repr(text))).unwrap();
            assert_eq!(call.positional, [Literal::Text(text.to_owned())]);
        }
    }
}
