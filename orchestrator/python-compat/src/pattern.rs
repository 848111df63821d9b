//! `re`: patterns in Python's spelling, run by a crate that looks ahead and back as Python does.

use std::iter::Peekable;
use std::str::Chars;

use fancy_regex::{Regex, RegexBuilder};

/// How far a pattern may go back before it is given up. Python would go on for as long as it takes.
const BACKTRACK_LIMIT: usize = 20_000_000;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

/// Flags of `re.compile`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flags {
    /// `re.IGNORECASE`.
    pub ignore_case: bool,
    /// `re.DOTALL`.
    pub dot_all: bool,
    /// `re.MULTILINE`.
    pub multi_line: bool,
}

/// A pattern that went back too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacktrackLimit;

impl Pattern {
    /// `re.compile(pattern, flags)`, for searching; nothing where it raises `re.error`.
    pub fn new(pattern: &str, flags: Flags) -> Option<Pattern> {
        compile(&translate(pattern, "\\n?\\z", flags), flags)
    }

    /// For [`is_match`](Self::is_match) as `match` does: at the beginning of the text.
    pub fn at_start(pattern: &str, flags: Flags) -> Option<Pattern> {
        compile(&format!("\\A(?:{})", translate(pattern, "\\n?\\z", flags)), flags)
    }

    /// For [`is_match`](Self::is_match) as `fullmatch` does: all of the text.
    pub fn whole(pattern: &str, flags: Flags) -> Option<Pattern> {
        compile(&format!("\\A(?:{})\\z", translate(pattern, "\\z", flags)), flags)
    }

    /// One of our own, which is known to be a pattern.
    pub fn ours(pattern: &str, flags: Flags) -> Pattern {
        Pattern::new(pattern, flags)
            .unwrap_or_else(|| panic!("our own patterns are valid, but not {pattern}"))
    }

    /// One of our own, in the crate's spelling.
    pub fn of_crate(pattern: &str) -> Pattern {
        compile(pattern, Flags::default()).expect("our own patterns are valid")
    }

    /// Whether it matches somewhere.
    ///
    /// # Errors
    /// When it goes back too often.
    pub fn is_match(&self, text: &str) -> Result<bool, BacktrackLimit> {
        self.0.is_match(text).map_err(|_| BacktrackLimit)
    }

    /// The groups of the first match, the whole of it first.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Vec<Option<&'t str>>> {
        let captures = self.0.captures(text).ok().flatten()?;
        Some(captures.iter().map(|group| group.map(|group| group.as_str())).collect())
    }

    /// `pattern.sub(replacement, text)`, with `$1` for a group.
    pub fn replace_all(&self, text: &str, replacement: &str) -> String {
        self.0
            .try_replacen(text, 0, replacement)
            .map_or_else(|_| text.to_owned(), |text| text.into_owned())
    }

    /// `pattern.sub(function, text)`; the function gets the groups.
    pub fn replace_with(&self, text: &str, with: impl Fn(&[&str]) -> String) -> String {
        let replace = |captures: &fancy_regex::Captures<'_, str>| {
            let groups: Vec<&str> =
                captures.iter().map(|group| group.map_or("", |group| group.as_str())).collect();
            with(&groups)
        };
        self.0
            .try_replacen(text, 0, replace)
            .map_or_else(|_| text.to_owned(), |text| text.into_owned())
    }
}

fn compile(pattern: &str, flags: Flags) -> Option<Pattern> {
    let letters = [(flags.ignore_case, 'i'), (flags.dot_all, 's'), (flags.multi_line, 'm')];
    let letters: String =
        letters.into_iter().filter(|(on, _)| *on).map(|(_, letter)| letter).collect();
    let pattern =
        if letters.is_empty() { pattern.to_owned() } else { format!("(?{letters}:{pattern})") };
    RegexBuilder::new(&pattern).backtrack_limit(BACKTRACK_LIMIT).build().ok().map(Pattern)
}

