//! Start tags, by the tolerant regular expressions of `html.parser`.

use std::collections::HashSet;
use std::ops::Range;

use crate::text::is_space;

/// Text with a place in it, and what has been learnt about it that saves looking twice.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    /// Places from which attributes are known to run into the end or into a broken value.
    dead: HashSet<usize>,
    last_single: Option<usize>,
    last_double: Option<usize>,
}

/// An attribute of a start tag.
pub(super) struct Attribute {
    pub(super) name: Range<usize>,
    /// With its quotes.
    pub(super) value: Option<Range<usize>>,
    /// The first place at which the next one may begin.
    end: usize,
}

/// A start tag that has been read to its end.
pub(super) struct StartTag {
    pub(super) name: Range<usize>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) end: usize,
    /// How it ends; anything but these two makes text of the tag.
    pub(super) ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Open,
    SelfClosed,
    Broken,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Source<'a> {
        Source {
            text,
            dead: HashSet::new(),
            last_single: text.rfind('\''),
            last_double: text.rfind('"'),
        }
    }

    fn at(&self, place: usize) -> Option<char> {
        self.text[place..].chars().next()
    }

    /// Past the characters that `wanted` takes.
    pub(super) fn skip(&self, from: usize, wanted: impl Fn(char) -> bool) -> usize {
        self.text[from..].find(|c| !wanted(c)).map_or(self.text.len(), |length| from + length)
    }

    /// `(?:\s|/(?!>))*`
    pub(super) fn skip_space_and_slashes(&self, mut from: usize) -> usize {
        loop {
            from = self.skip(from, is_space);
            if !self.text[from..].starts_with('/') || self.text[from + 1..].starts_with('>') {
                return from;
            }
            from += 1;
        }
    }

    /// The name of a tag that begins here, if one does: `[a-zA-Z][^\t\n\r\f />\x00]*`.
    pub(super) fn tag_name(&self, from: usize) -> Option<Range<usize>> {
        self.text[from..].starts_with(|c: char| c.is_ascii_alphabetic()).then(|| {
            from..self
                .skip(from, |c| !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | ' ' | '/' | '>' | '\0'))
        })
    }

    /// The start tag at `<` and a letter; nothing where more text would be needed
    /// (`check_for_whole_start_tag`).
    pub(super) fn start_tag(&mut self, at: usize) -> Option<StartTag> {
        let name = self.tag_name(at + 1)?;
        let whole = self.end_of_start_tag(name.end)?;
        let mut attributes = Vec::new();
        let mut from = self.skip_space_and_slashes(name.end);
        while from < whole {
            let Some(attribute) = self.attribute(from) else { break };
            from = attribute.end;
            attributes.push(attribute);
        }
        let rest = self.text.get(from..whole).unwrap_or_default().trim_matches(is_space);
        let ending = match rest {
            ">" => Ending::Open,
            "/>" => Ending::SelfClosed,
            _ => Ending::Broken,
        };
        Some(StartTag { name, attributes, end: whole, ending })
    }

    fn end_of_start_tag(&mut self, name_end: usize) -> Option<usize> {
        let mut from = self.skip(name_end, |c| is_space(c) || c == '/');
        let mut visited = Vec::new();
        let mut alive = !self.dead.contains(&from);
        while alive && let Some(attribute) = self.attribute(from) {
            visited.push(from);
            from = attribute.end;
            alive = !self.dead.contains(&from);
        }
        let from = self.skip(from, is_space);
        let end = match self.at(from) {
            _ if !alive => None,
            Some('>') => Some(from + 1),
            Some('/') if self.text[from..].starts_with("/>") => Some(from + 2),
            None | Some('/' | '=') => None,
            Some(c) if c.is_ascii_alphabetic() => None,
            Some(_) => Some(from),
        };
        if end.is_none() {
            self.dead.extend(visited);
        }
        end
    }

    /// `attrfind_tolerant`: only after a space, a slash or a quote.
    fn attribute(&self, from: usize) -> Option<Attribute> {
        let is_separator = |c: char| matches!(c, '\'' | '"' | '/') || is_space(c);
        if !self.text[..from].ends_with(is_separator) {
            return None;
        }
        let first = self.at(from).filter(|&c| !is_space(c) && !matches!(c, '/' | '>'))?;
        let end =
            self.skip(from + first.len_utf8(), |c| !is_space(c) && !matches!(c, '/' | '=' | '>'));
        let value = self.value(end);
        let next = self.skip_space_and_slashes(value.as_ref().map_or(end, |value| value.end));
        Some(Attribute { name: from..end, value, end: next })
    }

    /// `\s*=+\s*('[^']*'|"[^"]*"|(?!['"])[^>\s]*)`, with what giving back characters would find.
    fn value(&self, from: usize) -> Option<Range<usize>> {
        let equals = self.skip(from, is_space);
        let equals_end = self.skip(equals, |c| c == '=');
        if equals == equals_end {
            return None;
        }
        let start = self.skip(equals_end, is_space);
        let closing = match self.at(start) {
            Some('\'') => self.next_quote(start + 1, '\'', self.last_single),
            Some('"') => self.next_quote(start + 1, '"', self.last_double),
            _ => return Some(start..self.bare_end(start)),
        };
        match (closing, self.text[equals_end..start].chars().next_back()) {
            (Some(closing), _) => Some(start..closing + 1),
            // The last space is given back, and nothing is a value.
            (None, Some(space)) => Some(start - space.len_utf8()..start - space.len_utf8()),
            // An equals sign is given back, and begins the value.
            (None, None) if equals_end - equals > 1 => {
                Some(equals_end - 1..self.bare_end(equals_end - 1))
            }
            (None, None) => None,
        }
    }

    fn bare_end(&self, from: usize) -> usize {
        self.skip(from, |c| c != '>' && !is_space(c))
    }

    fn next_quote(&self, from: usize, quote: char, last: Option<usize>) -> Option<usize> {
        if last.is_none_or(|last| last < from) {
            return None;
        }
        self.text[from..].find(quote).map(|length| from + length)
    }
}
