//! `float(text)` and `repr(float)`.

use std::borrow::Cow;

use super::text;

/// `float(text)`: white space around, digits of any script, `_` between digits, `inf` and `nan`.
pub fn parse(text: &str) -> Option<f64> {
    if begins_otherwise(text.trim_start()) {
        return None;
    }
    let ascii = to_ascii(text)?;
    let body = ascii.trim_matches(|c: char| matches!(c, ' ' | '\t'..='\r'));
    let digits = without_underscores(body)?;
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
    let starts_well = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_word = ["inf", "infinity", "nan"].iter().any(|word| unsigned.eq_ignore_ascii_case(word));
    if starts_well || is_word { digits.parse().ok() } else { None }
}

/// Whether a text begins with an ASCII character that no number begins with, as most texts do; that
/// is quickly seen.
pub fn begins_otherwise(text: &str) -> bool {
    let begins =
        |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'i' | 'I' | 'n' | 'N');
    text.starts_with(|c: char| c.is_ascii_graphic() && !begins(c))
}

/// Other scripts' decimal digits become ASCII, and other spaces a space. Text that is ASCII already
/// stays as it is, which is why the separators U+001C to U+001F are white space only in company.
pub(super) fn to_ascii(text: &str) -> Option<Cow<'_, str>> {
    if text.is_ascii() {
        return Some(text.into());
    }
    let ascii = text.chars().map(|c| match c {
        c if c.is_ascii() => Some(c),
        c if text::is_space(c) => Some(' '),
        c => text::decimal_digit(c),
    });
    ascii.collect::<Option<String>>().map(Cow::Owned)
}

/// An underscore is allowed only with a digit on both sides.
pub(super) fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(text.into());
    }
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let lonely = |(at, _): (usize, &str)| !is_digit(at.checked_sub(1)) || !is_digit(Some(at + 1));
    if text.match_indices('_').any(lonely) { None } else { Some(text.replace('_', "").into()) }
}

/// `repr(number)`: the shortest digits that read back the same, with an exponent below 1e-4 and
/// from 1e16.
pub fn repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Rust takes an exponent where Python does, and writes it without a sign and a leading zero.
    let rust = format!("{number:?}");
    let Some((mantissa, exponent)) = rust.split_once('e') else { return rust };
    let (sign, exponent) =
        exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_python_reads() {
        for (text, number) in [
            (" 5 ", 5.0),
            ("\u{a0}5\u{85}", 5.0),
            ("٣.٥", 3.5),
            ("1_0", 10.0),
            ("1e1_0", 1e10),
            (".5", 0.5),
            ("5.", 5.0),
            ("+iNf", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
            ("𝟓", 5.0),
        ] {
            assert_eq!(parse(text), Some(number), "{text:?}");
        }
        assert!(parse("-NaN").is_some_and(f64::is_nan));
        for text in [
            "",
            ".",
            "1e",
            "_1",
            "1__0",
            "1_.5",
            "0x10",
            "5\u{200b}",
            "\u{1c}5",
            "\u{1c}5\u{a0}",
            "+-5",
            "infin",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn writes_what_python_writes() {
        for (number, text) in [
            (5.0, "5.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e200, "1.25e+200"),
            (123_456.789, "123456.789"),
        ] {
            assert_eq!(repr(number), text);
        }
    }
}
