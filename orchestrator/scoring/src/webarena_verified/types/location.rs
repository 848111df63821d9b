//! `LocationName`: names that are similar enough, whatever the order of their words.

use python_compat::Value;
use python_compat::text::{lower, strip};

use super::Normal;
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::is_truthy;

/// Of 100.
const THRESHOLD: f64 = 80.0;
/// Longer texts are no names; comparing them takes the product of their lengths.
const LONGEST: usize = 20_000;

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    match value {
        Value::None => Err(PythonException::new("Value cannot be None")),
        value if !is_truthy(value) => Ok(Normal::Text(String::new())),
        value => Ok(Normal::Text(strip(&lower(&value.to_text())).to_owned())),
    }
}

pub(super) fn similar(one: &Normal, other: &Normal) -> bool {
    let (Normal::Text(one), Normal::Text(other)) = (one, other) else { return false };
    if one.is_empty() || other.is_empty() {
        return one == other;
    }
    token_sort_ratio(&sorted_words(one), &sorted_words(other)).round_ties_even() >= THRESHOLD
}

/// Words of letters and digits, in order.
fn sorted_words(text: &str) -> Vec<char> {
    let processed: String = text
        .chars()
        .filter(|c| !('\u{80}'..='\u{ff}').contains(c))
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let processed = lower(&processed);
    let mut words: Vec<&str> = processed.split_whitespace().collect();
    words.sort_unstable();
    words.join(" ").chars().collect()
}

/// Twice the longest common subsequence over both lengths, in percent.
fn token_sort_ratio(one: &[char], other: &[char]) -> f64 {
    let total = one.len() + other.len();
    if total == 0 {
        return 100.0;
    }
    if total > LONGEST {
        return if one == other { 100.0 } else { 0.0 };
    }
    let mut row = vec![0usize; other.len() + 1];
    for a in one {
        let mut diagonal = 0;
        for (at, b) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    let distance = total - 2 * row[other.len()];
    (1.0 - distance as f64 / total as f64) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_likeness_does() {
        let name = |text: &str| Normal::Text(text.to_owned());
        for (one, other, expect) in [
            ("old mill bakery", "bakery, old mill", true),
            ("old mill bakery", "old mill bakary", true),
            ("old mill bakery", "new mill cafe", false),
            ("", "", true),
            ("", "a", false),
            ("!", "?", true),
        ] {
            assert_eq!(similar(&name(one), &name(other)), expect, "{one} and {other}");
        }
    }
}
