//! Pieces of selectors: names, strings, spaces, escapes.

/// The rest of a selector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Goes on only if `read` finds something.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut ahead = *self;
        let found = read(&mut ahead);
        if found.is_some() {
            *self = ahead;
        }
        found
    }

    /// One white space character of CSS; `\r\n` is one.
    pub(super) fn space(&mut self) -> bool {
        self.eat("\r\n") || [" ", "\t", "\n", "\u{c}", "\r"].iter().any(|space| self.eat(space))
    }

    pub(super) fn comment(&mut self) -> bool {
        let end = self.rest.strip_prefix("/*").and_then(|text| text.find("*/"));
        if let Some(end) = end {
            self.rest = &self.rest[end + 4..];
        }
        end.is_some()
    }

    pub(super) fn spaces_and_comments(&mut self) {
        while self.space() || self.comment() {}
    }

    pub(super) fn digits(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }

    fn next_char(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    /// A name with its escapes resolved.
    pub(super) fn identifier(&mut self) -> Option<String> {
        self.attempt(|ahead| {
            let mut name = String::new();
            if ahead.eat("--") {
                name.push_str("--");
            } else {
                if ahead.eat("-") {
                    name.push('-');
                }
                name.push(
                    ahead.identifier_char(|c| {
                        c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
                    })?,
                );
            }
            let is_part =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii();
            while let Some(c) = ahead.identifier_char(is_part) {
                name.push(c);
            }
            Some(name)
        })
    }

    fn identifier_char(&mut self, plain: impl Fn(char) -> bool) -> Option<char> {
        self.attempt(|ahead| match ahead.next_char()? {
            '\\' => ahead.escape(),
            c => plain(c).then_some(c),
        })
    }

    /// Reads the character behind a backslash outside strings.
    fn escape(&mut self) -> Option<char> {
        let is_hex = |c: &char| c.is_ascii_hexdigit();
        let length = self.rest.chars().take(6).take_while(is_hex).count();
        if length > 0 {
            let code = u32::from_str_radix(&self.rest[..length], 16).unwrap_or(0);
            self.rest = &self.rest[length..];
            self.space();
            let known = char::from_u32(code).filter(|c| *c != '\0');
            return Some(known.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        match self.rest {
            "" | "\n" => Some(char::REPLACEMENT_CHARACTER),
            _ => self.next_char().filter(|c| !matches!(c, '\r' | '\n' | '\u{c}')),
        }
    }

    /// A string in quotes, or a name.
    pub(super) fn value(&mut self) -> Option<String> {
        self.attempt(|ahead| ahead.string()).or_else(|| self.identifier())
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.next_char().filter(|c| matches!(c, '"' | '\''))?;
        let start = self.rest;
        loop {
            match self.next_char()? {
                c if c == quote => break,
                '\\' if self.eat("\r\n") => {}
                '\\' => drop(self.next_char()?),
                '\r' | '\n' | '\u{c}' => return None,
                _ => {}
            }
        }
        let mut inside = Cursor { rest: &start[..start.len() - self.rest.len() - 1] };
        let mut text = String::new();
        while let Some(c) = inside.next_char() {
            match c {
                // A newline that is escaped is not there.
                '\\' if inside.eat("\r\n") => {}
                '\\' if inside.rest.starts_with(['\r', '\n', '\u{c}']) => {
                    inside.rest = &inside.rest[1..]
                }
                '\\' => text.extend(inside.escape()),
                c => text.push(c),
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let name = |text| Cursor { rest: text }.identifier();
        assert_eq!(name(r"f\:1\31 x y").as_deref(), Some("f:11x"));
        assert_eq!(name(r"\0z\").as_deref(), Some("\u{fffd}z\u{fffd}"));
        assert_eq!(name("--x").as_deref(), Some("--x"));
        assert_eq!(name("-1"), None);
        let value = |text| Cursor { rest: text }.value();
        assert_eq!(value("'a\\'\\\nb\\41 c'").as_deref(), Some("a'bAc"));
        assert_eq!(value("'a\nb'"), None);
        assert_eq!(value("'a"), None);
    }
}
