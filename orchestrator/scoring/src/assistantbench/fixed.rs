//! The same without `assistantbench-comma`, `-negative` and `-raise` of
//! [`MENDED`](super::super::mode::MENDED).

use python_compat::{float, json};

use super::{Answered, number, question_scorer};

/// Scores a prediction as [`question_scorer`] should.
pub fn question_scorer_fixed(prediction: &str, gold: &str) -> Answered {
    let (prediction, gold) = (ungrouped(prediction), ungrouped(gold));
    if let (Some(a), Some(b)) = (size_of_negative(&prediction), size_of_negative(&gold)) {
        return Answered { accuracy: number::closeness(a, b), has_answer: true };
    }
    match question_scorer(&prediction, &gold) {
        Ok(answered) => Answered { accuracy: answered.accuracy.min(1.0), ..answered },
        Err(_) => {
            let blank = matches!(prediction.trim(), "" | "{}" | "[]" | "[{}]" | "null");
            Answered { accuracy: 0.0, has_answer: !blank }
        }
    }
}

fn size_of_negative(text: &str) -> Option<f64> {
    float::parse(text).filter(|number| *number < 0.0).map(|number| -number)
}

/// `1,234,567` is a number of seven digits. What is JSON has commas of its own and stays.
fn ungrouped(text: &str) -> String {
    if json::parse(text).is_some() {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let digits_before = text[..at].chars().rev().take_while(char::is_ascii_digit).count();
        let after = &text[at + character.len_utf8()..];
        let digits_after = after.chars().take_while(char::is_ascii_digit).count();
        let in_a_group =
            plain.ends_with(|last: char| last.is_ascii_digit()) && (1..=3).contains(&digits_before);
        if !(character == ',' && in_a_group && digits_after == 3) {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prediction: &str, gold: &str, expect: f64) {
        let found = question_scorer_fixed(prediction, gold).accuracy;
        assert!((found - expect).abs() < 1e-9, "{prediction} of {gold}: {found}");
    }

    #[test]
    fn what_is_named_is_mended() {
        check("1,000", "1000", 1.0);
        check("$1,234,567.50", "1234567.5", 1.0);
        check("1,5", "1.5", 1.0);
        check(
            "[1, 234]",
            "1\n234",
            question_scorer("[1, 234]", "1\n234").map_or(0.0, |found| found.accuracy),
        );
        check("-5", "-5", 1.0);
        check("-4", "-5", 1.0 - (5.0_f64 / 4.0).ln());
        check("-4", "5", 0.0);
        check("{}", "{\"a\": 1}", 0.0);
        check("true", "5", 0.0);
        check("Alton", "alton", 1.0);
        assert!(!question_scorer_fixed("{}", "{\"a\": 1}").has_answer);
        for text in ["1,0000", "12,34", "a,100", "1234,567"] {
            assert_eq!(ungrouped(text), text);
        }
    }
}
