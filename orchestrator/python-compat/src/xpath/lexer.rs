//! Pieces of XPath: names, literals, numbers. There are no tokens; what a sign means hangs on where
//! it stands.

/// The rest of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

impl Cursor<'_> {
    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    /// Takes a sign and the space after it.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                self.skip_space();
                true
            }
            None => false,
        }
    }

    /// Takes a sign that space may stand before.
    pub(super) fn eat_after_space(&mut self, sign: &str) -> bool {
        let mut ahead = *self;
        ahead.skip_space();
        let found = ahead.eat(sign);
        if found {
            *self = ahead;
        }
        found
    }

    /// Whether a step of a path may follow a slash here.
    pub(super) fn begins_step(&self) -> bool {
        self.rest
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '@' | '*'))
    }

    /// A name without prefix; the space after it is left.
    pub(super) fn name(&mut self) -> Option<String> {
        if !self.rest.starts_with(begins_name) {
            return None;
        }
        let is_part =
            |c: char| begins_name(c) || c.is_numeric() || matches!(c, '-' | '.' | '\u{b7}');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(name.to_owned())
    }

    /// A name with its prefix, if it has one, and the space after it.
    pub(super) fn qualified_name(&mut self) -> Option<(Option<String>, String)> {
        let first = self.name()?;
        let mut ahead = *self;
        let second =
            if ahead.rest.starts_with("::") || !ahead.eat(":") { None } else { ahead.name() };
        if second.is_some() {
            *self = ahead;
        }
        self.skip_space();
        Some(match second {
            Some(name) => (Some(first), name),
            None => (None, first),
        })
    }

    /// Text in quotes.
    pub(super) fn literal(&mut self) -> Option<String> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (text, rest) = self.rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text.to_owned())
    }

    /// A number; nothing when none begins here, nothing inside when it is broken.
    pub(super) fn number(&mut self) -> Option<Option<f64>> {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let whole = digits(self.rest);
        let mut end = whole;
        if self.rest[end..].starts_with('.') {
            let fraction = digits(&self.rest[end + 1..]);
            if whole == 0 && fraction == 0 {
                return None;
            }
            end += 1 + fraction;
        } else if whole == 0 {
            return None;
        }
        let mantissa_end = end;
        if self.rest[end..].starts_with(['e', 'E']) {
            end += 1;
            end += usize::from(self.rest[end..].starts_with(['+', '-']));
            end += digits(&self.rest[end..]);
        }
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        // An exponent without digits is none.
        Some(number.parse().or_else(|_| number[..mantissa_end].parse()).ok())
    }
}
