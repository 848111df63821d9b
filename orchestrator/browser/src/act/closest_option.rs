//! Selects the option whose label is most like a text. Agents that have not seen the options guess
//! at them.
//!
//! The measure is Python's `difflib.SequenceMatcher(None, label, text).ratio()`, which WebCanvas
//! and SeeAct use, without its shortcut for texts of 200 characters or more.

use serde_json::{Value, json};

use crate::act::element::ElementHandle;
use crate::cdp::tracker::Page;
use crate::{ActionError, Session};

/// Only the beginnings of longer labels are compared.
const LONGEST: usize = 500;

/// The labels of all options, or why there are none.
const LABELS: &str = "function() {
    const element = this.localName === 'label' && this.control ? this.control : this;
    if (element.localName !== 'select') return `a <${element.localName}> has no options`;
    return [...element.options].map(option => option.label.trim());
}";

impl Session {
    /// Selects one option and returns its label.
    pub(crate) async fn select_closest_option(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        text: &str,
    ) -> Result<String, ActionError> {
        let unfit =
            |reason: &str| ActionError::Unfit { bid: bid.to_owned(), reason: reason.to_owned() };
        let labels = match self.call_on(page, element, LABELS, json!([])).await? {
            Value::Array(labels) => labels,
            Value::String(reason) => return Err(unfit(&reason)),
            _ => Vec::new(),
        };
        let labels: Vec<&str> = labels.iter().filter_map(Value::as_str).collect();
        let index = closest(&labels, text).ok_or_else(|| unfit("it has no options"))?;
        self.select_options(page, bid, element, json!([index])).await?;
        Ok(labels[index].to_owned())
    }
}

/// The first of the labels that are most like the text.
fn closest(labels: &[&str], text: &str) -> Option<usize> {
    let mut best = None;
    for (index, label) in labels.iter().enumerate() {
        let likeness = ratio(label, text);
        if best.is_none_or(|(_, most)| likeness > most) {
            best = Some((index, likeness));
        }
    }
    best.map(|(index, _)| index)
}

/// Twice the number of matching characters, divided by the number of all.
fn ratio(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let all = a.len() + b.len();
    if all == 0 {
        return 1.0;
    }
    let mut matching = 0;
    let mut rest = vec![(&*a, &*b)];
    while let Some((a, b)) = rest.pop() {
        let (i, j, length) = longest_block(a, b);
        if length > 0 {
            matching += length;
            rest.push((&a[..i], &b[..j]));
            rest.push((&a[i + length..], &b[j + length..]));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a thousand at most")]
    let ratio = (2 * matching) as f64 / all as f64;
    ratio
}

/// The longest common run: its start in each text, the earliest of several, and its length.
fn longest_block(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    // The length of the run that ends at each position of `b` and at the present one of `a`.
    let mut ending = vec![0; b.len()];
    for (i, c) in a.iter().enumerate() {
        let mut before = 0;
        for (j, d) in b.iter().enumerate() {
            let length = if c == d { before + 1 } else { 0 };
            before = std::mem::replace(&mut ending[j], length);
            if length > best.2 {
                best = (i + 1 - length, j + 1 - length, length);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Python 3.11.
    #[test]
    fn likeness_is_pythons() {
        for (a, b, expected) in RATIOS {
            assert!((ratio(a, b) - expected).abs() < 1e-12, "{a} {b}: {}", ratio(a, b));
        }
    }

    const RATIOS: &[(&str, &str, f64)] = &[
        ("", "", 1.0),
        ("a", "", 0.0),
        ("abcd", "bcde", 0.75),
        ("Price: Low to High", "low to high", 0.6206896551724138),
        ("Select a size", "Large", 0.1111111111111111),
        ("Large", "large (L)", 0.5714285714285714),
        (
            "private Thread currentThread;",
            "private volatile Thread currentThread;",
            0.8656716417910447,
        ),
        ("aabbaabb", "abab", 0.6666666666666666),
        ("naïve café", "cafe naive", 0.3),
        ("10:30 AM", "10.30am", 0.5333333333333333),
    ];

    #[test]
    fn the_first_of_the_best_is_taken() {
        assert_eq!(
            closest(&["Price: High to Low", "Price: Low to High", "Newest"], "low to high"),
            Some(1)
        );
        assert_eq!(closest(&["x", "y"], "z"), Some(0));
        assert_eq!(closest(&[], "z"), None);
    }
}
