//! Words of a sentence: `NLTKWordTokenizer.tokenize`, pass by pass as the original's lists of
//! expressions.

use crate::character::is_word;
use crate::text::{decimal_digit, is_space};

type Pass = fn(Vec<char>) -> Vec<char>;

const PASSES: [Pass; 5] = [starting_quotes, punctuation, brackets, ending_quotes, contractions];

/// The words of a lower-case sentence.
pub(super) fn words(sentence: &[char]) -> Vec<String> {
    words_by(sentence, needed(sentence))
}

/// Returns which passes can find something. No pass makes what a later one looks for.
fn needed(sentence: &[char]) -> [bool; PASSES.len()] {
    let quoted = sentence.iter().any(|&c| is_quote(c));
    let punctuated = sentence.iter().any(|&c| c == '\'' || is_punctuation(c));
    let contracted = sentence.windows(2).any(|pair| may_contract(pair[0], pair[1]));
    [quoted, punctuated, true, quoted, contracted]
}

fn words_by(sentence: &[char], needed: [bool; PASSES.len()]) -> Vec<String> {
    let passes = PASSES.into_iter().zip(needed).filter(|(_, needed)| *needed);
    let spaced = passes.fold(sentence.to_vec(), |text, (pass, _)| pass(text));
    spaced
        .split(|&c| is_space(c))
        .filter(|word| !word.is_empty())
        .map(|word| word.iter().collect())
        .collect()
}

/// Returns whether `STARTING_QUOTES` and `ENDING_QUOTES` look for the character.
fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`' | '«' | '“' | '‘' | '„' | '»' | '”' | '’')
}

/// Returns whether `PUNCTUATION` looks for the character, but for the apostrophe.
fn is_punctuation(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | ';' | '@' | '#' | '$' | '%' | '&' | '?' | '!' | '*')
}

/// Whether two lower-case characters side by side stand in a word of [`contractions`]; each of them
/// has such a pair.
pub(super) fn may_contract(first: char, second: char) -> bool {
    matches!((first, second), ('n', 'n') | ('m', 'm') | ('t', 't') | ('\'', 'y' | 'n' | 't'))
}

/// A match at a place: the number of characters, and the text that replaces them.
type Replacement = Option<(usize, String)>;

/// `re.sub`: replaces from left to right what is found.
fn replace(text: Vec<char>, find: impl Fn(&[char], usize) -> Replacement) -> Vec<char> {
    // Most passes find nothing.
    let Some(first) = (0..text.len()).find(|&at| find(&text, at).is_some()) else { return text };
    let mut out = Vec::with_capacity(text.len() + 8);
    out.extend_from_slice(&text[..first]);
    let mut at = first;
    while at < text.len() {
        match find(&text, at) {
            Some((length, replacement)) => {
                out.extend(replacement.chars());
                at += length;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Puts spaces around every run that is found, by its length.
fn pad(text: Vec<char>, length: impl Fn(&[char]) -> usize) -> Vec<char> {
    replace(text, |text, at| match length(&text[at..]) {
        0 => None,
        length => Some((length, format!(" {} ", text[at..at + length].iter().collect::<String>()))),
    })
}

/// Puts spaces around every character of a kind.
fn pad_each(text: Vec<char>, is_mark: impl Fn(char) -> bool) -> Vec<char> {
    pad(text, |rest| usize::from(is_mark(rest[0])))
}

fn starts_with(text: &[char], start: &str) -> bool {
    let mut text = text.iter();
    start.chars().all(|c| text.next() == Some(&c))
}

/// The length of a text's start, or 0 where it starts otherwise.
fn length_of(text: &[char], start: &str) -> usize {
    if starts_with(text, start) { start.chars().count() } else { 0 }
}

/// `STARTING_QUOTES`.
fn starting_quotes(text: Vec<char>) -> Vec<char> {
    let text = pad(text, |rest| match rest[0] {
        '«' | '“' | '‘' | '„' => 1,
        _ => rest.iter().take_while(|&&c| c == '`').count(),
    });
    let text = replace(text, |text, at| (at == 0 && text[0] == '"').then(|| (1, "``".to_owned())));
    let text = pad(text, |rest| length_of(rest, "``"));
    let text = replace(text, |text, at| {
        let rest = &text[at + 1..];
        let quote = length_of(rest, "\"").max(length_of(rest, "''"));
        (quote > 0 && " ([{<".contains(text[at])).then(|| (1 + quote, format!("{} `` ", text[at])))
    });
    replace(text, |text, at| {
        let &letter = text.get(at + 1).filter(|&&c| text[at] == '\'' && is_word(c))?;
        let alone = !text.get(at + 2).is_some_and(|&c| is_word(c));
        let is_clitic = "mtsdn".chars().any(|clitic| is_same(clitic, letter));
        (alone && !is_clitic).then(|| (2, format!("' {letter}")))
    })
}

