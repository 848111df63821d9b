//! `NumericEvaluator`: whole numbers against inequalities such as `>= 300`.

use std::cmp::Ordering;

use python_compat::float;
use python_compat::int::Int;
use python_compat::text::strip;
use serde_json::Value;

use super::super::ScoreError;
use super::super::webarena::{BAD_VALUE, alternatives};

/// The tolerance by which `<` and `>` hold for equal numbers, too.
const TOLERANCE: f64 = 1e-8;

/// A number to compare with.
pub(super) enum Number {
    Int(Int),
    Float(f64),
}

impl Number {
    fn compare(&self, other: f64) -> Option<Ordering> {
        match self {
            Number::Int(number) => number.compare(other),
            Number::Float(number) => number.partial_cmp(&other),
        }
    }

    fn to_float(&self) -> Option<f64> {
        match self {
            Number::Int(number) => number.to_float(),
            Number::Float(number) => Some(*number),
        }
    }
}

/// Whether every inequality holds in one of its alternatives.
pub(super) fn satisfied(number: &Number, inequalities: &[Value]) -> Result<bool, ScoreError> {
    let mut good = true;
    for inequality in inequalities {
        let held: Vec<bool> =
            alternatives(inequality)?.map(|one| holds(number, one)).collect::<Result<_, _>>()?;
        good &= held.contains(&true);
    }
    Ok(good)
}

/// `str_2_int`: `int` of a text without its commas.
pub(super) fn parse(text: &str) -> Option<Int> {
    Int::parse(&strip(text).replace(',', ""))
}

/// `compare_inequality`. Of the operators the first in this order counts, wherever it stands.
///
/// # Errors
/// Where there is no operator, or not one number beside it; or where the number is too large to be
/// subtracted from.
fn holds(value: &Number, inequality: &str) -> Result<bool, ScoreError> {
    let operators = ["<=", ">=", "==", "<", ">"];
    let operator = operators.into_iter().find(|op| inequality.contains(op)).ok_or(BAD_VALUE)?;
    let parts: Vec<&str> = inequality.split(operator).collect();
    let [_, number] = parts[..] else { return Err(BAD_VALUE) };
    let number = float::parse(strip(number)).ok_or(BAD_VALUE)?;
    Ok(match operator {
        "<=" => matches!(value.compare(number + TOLERANCE), Some(Ordering::Less | Ordering::Equal)),
        ">=" => {
            matches!(value.compare(number - TOLERANCE), Some(Ordering::Greater | Ordering::Equal))
        }
        "<" => value.compare(number + TOLERANCE) == Some(Ordering::Less),
        ">" => value.compare(number - TOLERANCE) == Some(Ordering::Greater),
        _ => {
            let value = value.to_float().ok_or(ScoreError::Raised("OverflowError"))?;
            (value - number).abs() <= TOLERANCE
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, inequality: &str, expect: Result<bool, ScoreError>) {
        let value = parse(value).expect("an integer");
        let text = value.to_text();
        assert_eq!(holds(&Number::Int(value), inequality), expect, "{text} {inequality}");
    }

    #[test]
    fn inequalities_include_their_ends() {
        check("1,000", "< 1000", Ok(true));
        check("1000", ">1000.0", Ok(true));
        check("1001", "<= 1e3", Ok(false));
        check("8", "> 12 and < 9", Ok(true));
        check("8", "5 < 9", Ok(true));
        check("6", "=> 5", Ok(true));
        check("5", "== 5", Ok(true));
        check("5", "= 5", Err(BAD_VALUE));
        check("5", "1 < 5 < 9", Err(BAD_VALUE));
        check("5", "< nan", Ok(false));
        check("5", "< inf", Ok(true));
    }

    #[test]
    fn large_numbers_are_compared_exactly_and_subtracted_as_floats() {
        check("9007199254740993", "> 9007199254740992", Ok(true));
        check("9007199254740993", "== 9007199254740992", Ok(true));
        check(&"9".repeat(400), "> 5", Ok(true));
        check(&"9".repeat(400), "== 5", Err(ScoreError::Raised("OverflowError")));
    }
}
