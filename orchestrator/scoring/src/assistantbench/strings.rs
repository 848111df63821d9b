//! Texts: bags of words aligned as in the DROP benchmark (`evaluate_strings`).

use std::borrow::Cow;

use python_compat::{Value, character, float, text};

use super::align;

/// The words of a text, each once, in order.
type Bag<'a> = Vec<Cow<'a, str>>;

/// `evaluate_strings`: text or lists of text; everything else is compared as Python prints it. A
/// list with something other than text in it scores 0. Two empty lists give NaN.
pub(super) fn evaluate(prediction: &Value, gold: &Value) -> f64 {
    if let (Value::Str(prediction), Value::Str(gold)) = (prediction, gold) {
        // Nothing to align.
        return overlap(&bag(prediction), &bag(gold));
    }
    let (Some(predicted), Some(gold)) = (spans(prediction), spans(gold)) else { return 0.0 };
    let predicted: Vec<Bag<'_>> = predicted.iter().map(|span| bag(span)).collect();
    let row = |gold: &Cow<'_, str>| {
        let gold = bag(gold);
        predicted.iter().map(|predicted| overlap(predicted, &gold)).collect()
    };
    let scores: Vec<Vec<f64>> = gold.iter().map(row).collect();
    align::mean_aligned(&scores, predicted.len())
}

fn spans(answer: &Value) -> Option<Vec<Cow<'_, str>>> {
    match answer {
        Value::Str(text) => Some(vec![text.into()]),
        Value::List(spans) => spans
            .iter()
            .map(|span| if let Value::Str(span) = span { Some(span.into()) } else { None })
            .collect(),
        other => Some(vec![other.to_text().into()]),
    }
}

fn bag(span: &str) -> Bag<'_> {
    let mut words = Vec::new();
    for token in span.split([' ', '-']).filter(|token| !token.is_empty()) {
        match without_articles(normal(token)) {
            Cow::Borrowed(rest) => words.extend(text::split(rest).map(Cow::Borrowed)),
            // Nearly always one word.
            Cow::Owned(rest) if !rest.is_empty() && !rest.contains(text::is_space) => {
                words.push(rest.into())
            }
            Cow::Owned(rest) => words.extend(text::split(&rest).map(|word| word.to_owned().into())),
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// A token in lower case, without ASCII punctuation unless it is a number, and numbers in one
/// spelling.
fn normal(token: &str) -> Cow<'_, str> {
    let lower = text::lower(token);
    if let Some(number) = float::parse(&lower) {
        return float::repr(number).into();
    }
    let is_punctuation = |c: char| c.is_ascii_punctuation();
    if !lower.contains(is_punctuation) {
        return lower;
    }
    let bare = lower.replace(is_punctuation, "");
    float::parse(&bare).map_or(bare, float::repr).into()
}

/// Replaces `a`, `an` and `the` by a space where no letter, digit or underscore touches them.
fn without_articles(token: Cow<'_, str>) -> Cow<'_, str> {
    // Most tokens are one word.
    if token.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return if is_article(&token) { "".into() } else { token };
    }
    let mut kept = String::with_capacity(token.len());
    let mut rest = &*token;
    while let Some(start) = rest.find(character::is_word) {
        let end = rest[start..]
            .find(|c| !character::is_word(c))
            .map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        kept.push_str(&rest[..start]);
        kept.push_str(if is_article(word) { " " } else { word });
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept.into()
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the")
}

/// F1 of two bags; nothing when the gold bag has numbers and the prediction has none of them.
fn overlap(predicted: &Bag<'_>, gold: &Bag<'_>) -> f64 {
    let has = |word: &Cow<'_, str>| predicted.binary_search(word).is_ok();
    let mut numbers = gold.iter().filter(|word| float::parse(word).is_some()).peekable();
    if numbers.peek().is_some() && !numbers.any(has) {
        return 0.0;
    }
    let shared = gold.iter().filter(|word| has(word)).count() as f64;
    let share = |bag: &Bag<'_>| if bag.is_empty() { 1.0 } else { shared / bag.len() as f64 };
    let (precision, recall) = (share(predicted), share(gold));
    if precision == 0.0 && recall == 0.0 {
        0.0
    } else {
        2.0 * precision * recall / (precision + recall)
    }
}