/// From Python's spelling to the crate's. `end` is what a dollar sign at the very end stands for.
fn translate(pattern: &str, end: &str, flags: Flags) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, false, &mut out),
            '[' => class(&mut rest, &mut out),
            '$' if flags.multi_line => out.push('$'),
            '$' if rest.peek().is_none() => out.push_str(end),
            '$' => out.push_str("(?=\\n?\\z)"),
            '{' => repetition(&mut rest, &mut out),
            '}' => out.push_str("\\}"),
            c => out.push(c),
        }
    }
    out
}

/// Translates the text behind a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, in_class: bool, out: &mut String) {
    match rest.next() {
        None => out.push('\\'),
        // Python counts four separators among white space.
        Some('s') => out.push_str(if in_class { "\\s\\x1c-\\x1f" } else { "[\\s\\x1c-\\x1f]" }),
        Some('S') if !in_class => out.push_str("[^\\s\\x1c-\\x1f]"),
        Some('Z') => out.push_str("\\z"),
        Some(mark @ ('u' | 'U')) => {
            let length = if mark == 'u' { 4 } else { 8 };
            let digits: String =
                std::iter::from_fn(|| rest.next_if(char::is_ascii_hexdigit)).take(length).collect();
            out.push_str(&format!("\\x{{{digits}}}"));
        }
        Some(c) if c.is_ascii_digit() || "AbBdDSwWafnrtvx".contains(c) => out.extend(['\\', c]),
        // Python takes no other letters; nor does the crate take this.
        Some(c) if c.is_ascii_alphabetic() => out.push('('),
        Some(c) if c.is_ascii_punctuation() && c != '<' && c != '>' && c != '_' => {
            out.extend(['\\', c])
        }
        Some(c) => out.push(c),
    }
}

fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if rest.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = rest.next() {
        match c {
            ']' => return out.push(']'),
            '\\' => escape(rest, true, out),
            '[' | '&' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
}

/// A brace is itself where it does not hold numbers.
fn repetition(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let inside: String = rest.clone().take_while(|c| *c != '}').collect();
    let (least, most) = inside.split_once(',').unwrap_or((&inside, "0"));
    let numbers = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let closed = rest.clone().nth(inside.chars().count()) == Some('}');
    let counts =
        closed && numbers(least) && numbers(most) && !(least.is_empty() && most.is_empty());
    if !counts || (least.is_empty() && !inside.contains(',')) {
        return out.push_str("\\{");
    }
    for _ in 0..=inside.chars().count() {
        rest.next();
    }
    let least = if least.is_empty() { "0" } else { least };
    match inside.split_once(',') {
        Some((_, most)) => out.push_str(&format!("{{{least},{most}}}")),
        None => out.push_str(&format!("{{{least}}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, expect: Option<bool>) {
        let whole = Pattern::whole(pattern, Flags::default());
        assert_eq!(
            whole.map(|pattern| pattern.is_match(text) == Ok(true)),
            expect,
            "{pattern:?} on {text:?}"
        );
    }

    #[test]
    fn patterns_mean_what_they_do_in_python() {
        check("^a$", "a", Some(true));
        check("^a$", "a\n", Some(false));
        check(r"^\_\!\#$", "_!#", Some(true));
        check(r"^(?!price$).+$", "price", Some(false));
        check(r"^(?!price$).+$", "prices", Some(true));
        check(r"^[[a]{$", "[{", Some(true));
        check(r"^a{,2}$", "aa", Some(true));
        check(r"^a{b}$", "a{b}", Some(true));
        check(r"^[]\s]+\Z$", "]\u{1c}", Some(true));
        check(r"^\u00e9$", "é", Some(true));
        check("^($", "(", None);
        check(r"^\p{C}$", "{", None);
        let search = Pattern::new("b$", Flags::default()).expect("a pattern");
        assert_eq!(search.is_match("ab\n"), Ok(true));
        let start = Pattern::at_start("^.b$", Flags { ignore_case: true, ..Flags::default() })
            .expect("a pattern");
        assert_eq!((start.is_match("AB\n"), start.is_match("xAB")), (Ok(true), Ok(false)));
    }
}
