//! The text of a page, taken apart as libxml2 2.14's tokenizer does.

use std::collections::HashSet;

use super::tags::Mode;
use crate::references::{self, LONGEST_NAME};

/// Names and values, each name once.
pub(super) type Attributes = Vec<(String, String)>;

/// Longer names are cut.
const NAME_LIMIT: usize = 100;

/// Attributes that have their name for a value when they have none.
const BOOLEAN: [&str; 13] = [
    "checked", "compact", "declare", "defer", "disabled", "ismap", "multiple", "nohref",
    "noresize", "noshade", "nowrap", "readonly", "selected",
];

pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}

/// The rest of an expression.
pub(super) struct Source<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn new(html: &'a str) -> Source<'a> {
        Source { rest: html }
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    fn take(&mut self, end: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn find(&self, wanted: impl Fn(char) -> bool) -> usize {
        self.rest.find(wanted).unwrap_or(self.rest.len())
    }

    pub(super) fn skip_past(&mut self, end: char) {
        self.take(self.find(|c| c == end));
        self.skip(1);
    }

    pub(super) fn is_doctype(&self) -> bool {
        const DOCTYPE: &str = "<!doctype";
        self.rest.get(..DOCTYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE))
    }

    /// Up to and with the next `>`.
    pub(super) fn until_end_of_tag(&mut self) -> String {
        let text = self.take(self.find(|c| c == '>'));
        self.skip(1);
        clean(text)
    }

    /// From `<!--` on.
    pub(super) fn comment(&mut self) -> String {
        self.skip("<!--".len());
        if self.eat(">") || self.eat("->") {
            return String::new();
        }
        let mut from = 0;
        let (end, mark) = loop {
            let Some(length) = self.rest[from..].find('-') else { break (self.rest.len(), 0) };
            from += length;
            let after = &self.rest[from..];
            let marks = ["-->", "--!>"];
            if let Some(mark) = marks
                .iter()
                .find(|mark| after.starts_with(**mark) || *after == mark[..mark.len() - 1])
            {
                break (from, mark.len().min(after.len()));
            }
            if matches!(after, "-" | "--") {
                break (from, after.len());
            }
            from += 1;
        };
        let text = self.take(end);
        self.skip(mark);
        clean(text)
    }

    /// `htmlParseHTMLName`: the first character belongs to it whatever it is.
    pub(super) fn name(&mut self, of_attribute: bool) -> String {
        let stop = if of_attribute { '=' } else { ' ' };
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let is_end = |c: char| matches!(c, '/' | '>') || c == stop || is_space(c);
        let end = self.rest[first..].find(is_end).map_or(self.rest.len(), |length| first + length);
        let mut name = String::new();
        for c in self.take(end).chars() {
            let c = if c == '\0' { char::REPLACEMENT_CHARACTER } else { c.to_ascii_lowercase() };
            if name.len() + c.len_utf8() <= NAME_LIMIT {
                name.push(c);
            }
        }
        name
    }

    /// The attributes of a tag, up to its end.
    pub(super) fn attributes(&mut self) -> Attributes {
        let mut attributes = Vec::new();
        let mut known = HashSet::new();
        loop {
            self.skip_space();
            if self.rest.is_empty() || self.rest.starts_with('>') || self.rest.starts_with("/>") {
                return attributes;
            }
            if self.eat("/") {
                continue;
            }
            let name = self.name(true);
            self.skip_space();
            let value = match self.eat("=") {
                true => self.value(),
                false if BOOLEAN.contains(&name.as_str()) => name.clone(),
                false => String::new(),
            };
            if known.insert(name.clone()) {
                attributes.push((name, value));
            }
        }
    }

    fn value(&mut self) -> String {
        self.skip_space();
        for quote in ['"', '\''] {
            if self.rest.starts_with(quote) {
                self.skip(1);
                let value = self.take(self.find(|c| c == quote));
                self.skip(1);
                return decode(value, true);
            }
        }
        let end = self.find(|c| is_space(c) || c == '>');
        decode(self.take(end), true)
    }

    /// Text up to markup, or up to the end tag of the element that it is in; and whether it has
    /// come to that.
    pub(super) fn text(&mut self, mode: Mode, name: &str) -> (String, bool) {
        let end = match mode {
            Mode::Plain => self.rest.find('<'),
            Mode::Endless => None,
            Mode::References | Mode::Raw => self.end_tag(name),
            Mode::Script => self.end_of_script(),
        };
        let text = self.take(end.unwrap_or(self.rest.len()));
        let has_references = matches!(mode, Mode::Plain | Mode::References);
        (if has_references { decode(text, false) } else { clean(text) }, end.is_some())
    }

    fn end_tag(&self, name: &str) -> Option<usize> {
        let mut places = self.rest.match_indices("</").map(|(place, _)| place);
        places.find(|place| is_tag(&self.rest[place + 2..], name))
    }

    /// In a comment that is not closed, a script within the script has its own end tag.
    fn end_of_script(&self) -> Option<usize> {
        let (mut in_comment, mut in_script) = (false, false);
        let mut from = 0;
        loop {
            from += self.rest[from..].find(['<', '-'])?;
            let rest = &self.rest[from..];
            if rest.starts_with("<!") {
                in_comment |= rest.starts_with("<!--");
                in_script &= !rest.starts_with("<!--");
            } else if let Some(rest) = rest.strip_prefix("</").filter(|rest| is_tag(rest, "script"))
            {
                let _ = rest;
                if !in_script {
                    return Some(from);
                }
                in_script = false;
            } else if in_comment
                && !in_script
                && rest.starts_with('<')
                && is_tag(&rest[1..], "script")
            {
                in_script = true;
            } else if in_comment && rest.starts_with("-->") {
                (in_comment, in_script) = (false, false);
            }
            from += 1;
        }
    }
}

/// A tag's name, and then what ends a name.
fn is_tag(text: &str, name: &str) -> bool {
    let start = text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    start && text[name.len()..].starts_with(|c| matches!(c, '>' | '/') || is_space(c))
}

/// Line ends become newlines, and what is no character a replacement.
fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{fffd}")
}

