//! ROUGE-L as in `rouge_score` 0.1.2 with its stemmer: the longest common subsequence of two texts'
//! words.

use std::collections::HashMap;

use python_compat::text::lower;

use super::porter;

/// `RougeScorer(["rougeL"], use_stemmer=True).score(target, prediction)["rougeL"].fmeasure`.
pub(super) fn f_measure(target: &str, prediction: &str) -> f64 {
    let (target, prediction) = (words(target), words(prediction));
    let common = longest_common(&target, &prediction) as f64;
    if common == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (common / prediction.len() as f64, common / target.len() as f64);
    2.0 * precision * recall / (precision + recall)
}

/// `rouge_score.tokenize`: runs of ASCII letters and digits, lower-cased, stemmed from four
/// characters on.
fn words(text: &str) -> Vec<String> {
    let lower = lower(text);
    let runs = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let words = runs.filter(|word| !word.is_empty());
    words.map(|word| if word.len() > 3 { porter::stem(word) } else { word.to_owned() }).collect()
}

/// The length of the longest common subsequence. A row of the usual table is kept as bits, one
/// where it does not grow (Hyyrö's form), so that long texts cost a sixty-fourth of their product.
fn longest_common(a: &[String], b: &[String]) -> usize {
    let blocks = a.len().div_ceil(64);
    let mut places: HashMap<&str, Vec<u64>> = HashMap::new();
    for (at, word) in a.iter().enumerate() {
        places.entry(word).or_insert_with(|| vec![0; blocks])[at / 64] |= 1 << (at % 64);
    }
    let mut row = vec![u64::MAX; blocks];
    for word in b {
        let Some(places) = places.get(word.as_str()) else { continue };
        let mut carry = false;
        for (bits, places) in row.iter_mut().zip(places) {
            let matched = *bits & places;
            let (sum, over) = bits.overflowing_add(matched);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            carry = over || again;
            *bits = sum | (*bits & !matched);
        }
    }
    (0..a.len()).filter(|at| row[at / 64] >> (at % 64) & 1 == 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, prediction: &str, expect: f64) {
        let got = f_measure(target, prediction);
        assert!((got - expect).abs() < 1e-9, "{target:?} {prediction:?}: {got}");
        assert!((f_measure(prediction, target) - got).abs() < 1e-9);
    }

    #[test]
    fn shares_of_words_in_order() {
        check("the red boat", "the boat", 0.8);
        check("sailing boats", "a sailed boat", 0.8);
        check("one two", "two one", 0.5);
        check("", "x", 0.0);
        check("日本", "日本", 0.0);
    }

    #[test]
    fn long_texts_cross_blocks() {
        let text: Vec<String> = (0..200).map(|number| format!("w{number}")).collect();
        let every_other: Vec<String> = text.iter().step_by(2).cloned().collect();
        check(&text.join(" "), &every_other.join(" "), 2.0 / 3.0);
    }
}
