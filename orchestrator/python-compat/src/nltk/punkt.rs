//! Sentences: `PunktSentenceTokenizer.tokenize`, whose sentences are given as ranges of characters.

use std::ops::Range;

use super::sentence_end::ends_a_sentence;
use crate::text::is_space;

/// `_re_non_word_chars`: what stands in no word but may follow the end of a sentence.
pub(super) fn is_non_word(c: char) -> bool {
    matches!(c, ')' | '"' | ';' | '}' | ']' | '*' | ':' | '@' | '\'' | '(' | '{' | '[' | '?' | '!')
}

/// `span_tokenize(text)`: splits, then gives closing quotes and brackets to the sentence before
/// them.
pub(super) fn sentences(text: &[char]) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut taken = 0;
    let split = split(text);
    for (at, sentence) in split.iter().enumerate() {
        let start = sentence.start + taken;
        taken = 0;
        if let Some(next) = split.get(at + 1)
            && let Some((closers, length)) = closing(text.get(next.clone()).unwrap_or_default())
        {
            sentences.push(start..next.start + closers);
            taken = length;
        } else if start < sentence.end {
            sentences.push(start..sentence.end);
        }
    }
    sentences
}

/// `re_boundary_realignment` at the start of a sentence: how many closing marks there are, and how
/// long they are with the white space after them.
fn closing(text: &[char]) -> Option<(usize, usize)> {
    let closers = text.iter().take_while(|c| matches!(c, '"' | '\'' | ')' | ']' | '}')).count();
    let rest = &text[closers..];
    let spaces = rest.iter().take_while(|&&c| is_space(c)).count();
    let ends = spaces > 0 || rest.is_empty() || rest.starts_with(&['-', '-']);
    (closers > 0 && ends).then_some((closers, closers + spaces))
}

/// `_slices_from_text`.
fn split(text: &[char]) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for Candidate { mark, next, context } in candidates(text) {
        if ends_a_sentence(&text[context]) {
            sentences.push(start..mark + 1);
            start = next;
        }
    }
    let end = text.iter().rposition(|&c| !is_space(c)).map_or(0, |last| last + 1);
    sentences.push(start..end);
    sentences
}

/// A place where a sentence may end.
struct Candidate {
    /// The `.`, `?` or `!`.
    mark: usize,
    /// The start of the next sentence if this one ends here.
    next: usize,
    /// The word before, the mark, and what follows.
    context: Range<usize>,
}

/// `_match_potential_end_contexts`: of marks in one word the last counts.
fn candidates(text: &[char]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut word = 0..0;
    for mark in 0..text.len() {
        let Some((next, end)) = after_mark(text, mark) else { continue };
        let between = &text[word.end..mark];
        // White space right after the mark before is overlooked, as in the original.
        let start = match between.iter().rposition(|c| matches!(c, ' ' | '\t'..='\r')) {
            None | Some(0) => word.start,
            Some(space) => word.end + space + 1,
        };
        if start < word.end {
            found.pop();
        }
        found.push(Candidate { mark, next, context: start..end });
        word = start..mark;
    }
    found
}

/// `period_context_re` at one place: where a next sentence would begin, and where its first token
/// ends.
fn after_mark(text: &[char], mark: usize) -> Option<(usize, usize)> {
    let after = mark + 1;
    let c = *text.get(after).filter(|_| matches!(text[mark], '.' | '?' | '!'))?;
    if is_non_word(c) {
        return Some((after, after + 1));
    }
    let next = after + text[after..].iter().take_while(|&&c| is_space(c)).count();
    if next == after || next == text.len() {
        return None;
    }
    let length = text[next..].iter().take_while(|&&c| !is_space(c)).count();
    Some((next, next + length))
}
