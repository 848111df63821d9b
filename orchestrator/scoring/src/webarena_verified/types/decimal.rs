//! `decimal.Decimal`, as far as amounts and distances need it.

use std::cmp::Ordering;

use python_compat::float;

/// A decimal number, or what a float may be besides.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::webarena_verified) enum Decimal {
    Finite {
        negative: bool,
        /// At least one digit.
        digits: String,
        exponent: i64,
    },
    Infinite {
        negative: bool,
    },
    NotANumber,
}

/// Digits behind the point when numbers are compared.
const SCALE: i64 = 20;
/// Digits before the point that can be compared exactly.
const EXACT_DIGITS: i64 = 16;

impl Decimal {
    /// `Decimal(str(number))`.
    pub(super) fn of_float(number: f64) -> Decimal {
        if number.is_nan() {
            return Decimal::NotANumber;
        }
        if number.is_infinite() {
            return Decimal::Infinite { negative: number < 0.0 };
        }
        Decimal::parse(&float::repr(number)).unwrap_or(Decimal::NotANumber)
    }

    /// Digits with a point and an exponent.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let exponent =
            exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let significant = digits.trim_start_matches('0');
        let digits = if significant.is_empty() { "0" } else { significant };
        Some(Decimal::Finite { negative, digits: digits.to_owned(), exponent })
    }

    /// `-self`: zero has no sign.
    pub(super) fn negated(self) -> Decimal {
        match self {
            Decimal::Finite { negative, digits, exponent } => {
                Decimal::Finite { negative: !negative && digits != "0", digits, exponent }
            }
            Decimal::Infinite { negative } => Decimal::Infinite { negative: !negative },
            Decimal::NotANumber => Decimal::NotANumber,
        }
    }

    /// `self == other`.
    pub(super) fn same(&self, other: &Decimal) -> bool {
        let reduced = |decimal: &Decimal| match decimal {
            Decimal::Finite { negative, digits, exponent } => {
                let short = digits.trim_end_matches('0');
                let zeros = i64::try_from(digits.len() - short.len()).unwrap_or(0);
                if short.is_empty() {
                    Some((false, String::new(), 0))
                } else {
                    Some((*negative, short.to_owned(), exponent + zeros))
                }
            }
            _ => None,
        };
        match (self, other) {
            (Decimal::Infinite { negative: one }, Decimal::Infinite { negative: other }) => {
                one == other
            }
            _ => reduced(self).is_some() && reduced(self) == reduced(other),
        }
    }

    pub(super) fn to_float(&self) -> f64 {
        match self {
            Decimal::Finite { negative, digits, exponent } => {
                let number: f64 = format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN);
                if *negative { -number } else { number }
            }
            Decimal::Infinite { negative } => {
                if *negative {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Decimal::NotANumber => f64::NAN,
        }
    }

    /// In units of 1e-20, where it fits.
    pub(super) fn scaled(&self) -> Option<i128> {
        let Decimal::Finite { negative, digits, exponent } = self else { return None };
        let shift = exponent + SCALE;
        let length = i64::try_from(digits.len()).ok()?;
        if digits == "0" {
            return Some(0);
        }
        if length + exponent > EXACT_DIGITS || shift < 0 {
            return None;
        }
        let number: i128 = digits.parse().ok()?;
        let number = number.checked_mul(10i128.checked_pow(u32::try_from(shift).ok()?)?)?;
        Some(if *negative { -number } else { number })
    }

    /// `str(self)`.
    pub(in crate::webarena_verified) fn to_text(&self) -> String {
        match self {
            Decimal::NotANumber => "NaN".to_owned(),
            Decimal::Infinite { negative } => {
                if *negative { "-Infinity" } else { "Infinity" }.to_owned()
            }
            Decimal::Finite { negative, digits, exponent } => {
                let sign = if *negative { "-" } else { "" };
                format!("{sign}{}", plain_or_scientific(digits, *exponent))
            }
        }
    }
}

fn plain_or_scientific(digits: &str, exponent: i64) -> String {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    // Where the point stands among the digits.
    let point = length.saturating_add(exponent);
    if exponent <= 0 && point > -6 {
        let zeros = usize::try_from(1 - point).unwrap_or(0);
        let padded = format!("{}{digits}", "0".repeat(zeros));
        let (whole, fraction) =
            padded.split_at(usize::try_from(point.max(1)).unwrap_or(padded.len()));
        return if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{first}{dot}{rest}E{:+}", point - 1)
}

/// Whether two numbers differ by no more than `tolerance`, in units of 1e-20.
pub(super) fn within(one: &Decimal, other: &Decimal, tolerance: i128) -> bool {
    match (one.scaled(), other.scaled()) {
        (Some(one), Some(other)) => (one - other).abs() <= tolerance,
        _ => {
            let difference = (one.to_float() - other.to_float()).abs();
            difference.partial_cmp(&(tolerance as f64 * 1e-20)).is_some_and(Ordering::is_le)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_spelt_as_in_python() {
        for (number, expect) in [
            (914_000.0, "914000.0"),
            (0.304_799_999_999_999_96, "0.30479999999999996"),
            (4.730_365_236_290_4e16, "4.7303652362904E+16"),
            (1e16, "1E+16"),
            (5e-12, "5E-12"),
            (4.999_999_999_999_999_6e-6, "0.0000049999999999999996"),
            (-0.5, "-0.5"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(Decimal::of_float(number).to_text(), expect);
        }
    }

    #[test]
    fn compares_exactly() {
        let tenth = 10_000_000_000_000_000_000;
        let decimal = |text: &str| Decimal::parse(text).expect("a decimal");
        assert!(within(&decimal("10.2"), &decimal("10.1"), tenth));
        assert!(!within(&decimal("10.2000001"), &decimal("10.1"), tenth));
        assert!(decimal("10.50").same(&decimal("1.05e1")) && !decimal("1").same(&decimal("-1")));
    }
}
