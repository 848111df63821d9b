//! The search over articles.
//!
//! A phrase in double quotes counts 1000 in a title and 500 in a text. Words count by how rare they
//! are, always less than a phrase does.

use std::collections::{BTreeMap, BTreeSet};

const PHRASE_IN_TITLE: f64 = 1000.0;
const PHRASE_IN_TEXT: f64 = 500.0;
/// What all words together count at most.
const WORDS: f64 = 400.0;
/// How many times as much a word counts in a title.
const TITLE: f64 = 3.0;
/// Elements whose ends are not the ends of words.
const INLINE: &[&str] =
    &["a", "abbr", "b", "code", "em", "font", "i", "mark", "s", "small", "span", "strong", "u"];

/// What is searched of an article.
pub(super) struct Text {
    pub(super) title: String,
    /// Without markup.
    pub(super) text: String,
}

/// Articles, ready to be searched.
pub(super) struct Library {
    texts: Vec<Text>,
    /// Titles and texts in small letters, of the same lengths.
    small: Vec<(String, String)>,
}

impl Library {
    pub(super) fn new(texts: Vec<Text>) -> Library {
        let small = |text: &Text| (text.title.to_ascii_lowercase(), text.text.to_ascii_lowercase());
        let small = texts.iter().map(small).collect();
        Library { texts, small }
    }

    /// The indices of what is found, the best first; of the same score the first. A query without
    /// words finds all.
    pub(super) fn search(&self, query: &str) -> Vec<usize> {
        let (phrases, words) = (phrases(query), words(query));
        if words.is_empty() {
            return (0..self.texts.len()).collect();
        }
        let counts: Vec<[BTreeMap<&str, usize>; 2]> =
            self.small.iter().map(|(title, text)| [count(title), count(text)]).collect();
        let rarity = |word: &str| {
            let has =
                |one: &&[BTreeMap<&str, usize>; 2]| one.iter().any(|it| it.contains_key(word));
            let number = counts.iter().filter(has).count().max(1);
            (1.0 + self.texts.len() as f64 / number as f64).ln()
        };
        let words: Vec<(&str, f64)> =
            words.iter().map(|word| (word.as_str(), rarity(word))).collect();
        let mut found = Vec::new();
        for (index, ((title, text), [in_title, in_text])) in
            self.small.iter().zip(&counts).enumerate()
        {
            let mut score = 0.0;
            for phrase in &phrases {
                score += if title.contains(phrase) { PHRASE_IN_TITLE } else { 0.0 };
                score += if text.contains(phrase) { PHRASE_IN_TEXT } else { 0.0 };
            }
            let word_score = words.iter().map(|(word, rarity)| {
                let of_title = if in_title.contains_key(word) { TITLE } else { 0.0 };
                let of_text = in_text.get(word).map_or(0.0, |count| 1.0 + (*count as f64).ln());
                rarity * (of_title + of_text)
            });
            score += word_score.sum::<f64>().min(WORDS);
            if score > 0.0 {
                found.push((index, score));
            }
        }
        found.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        found.into_iter().map(|(index, _)| index).collect()
    }

    /// The part of a text around the first phrase or word of the query, of about this length.
    pub(super) fn snippet(&self, index: usize, query: &str, length: usize) -> String {
        let (text, small) = (&self.texts[index].text, &self.small[index].1);
        let wanted = phrases(query).into_iter().chain(words(query));
        let at = wanted.filter_map(|one| small.find(&one)).next().unwrap_or(0);
        let begin = text[..at].char_indices().rev().nth(length / 4).map_or(0, |(begin, _)| begin);
        // It begins with a whole word.
        let begin = match begin {
            0 => 0,
            _ => text[begin..at].find(' ').map_or(begin, |blank| begin + blank + 1),
        };
        let rest = &text[begin..];
        let (end, after) = match rest.char_indices().nth(length) {
            Some((end, _)) => (rest[..end].rfind(' ').unwrap_or(end), "…"),
            None => (rest.len(), ""),
        };
        format!("{}{}{after}", if begin > 0 { "…" } else { "" }, rest[..end].trim())
    }
}