/// Character references. In an attribute a name without semicolon stands for itself before letters
/// and `=`.
fn decode(text: &str, in_attribute: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&clean(&rest[..at]));
        rest = &rest[at + 1..];
        let found = number(rest).or_else(|| named(rest, in_attribute));
        match found {
            Some((characters, length)) => {
                out.push_str(&characters);
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(&clean(rest));
    out
}

fn number(text: &str) -> Option<(String, usize)> {
    let digits = text.strip_prefix('#')?;
    let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return None;
    }
    let character = match u32::from_str_radix(&digits[..length], radix).unwrap_or(u32::MAX) {
        0 => None,
        code @ 0x80..=0x9f => references::windows_1252(code),
        code => char::from_u32(code),
    };
    let semicolon = usize::from(digits[length..].starts_with(';'));
    let used = text.len() - digits.len() + length + semicolon;
    Some((character.unwrap_or(char::REPLACEMENT_CHARACTER).to_string(), used))
}

fn named(text: &str, in_attribute: bool) -> Option<(String, usize)> {
    let run = text.bytes().take(LONGEST_NAME).take_while(u8::is_ascii_alphanumeric).count();
    (1..=run).rev().find_map(|length| {
        let name = &text[..length];
        let next = text[length..].chars().next();
        if next == Some(';')
            && let Some(characters) = references::named(&text[..=length])
        {
            return Some((characters.to_owned(), length + 1));
        }
        let goes_on = next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '=');
        let characters = references::named(name).filter(|_| !in_attribute || !goes_on)?;
        Some((characters.to_owned(), length))
    })
}
