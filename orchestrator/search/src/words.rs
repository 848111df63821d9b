//! Divides texts into words as the index has them: lower case, English words by their stems, Latin
//! letters without accents. A character of a script without blanks between words is a word.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Common words. Queries ignore them if there are others. Two of them in a row are also indexed as
/// a pair.
pub(crate) const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "has",
    "have", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that", "the",
    "there", "this", "to", "was", "were", "what", "when", "where", "which", "who", "why", "will",
    "with",
];
/// The longest word that is stemmed, in bytes. Words are rarely longer.
const LONGEST_STEMMED: usize = 64;
/// The longest word in characters. What is longer is cut.
const LONGEST: usize = 128;

/// The place of a word in a text, in bytes.
pub(crate) type Span = std::ops::Range<usize>;

/// Calls `each` with the place of every word in `text`, in bytes.
pub(crate) fn spans(text: &str, mut each: impl FnMut(Span)) {
    let mut start = None;
    for (at, c) in text.char_indices() {
        let alone = stands_alone(c);
        if !alone
            && (c.is_alphanumeric() || (start.is_some() && !c.is_ascii() && is_combining_mark(c)))
        {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take() {
            each(start..at);
        }
        if alone {
            each(at..at + c.len_utf8());
        }
    }
    if let Some(start) = start {
        each(start..text.len());
    }
}

/// The words of a text.
pub(crate) fn words(text: &str) -> Vec<String> {
    let (stems, mut words) = (Stems::default(), Vec::new());
    spans(text, |span| words.push(stems.of(&text[span]).into_owned()));
    words
}

/// Marks that are put on Latin letters.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Kana and ideographs.
fn stands_alone(c: char) -> bool {
    matches!(
        c,
        '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2ffff}'
    )
}

/// Whether a word is so frequent that its pairs with others like it are indexed. Without pairs,
/// phrases such as "of the" would be looked for in almost every page.
pub(crate) fn makes_pairs(word: &str) -> bool {
    COMMON.contains(&word) || word.chars().next().is_some_and(stands_alone)
}

/// Translates words of texts to words of the index.
pub(crate) struct Stems {
    stemmer: Stemmer,
}

impl Default for Stems {
    fn default() -> Self {
        Stems { stemmer: Stemmer::create(Algorithm::English) }
    }
}

impl Stems {
    /// The word of the index for a word of a text.
    pub(crate) fn of<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let plain = if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            Cow::Borrowed(word)
        } else {
            Cow::Owned(folded(word))
        };
        let stemmed = plain.len() <= LONGEST_STEMMED
            && !COMMON.contains(&&*plain)
            && plain.bytes().all(|byte| byte.is_ascii_lowercase());
        match stemmed {
            true => Cow::Owned(self.stemmer.stem(&plain).into_owned()),
            false => plain,
        }
    }
}

/// In lower case, without accents on Latin letters.
fn folded(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars().take(LONGEST).filter(|c| !is_accent(*c)) {
        let mut base = c;
        if !c.is_ascii() {
            let mut first = None;
            decompose_canonical(c, |part| {
                first.get_or_insert(part);
            });
            base = first.filter(char::is_ascii_alphabetic).unwrap_or(c);
        }
        out.extend(base.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_readers_see() {
        let check = |text: &str, expect: &[&str]| assert_eq!(words(text), expect, "{text}");
        check("The Oaks, and PINES!", &["the", "oak", "and", "pine"]);
        check("café Ångström e\u{301}clair", &["cafe", "angstrom", "eclair"]);
        check("東京都2の", &["東", "京", "都", "2", "の"]);
        check("Чай и ёж", &["чай", "и", "ёж"]);
        check("re-401 a_b x\u{200b}y", &["re", "401", "a", "b", "x", "y"]);
        check("한국어 हिन्दी", &["한국어", "हिन्दी"]);
        check(" \u{301}…", &[]);
        assert_eq!(words(&"x".repeat(1000))[0].len(), 1000);
        assert_eq!(words(&"X".repeat(1000))[0].len(), LONGEST);
    }

    #[test]
    fn pairs_are_of_words_that_are_everywhere() {
        assert!(makes_pairs("the") && makes_pairs("京") && !makes_pairs("oak"));
    }
}
