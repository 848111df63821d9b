//! `html.parser.HTMLParser` of Python 3.11 with `convert_charrefs` off, as BeautifulSoup runs it.

use super::builder::Builder;
use super::tag::{Ending, Source};
use super::{ParserRejectedMarkup, entity};
use crate::tree::{Kind, Tree};
use crate::{html, text};

pub(super) fn parse(html: &str) -> Result<Tree, ParserRejectedMarkup> {
    let mut parser = Parser {
        source: Source::new(html),
        last_end: html.rfind('>'),
        comments_end: true,
        sections_end: [true; 2],
        cdata: None,
        builder: Builder::new(),
    };
    // What `feed` leaves for more text to come, `close` takes as it is.
    let rest = parser.go_ahead(0, false)?;
    parser.go_ahead(rest, true)?;
    Ok(parser.builder.finish())
}

struct Parser<'a> {
    source: Source<'a>,
    /// The place of the last `>`.
    last_end: Option<usize>,
    /// No comment has been found to lack its end, after which none has one.
    comments_end: bool,
    /// The same for marked sections, of the standard's and of Microsoft's kind.
    sections_end: [bool; 2],
    /// The script or style whose content is being read.
    cdata: Option<&'static str>,
    builder: Builder,
}

/// The result of reading a piece of markup.
enum Taken {
    /// It has been handled; the text goes on here.
    To(usize),
    /// It has no end.
    Incomplete,
}

