//! Whether a full stop, question or exclamation mark ends a sentence: Punkt's two passes over the
//! tokens around it.

use super::model::{is_abbreviation, is_collocation, may_begin_small};
use super::punkt::is_non_word;
use crate::character::{is_lower, is_upper, is_word};
use crate::text::{decimal_digit, is_space};

const NUMBER: &str = "##number##";

/// `text_contains_sentbreak`: a sentence ends before the last token of a text.
pub(super) fn ends_a_sentence(context: &[char]) -> bool {
    let tokens: Vec<Token> =
        context.split(|&c| c == '\n').flat_map(tokens).map(Token::new).collect();
    tokens.windows(2).any(|pair| pair[0].ends_before(&pair[1]))
}

/// A token with the marks of the first pass.
struct Token {
    text: String,
    /// `type`: numbers are all alike.
    kind: String,
    ends_sentence: bool,
}

impl Token {
    /// `_first_pass_annotation`. That a token is an abbreviation matters for capitalised successors
    /// only.
    fn new(text: &[char]) -> Token {
        let kind = if is_number(text) { NUMBER.to_owned() } else { text.iter().collect() };
        let text: String = text.iter().collect();
        let ends_sentence = match text.strip_suffix('.') {
            Some("") => true,
            Some(word) if word.ends_with('.') => false,
            Some(word) => {
                let last_part = word.rsplit('-').next().unwrap_or(word);
                !is_abbreviation(word) && !is_abbreviation(last_part)
            }
            None => text == "?" || text == "!",
        };
        Token { text, kind, ends_sentence }
    }

    /// `_second_pass_annotation`: whether a sentence ends with this token when that one follows.
    fn ends_before(&self, next: &Token) -> bool {
        if !self.text.ends_with('.') {
            return self.ends_sentence;
        }
        let kind = without_stop(&self.kind);
        let next_kind = if next.ends_sentence { without_stop(&next.kind) } else { &next.kind };
        if is_collocation(kind, next_kind) {
            return false;
        }
        let first = next.text.chars().next();
        let goes_on = is_punctuation(&next.text)
            || (first.is_some_and(is_lower) && !may_begin_small(next_kind));
        let is_initial = self.is_initial();
        // A capital after lower-casing is one without a small form, in no word that the model
        // knows.
        let is_name = is_initial && first.is_some_and(is_upper);
        self.ends_sentence && !((is_initial || kind == NUMBER) && (goes_on || is_name))
    }

    /// A letter and a full stop.
    fn is_initial(&self) -> bool {
        let mut chars = self.text.chars();
        let letter = chars.next().is_some_and(|c| is_word(c) && decimal_digit(c).is_none());
        letter && chars.as_str() == "."
    }
}

/// `type_no_period`.
fn without_stop(kind: &str) -> &str {
    kind.strip_suffix('.').filter(|rest| !rest.is_empty()).unwrap_or(kind)
}

fn is_punctuation(text: &str) -> bool {
    matches!(text, ";" | ":" | "," | "." | "!" | "?")
}

/// `_RE_NUMERIC`: perhaps a minus and a separator, a digit, then digits and separators.
fn is_number(text: &[char]) -> bool {
    let text = text.strip_prefix(&['-']).unwrap_or(text);
    let text = text.strip_prefix(&['.']).or_else(|| text.strip_prefix(&[','])).unwrap_or(text);
    let is_digit = |c: &char| decimal_digit(*c).is_some();
    text.first().is_some_and(is_digit)
        && text.iter().all(|c| is_digit(c) || matches!(c, ',' | '.' | '-'))
}

/// `PunktLanguageVars.word_tokenize` on one line.
fn tokens(line: &[char]) -> Vec<&[char]> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let length = if is_space(rest[0]) { 1 } else { token_length(rest) };
        if !is_space(rest[0]) {
            tokens.push(&rest[..length]);
        }
        at += length;
    }
    tokens
}

/// The token that a text without white space in front begins with.
fn token_length(text: &[char]) -> usize {
    if let Some(length) = marks_length(text) {
        return length;
    }
    if matches!(
        text[0],
        '(' | '"'
            | '`'
            | '{'
            | '['
            | ':'
            | ';'
            | '&'
            | '#'
            | '*'
            | '@'
            | ')'
            | '}'
            | ']'
            | '-'
            | ','
    ) {
        return 1;
    }
    (1..text.len()).find(|&end| ends_word(&text[end..])).unwrap_or(text.len())
}

/// A word is over where this follows.
fn ends_word(rest: &[char]) -> bool {
    let ends = |rest: &[char]| {
        rest.first().is_none_or(|&c| is_space(c) || is_non_word(c)) || marks_length(rest).is_some()
    };
    ends(rest) || (rest[0] == ',' && ends(&rest[1..]))
}

/// `_re_multi_char_punct`: dashes, dots, or dots with white space between them.
fn marks_length(text: &[char]) -> Option<usize> {
    for mark in ['-', '.'] {
        let run = text.iter().take_while(|&&c| c == mark).count();
        if run >= 2 {
            return Some(run);
        }
    }
    let pairs = text.chunks_exact(2).take_while(|pair| pair[0] == '.' && is_space(pair[1])).count();
    let last = if text.get(2 * pairs) == Some(&'.') { pairs } else { pairs.saturating_sub(1) };
    (last >= 2).then_some(2 * last + 1)
}
