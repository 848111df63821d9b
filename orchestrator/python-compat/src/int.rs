//! `int(text)`, and how integers compare with floats.

use std::cmp::Ordering;

use super::float::{to_ascii, without_underscores};

/// Longer texts are refused by Python 3.11.
const DIGITS_LIMIT: usize = 4300;

/// An integer of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Int {
    negative: bool,
    /// Decimal, without zeros in front; empty for zero.
    digits: String,
}

impl Int {
    /// `int(text)`: white space around, a sign, digits of any script, `_` between digits.
    pub fn parse(text: &str) -> Option<Int> {
        let ascii = to_ascii(text)?;
        let plain =
            without_underscores(ascii.trim_matches(|c: char| matches!(c, ' ' | '\t'..='\r')))?;
        let digits = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
        let valid = (1..=DIGITS_LIMIT).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit());
        valid.then(|| Int::new(plain.starts_with('-'), digits))
    }

    fn new(negative: bool, digits: &str) -> Int {
        let digits = digits.trim_start_matches('0');
        Int { negative: negative && !digits.is_empty(), digits: digits.to_owned() }
    }

    /// `str(self)`.
    pub fn to_text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        format!("{sign}{digits}")
    }

    /// `float(self)`, rounded to the nearest; nothing where it raises `OverflowError`.
    pub fn to_float(&self) -> Option<f64> {
        self.to_text().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// How it compares with a float, without rounding; nothing for NaN.
    pub fn compare(&self, float: f64) -> Option<Ordering> {
        if !float.is_finite() {
            return 0.0.partial_cmp(&float);
        }
        let floor = float.floor();
        let whole = Int::new(floor < 0.0, &format!("{:.0}", floor.abs()));
        // An integer that equals the whole part lies below whatever has a fraction.
        Some(self.cmp(&whole).then(floor.total_cmp(&float)))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Int) -> Ordering {
        let size = |int: &Int| (int.digits.len(), int.digits.clone());
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_python_reads() {
        for (text, int) in [
            ("7", "7"),
            (" +007\n", "7"),
            ("-0", "0"),
            ("-1_000", "-1000"),
            ("٤٢", "42"),
            ("\u{a0}5", "5"),
            ("99999999999999999999", "99999999999999999999"),
        ] {
            assert_eq!(Int::parse(text).map(|int| int.to_text()).as_deref(), Some(int), "{text:?}");
        }
        for text in
            ["", "+", "7.0", "1e3", "1__0", "_1", "1_", "+_1", "+ 5", "--5", "0x10", "½", "\u{1c}5"]
        {
            assert_eq!(Int::parse(text), None, "{text:?}");
        }
        assert!(Int::parse(&"1".repeat(4300)).is_some() && Int::parse(&"1".repeat(4301)).is_none());
    }

    #[test]
    fn compares_exactly() {
        for (text, float, expect) in [
            ("5", 5.0, Some(Ordering::Equal)),
            ("5", 5.5, Some(Ordering::Less)),
            ("-5", -5.5, Some(Ordering::Greater)),
            ("-6", -5.5, Some(Ordering::Less)),
            ("0", -0.0, Some(Ordering::Equal)),
            ("0", -0.5, Some(Ordering::Greater)),
            ("9007199254740993", 9007199254740992.0, Some(Ordering::Greater)),
            ("9007199254740993", 9007199254740994.0, Some(Ordering::Less)),
            ("5", f64::INFINITY, Some(Ordering::Less)),
            ("5", f64::NEG_INFINITY, Some(Ordering::Greater)),
            ("5", f64::NAN, None),
        ] {
            assert_eq!(
                Int::parse(text).and_then(|int| int.compare(float)),
                expect,
                "{text} {float}"
            );
        }
        assert_eq!(Int::parse(&"9".repeat(400)).and_then(|int| int.to_float()), None);
    }
}