impl<'a> Parser<'a> {
    fn text(&self) -> &'a str {
        self.source.text
    }

    /// Handles what it can, from a place on; gives the place that it has come to.
    fn go_ahead(&mut self, from: usize, end: bool) -> Result<usize, ParserRejectedMarkup> {
        let whole = self.text();
        let mut at = from;
        while at < whole.len() {
            let next = match self.cdata {
                Some(name) => match self.end_of_cdata(at, name) {
                    Some(next) => next,
                    None => return Ok(at),
                },
                None => whole[at..].find(['&', '<']).map_or(whole.len(), |length| at + length),
            };
            self.builder.data(&whole[at..next]);
            at = next;
            let rest = &whole[at..];
            let step = if rest.starts_with('<') {
                self.markup(at, end)?
            } else if rest.starts_with("&#") {
                match self.number(at)? {
                    Some(next) => Some(next),
                    None => {
                        // Two characters are given up if anything later looks like an end, and the
                        // rest waits.
                        if rest.contains(';') {
                            self.builder.data("&#");
                            at += 2;
                        }
                        None
                    }
                }
            } else if rest.starts_with('&') {
                self.name(at)
            } else {
                None
            };
            match step {
                Some(next) => at = next,
                None => break,
            }
        }
        if end && at < whole.len() && self.cdata.is_none() {
            // An ampersand before a single last letter is lost.
            let is_lost =
                matches!(whole.as_bytes()[at..], [b'&', letter] if letter.is_ascii_alphabetic());
            self.builder.data(&whole[at + usize::from(is_lost)..]);
            at = whole.len();
        }
        Ok(at)
    }

    /// Handles what begins with `<`; gives where to go on, or nothing when more text is needed.
    fn markup(&mut self, at: usize, end: bool) -> Result<Option<usize>, ParserRejectedMarkup> {
        let rest = &self.text()[at..];
        let taken = if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.start_tag(at)?
        } else if rest.starts_with("</") {
            self.end_tag(at)
        } else if rest.starts_with("<!--") {
            self.comment(at)
        } else if rest.starts_with("<?") {
            self.until_end(at + 2)
        } else if rest.starts_with("<!") {
            self.declaration(at)?
        } else if rest.len() > 1 {
            self.builder.data("<");
            Taken::To(at + 1)
        } else {
            return Ok(None);
        };
        Ok(match taken {
            Taken::To(next) => Some(next),
            Taken::Incomplete if !end => None,
            Taken::Incomplete => {
                let next = match self.find_end(at + 1) {
                    Some(found) => found + 1,
                    None => {
                        self.text()[at + 1..].find('<').map_or(at + 1, |length| at + 1 + length)
                    }
                };
                self.builder.data(&self.text()[at..next]);
                Some(next)
            }
        })
    }

    fn find_end(&self, from: usize) -> Option<usize> {
        if self.last_end.is_none_or(|last| last < from) {
            return None;
        }
        self.text()[from..].find('>').map(|length| from + length)
    }

    fn start_tag(&mut self, at: usize) -> Result<Taken, ParserRejectedMarkup> {
        let Some(tag) = self.source.start_tag(at) else { return Ok(Taken::Incomplete) };
        if tag.ending == Ending::Broken {
            self.builder.data(&self.text()[at..tag.end]);
            return Ok(Taken::To(tag.end));
        }
        let mut attributes = Vec::with_capacity(tag.attributes.len());
        for attribute in tag.attributes {
            let value =
                attribute.value.map(|value| unquoted(&self.text()[value])).unwrap_or_default();
            let value = html::unescape(value).ok_or(ParserRejectedMarkup)?.into_owned();
            attributes.push((text::lower(&self.text()[attribute.name]).into_owned(), value));
        }
        let name = text::lower(&self.text()[tag.name]).into_owned();
        let self_closed = tag.ending == Ending::SelfClosed;
        if !self_closed {
            self.cdata = ["script", "style"].into_iter().find(|cdata| *cdata == name);
        }
        self.builder.start(name, attributes, self_closed);
        Ok(Taken::To(tag.end))
    }

    fn end_tag(&mut self, at: usize) -> Taken {
        let Some(end) = self.find_end(at + 1) else { return Taken::Incomplete };
        if let Some((name, next)) = self.plain_end_tag(at) {
            self.cdata = None;
            self.builder.end(&name);
            return Taken::To(next);
        }
        match self.source.tag_name(at + 2) {
            Some(name) => {
                let after = self.source.skip_space_and_slashes(name.end);
                let name = text::lower(&self.text()[name]).into_owned();
                self.builder.end(&name);
                self.find_end(after).map_or(Taken::Incomplete, |end| Taken::To(end + 1))
            }
            None if end == at + 2 => Taken::To(at + 3),
            None => self.until_end(at + 2),
        }
    }

    /// `</\s*([a-zA-Z][-.a-zA-Z0-9:_]*)\s*>`
    fn plain_end_tag(&self, at: usize) -> Option<(String, usize)> {
        let start = self.source.skip(at + 2, text::is_space);
        let end = self.source.skip(start, |c| c.is_ascii_alphanumeric() || "-.:_".contains(c));
        let after = self.source.skip(end, text::is_space);
        let name = &self.text()[start..end];
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && self.text()[after..].starts_with('>');
        is_tag.then(|| (name.to_ascii_lowercase(), after + 1))
    }

    /// Finds the end tag of a script or style.
    fn end_of_cdata(&self, from: usize, name: &str) -> Option<usize> {
        let places = self.text()[from..].match_indices("</").map(|(length, _)| from + length);
        places
            .into_iter()
            .find(|&place| self.plain_end_tag(place).is_some_and(|(found, _)| found == name))
    }

    /// A comment of any form that ends with the next `>`.
    fn until_end(&mut self, from: usize) -> Taken {
        let Some(end) = self.find_end(from) else { return Taken::Incomplete };
        self.builder.special(Kind::Comment(String::new()));
        Taken::To(end + 1)
    }

    fn comment(&mut self, at: usize) -> Taken {
        let found = if self.comments_end { self.closing(at + 4, "--") } else { None };
        self.comments_end = found.is_some();
        let Some(end) = found else { return Taken::Incomplete };
        self.builder.special(Kind::Comment(String::new()));
        Taken::To(end)
    }

    /// The place after a mark that only space separates from a `>`.
    fn closing(&self, from: usize, mark: &str) -> Option<usize> {
        let mut start = from;
        while let Some(length) = self.text()[start..].find(mark) {
            start += length;
            let after = self.source.skip(start + mark.len(), text::is_space);
            if self.text()[after..].starts_with('>') {
                return Some(after + 1);
            }
            start += 1;
        }
        None
    }

    fn declaration(&mut self, at: usize) -> Result<Taken, ParserRejectedMarkup> {
        const DOCTYPE: &str = "<!doctype";
        let rest = &self.text()[at..];
        if rest.starts_with("<![") {
            return self.marked_section(at);
        }
        if rest.get(..DOCTYPE.len()).is_some_and(|start| start.to_lowercase() == DOCTYPE) {
            let after = at + DOCTYPE.len();
            let Some(end) = self.find_end(after) else { return Ok(Taken::Incomplete) };
            self.builder.special(Kind::Comment(String::new()));
            return Ok(Taken::To(end + 1));
        }
        Ok(self.until_end(at + 2))
    }

    /// `<![CDATA[...]]>` and Microsoft's `<![if ...]>`; other words are given up on.
    fn marked_section(&mut self, at: usize) -> Result<Taken, ParserRejectedMarkup> {
        let start = at + 3;
        if start == self.text().len() {
            return Ok(Taken::Incomplete);
        }
        if !self.text()[start..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(ParserRejectedMarkup);
        }
        let end = self.source.skip(start, |c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if self.source.skip(end, text::is_space) == self.text().len() {
            return Ok(Taken::Incomplete);
        }
        let kind = match self.text()[start..end].to_ascii_lowercase().as_str() {
            "temp" | "cdata" | "ignore" | "include" | "rcdata" => 0,
            "if" | "else" | "endif" => 1,
            _ => return Err(ParserRejectedMarkup),
        };
        let found = if self.sections_end[kind] { self.section_end(start, kind == 0) } else { None };
        self.sections_end[kind] = found.is_some();
        let Some((content_end, next)) = found else { return Ok(Taken::Incomplete) };
        let is_cdata = self.text()[start..content_end].to_uppercase().starts_with("CDATA[");
        self.builder.special(if is_cdata { Kind::CData } else { Kind::Comment(String::new()) });
        Ok(Taken::To(next))
    }

    /// `]\s*]\s*>` or `]\s*>`.
    fn section_end(&self, from: usize, double: bool) -> Option<(usize, usize)> {
        let mut start = from;
        while let Some(length) = self.text()[start..].find(']') {
            start += length;
            let mut after = self.source.skip(start + 1, text::is_space);
            if double && self.text()[after..].starts_with(']') {
                after = self.source.skip(after + 1, text::is_space);
            } else if double {
                after = self.text().len();
            }
            if self.text()[after..].starts_with('>') {
                return Some((start, after + 1));
            }
            start += 1;
        }
        None
    }

    /// `&#(?:[0-9]+|[xX][0-9a-fA-F]+)[^0-9a-fA-F]`; nothing when it is none.
    fn number(&mut self, at: usize) -> Result<Option<usize>, ParserRejectedMarkup> {
        let start = at + 2;
        let is_hex = self.text()[start..].starts_with(['x', 'X']);
        let digits = start + usize::from(is_hex);
        let radix = if is_hex { 16 } else { 10 };
        let end = self.source.skip(digits, |c| c.is_digit(radix));
        let rest = &self.text()[end..];
        if end == digits || rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_hexdigit()) {
            return Ok(None);
        }
        self.builder.data(
            &entity::number(&self.text()[digits..end], radix)
                .ok_or(ParserRejectedMarkup)?
                .to_string(),
        );
        Ok(Some(end + usize::from(rest.starts_with(';'))))
    }

    /// `&([a-zA-Z][-.a-zA-Z0-9]*)[^a-zA-Z0-9]`; nothing when more text is needed.
    fn name(&mut self, at: usize) -> Option<usize> {
        let whole = self.text();
        let start = at + 1;
        if start == whole.len() {
            return None;
        }
        if !whole[start..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.builder.data("&");
            return Some(start);
        }
        let run = self.source.skip(start, |c| c.is_ascii_alphanumeric() || "-.".contains(c));
        let end = match whole[run..].chars().next() {
            Some(_) => run,
            // At the end of the text the last hyphen or dot stands for what follows.
            None => start + whole[start..].rfind(['-', '.'])?,
        };
        let name = &whole[start..end];
        match entity::named(name) {
            Some(characters) => self.builder.data(characters),
            None => self.builder.data(&whole[at..end]),
        }
        Some(end + usize::from(whole[end..].starts_with(';')))
    }
}

fn unquoted(value: &str) -> &str {
    let quote = value.chars().next().filter(|c| matches!(c, '\'' | '"'));
    match quote {
        Some(quote) => value[1..].strip_suffix(quote).unwrap_or(value),
        None => value,
    }
}
