//! `word2number`: English words for numbers. Other words among them do not matter.

/// The words and their values; `point` has none.
const WORDS: [(&str, i64); 32] = [
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
];

const POINT: i64 = -1;

/// `word_to_num(text)`; nothing where it raises `ValueError`, or anything else.
pub(super) fn parse(text: &str) -> Option<f64> {
    let text = text.replace('-', " ").to_lowercase();
    let value = |word: &str| match word {
        "point" => Some(POINT),
        word => WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value),
    };
    let words: Vec<i64> = text.split_whitespace().filter_map(value).collect();
    let count = |value: i64| words.iter().filter(|word| **word == value).count();
    if words.is_empty()
        || [1_000, 1_000_000, 1_000_000_000, POINT].into_iter().any(|word| count(word) > 1)
    {
        return None;
    }
    let point = words.iter().position(|word| *word == POINT);
    let (whole, decimals) = match point {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (&words[..], &words[..0]),
    };
    let whole = if whole.is_empty() { 0 } else { integer(whole)? };
    Some(whole as f64 + fraction(decimals)?)
}

/// Billions, millions, thousands and the rest, in this order.
fn integer(words: &[i64]) -> Option<i64> {
    if let [only] = words {
        return Some(*only);
    }
    let at = |value: i64| words.iter().position(|word| *word == value);
    let scales =
        [(at(1_000_000_000), 1_000_000_000), (at(1_000_000), 1_000_000), (at(1_000), 1_000)];
    let present: Vec<(usize, i64)> =
        scales.iter().filter_map(|(at, scale)| Some(((*at)?, *scale))).collect();
    if !present.is_sorted() {
        return None;
    }
    let mut sum: i64 = 0;
    let mut start = 0;
    for (at, scale) in present {
        sum = sum.checked_add(below_thousand(&words[start..at])?.checked_mul(scale)?)?;
        start = at + 1;
    }
    if start < words.len() {
        sum = sum.checked_add(below_thousand(&words[start..])?)?;
    }
    Some(sum)
}

/// `number_formation`: up to four words; of more, the first alone counts.
fn below_thousand(words: &[i64]) -> Option<i64> {
    match words {
        [a, b, c, d] => a.checked_mul(*b)?.checked_add(*c)?.checked_add(*d),
        [a, b, c] => a.checked_mul(*b)?.checked_add(*c),
        [a, b] if *a == 100 || *b == 100 => a.checked_mul(*b),
        [a, b] => a.checked_add(*b),
        [first, ..] => Some(*first),
        [] => None,
    }
}

/// Digits behind the point; a word that is no digit makes all of them nothing.
fn fraction(words: &[i64]) -> Option<f64> {
    if words.is_empty() || words.iter().any(|word| !(0..10).contains(word)) {
        return Some(0.0);
    }
    let digits: String = words.iter().map(i64::to_string).collect();
    format!("0.{digits}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_words() {
        for (text, expect) in [
            ("twenty-three", Some(23.0)),
            ("about two million and five thousand", Some(2_005_000.0)),
            ("three hundred and forty two", Some(342.0)),
            ("one point zero five", Some(1.05)),
            ("point five", Some(0.5)),
            ("thousand", Some(1000.0)),
            ("thousand million", None),
            ("two thousand thousand", None),
            ("many", None),
        ] {
            assert_eq!(parse(text), expect, "{text}");
        }
    }
}