/// `PUNCTUATION`.
fn punctuation(text: Vec<char>) -> Vec<char> {
    let text = split_last_stop(text, "])}>\"'»”’ ", " ");
    let text = replace(text, |text, at| {
        let &next = text.get(at + 1).filter(|&&c| decimal_digit(c).is_none())?;
        matches!(text[at], ':' | ',').then(|| (2, format!(" {} {next}", text[at])))
    });
    let text = replace(text, |text, at| {
        let last = matches!(text[at + 1..], [] | ['\n']);
        (last && matches!(text[at], ':' | ',')).then(|| (1, format!(" {} ", text[at])))
    });
    let text = pad(text, |rest| match rest.iter().take_while(|&&c| c == '.').count() {
        1 => 0,
        dots => dots,
    });
    let text = pad_each(text, |c| matches!(c, ';' | '@' | '#' | '$' | '%' | '&'));
    let text = split_last_stop(text, "])}>\"'", "");
    let text = pad_each(text, |c| matches!(c, '?' | '!'));
    let text = replace(text, |text, at| {
        let quote = text[at] != '\'' && starts_with(&text[at + 1..], "' ");
        quote.then(|| (3, format!("{} ' ", text[at])))
    });
    pad_each(text, |c| c == '*')
}

/// Splits off the full stop at the end, which may have `closers` and white space after it and has
/// no stop before it.
fn split_last_stop(text: Vec<char>, closers: &str, between: &str) -> Vec<char> {
    let Some(stop) = text.iter().rposition(|&c| c == '.') else { return text };
    let after = &text[stop + 1..];
    let (closing, spaces) =
        after.split_at(after.iter().take_while(|&&c| closers.contains(c)).count());
    let is_last = spaces.iter().all(|&c| is_space(c));
    if !is_last || stop == 0 || text[stop - 1] == '.' {
        return text;
    }
    let closing: String = closing.iter().collect();
    let mut out = text[..stop].to_vec();
    out.extend(format!(" .{between}{closing} ").chars());
    out
}

/// `PARENS_BRACKETS` and `DOUBLE_DASHES`, and the spaces around the whole.
fn brackets(text: Vec<char>) -> Vec<char> {
    let text = pad_each(text, |c| matches!(c, ']' | '[' | '(' | ')' | '{' | '}' | '<' | '>'));
    let text = pad(text, |rest| length_of(rest, "--"));
    [&[' '], text.as_slice(), &[' ']].concat()
}

/// `ENDING_QUOTES`.
fn ending_quotes(text: Vec<char>) -> Vec<char> {
    let text = pad_each(text, |c| matches!(c, '»' | '”' | '’'));
    let text = pad(text, |rest| length_of(rest, "''"));
    let text = replace(text, |text, at| (text[at] == '"').then(|| (1, " '' ".to_owned())));
    let text = split_clitics(text, &["'s ", "'m ", "'d ", "' "]);
    split_clitics(text, &["'ll ", "'re ", "'ve ", "n't "])
}

/// Splits a clitic, which a space follows, from what is before it.
fn split_clitics(text: Vec<char>, clitics: &[&str]) -> Vec<char> {
    replace(text, |text, at| {
        let clitic = clitics.iter().find(|clitic| starts_with(&text[at + 1..], clitic))?;
        let length = 1 + clitic.chars().count();
        (!matches!(text[at], '\'' | ' ')).then(|| (length, format!("{} {clitic}", text[at])))
    })
}

/// `CONTRACTIONS2` and `CONTRACTIONS3`: words that are two, in ASCII letters. Those with an
/// apostrophe in front stand after a space.
fn contractions(text: Vec<char>) -> Vec<char> {
    let pairs = [
        ("can", "not"),
        ("d", "'ye"),
        ("gim", "me"),
        ("gon", "na"),
        ("got", "ta"),
        ("lem", "me"),
        ("more", "'n"),
        ("wan", "na"),
        (" 't", "is"),
        (" 't", "was"),
    ];
    pairs.into_iter().fold(text, |text, (first, second)| {
        replace(text, |text, at| {
            let mut letters = first.chars().chain(second.chars());
            let length = first.len() + second.len();
            let found = text.get(at..at + length).filter(|found| {
                found.iter().all(|&c| letters.next().is_some_and(|letter| is_same(letter, c)))
            })?;
            let begins = first.starts_with(' ') || at == 0 || !is_word(text[at - 1]);
            let ends = match text.get(at + length) {
                Some(&c) if first == "wan" => is_space(c),
                Some(&c) => !is_word(c),
                None => first != "wan",
            };
            (begins && ends).then(|| {
                let (first, second) = found.split_at(first.chars().count());
                let text = |part: &[char]| part.iter().collect::<String>();
                (length, format!(" {} {} ", text(first).trim_start_matches(' '), text(second)))
            })
        })
    })
}

/// Whether a lower-case character is a letter, without regard to case: `re` takes the dotless i and
/// the long s for i and s.
fn is_same(letter: char, c: char) -> bool {
    c == letter || matches!((letter, c), ('i', 'ı') | ('s', 'ſ'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts of what passes look for.
    fn sentence() -> impl Strategy<Value = String> {
        let pieces = [
            "cannot", "gonna", "more'n", "d'ye", "'tis", "can't", "gımme", "'", "''", "\"", "`",
            "“", "’", "»", " ", "\n", ".", "..", ",", ":", "?", "$", "*", "--", "-", "(", "]", "<",
            "t", "a", "4", "é", "٣",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..8)
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn passes_that_are_left_out_find_nothing(sentence in sentence()) {
            let sentence: Vec<char> = sentence.chars().collect();
            prop_assert_eq!(words(&sentence), words_by(&sentence, [true; PASSES.len()]));
        }
    }
}