/// The parts of a query in double quotes.
fn phrases(query: &str) -> Vec<String> {
    let quoted = query.split('"').skip(1).step_by(2);
    let phrases = quoted.map(|part| joined(&part.to_ascii_lowercase()));
    phrases.filter(|phrase| !phrase.is_empty()).collect()
}

/// The words of a query, each once.
fn words(query: &str) -> BTreeSet<String> {
    count(&query.to_ascii_lowercase()).into_keys().map(str::to_owned).collect()
}

fn count(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

/// One blank between words.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of HTML.
pub(super) fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('>') else {
            rest = &rest[open..];
            break;
        };
        let tag = rest[open + 1..open + close].trim_start_matches('/');
        let name = tag.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        if !INLINE.contains(&name.to_ascii_lowercase().as_str()) {
            text.push(' ');
        }
        rest = &rest[open + close + 1..];
    }
    text.push_str(rest);
    joined(&entities(&text))
}

/// Replaces the references to characters that texts of articles have.
fn entities(text: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        replaced.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.char_indices().take(10).find(|(_, letter)| *letter == ';');
        let character = end.and_then(|(end, _)| Some((end, character(&rest[1..end])?)));
        match character {
            Some((end, character)) => {
                replaced.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                replaced.push('&');
                rest = &rest[1..];
            }
        }
    }
    replaced.push_str(rest);
    replaced
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        "rsquo" => Some('’'),
        "lsquo" => Some('‘'),
        "ldquo" => Some('“'),
        "rdquo" => Some('”'),
        "ndash" => Some('–'),
        "mdash" => Some('—'),
        "hellip" => Some('…'),
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Library, Text, plain};

    fn library() -> Library {
        let text =
            |title: &str, text: &str| Text { title: title.to_owned(), text: text.to_owned() };
        Library::new(vec![
            text(
                "Article 1",
                "The printer of the office is on the ground floor. Printer, printer!",
            ),
            text("Article 2", "Ask for the office printer at the desk."),
            text("The office printer", "Where to find paper."),
            text("Article 4", "Lunch is at noon."),
        ])
    }

    #[test]
    fn a_phrase_goes_before_words_and_a_title_before_a_text() {
        let library = library();
        assert_eq!(library.search("\"office printer\""), [2, 1, 0]);
        assert_eq!(library.search("LUNCH"), [3]);
        assert_eq!(library.search("nothing of that"), [0]);
        assert_eq!(library.search("zebra"), [] as [usize; 0]);
        assert_eq!(library.search("  "), [0, 1, 2, 3]);
        assert_eq!(library.search("\""), [0, 1, 2, 3]);
    }

    #[test]
    fn a_snippet_is_around_what_was_found() {
        let long = format!("{} needle {}", "hay ".repeat(90), "straw ".repeat(90));
        let library = Library::new(vec![Text { title: String::new(), text: long }]);
        let snippet = library.snippet(0, "needle", 60);
        assert!(snippet.starts_with("…hay") && snippet.ends_with("straw…"), "{snippet}");
        assert!(snippet.contains("needle"));
        assert!(library.snippet(0, "none", 60).starts_with("hay"));
    }

    #[test]
    fn text_of_html() {
        let cases = [
            ("<h2>Title</h2><p>One <em>two</em>, th<b>ree</b>.</p>", "Title One two, three."),
            ("a &amp; b&#39;s &#x41; &unknown; & c", "a & b's A &unknown; & c"),
            ("x < y", "x < y"),
            ("<p>é&nbsp;è</p>\n\n<p>z</p>", "é è z"),
        ];
        for (html, text) in cases {
            assert_eq!(plain(html), text, "{html}");
        }
    }
}
