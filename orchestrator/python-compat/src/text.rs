//! Methods of `str`.

use std::borrow::Cow;

use super::character::is_new_capital;

/// `c.isspace()`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// `text.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text.split()`.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `text.isnumeric()`.
pub fn is_numeric(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_numeric() || IDEOGRAPHIC_NUMBERS.contains(c))
}

/// `text.replace(from, to)`.
pub fn replace<'a>(text: Cow<'a, str>, from: &str, to: &str) -> Cow<'a, str> {
    if text.contains(from) { text.replace(from, to).into() } else { text }
}

/// `text.lower()`, but for a capital sigma at the end of a word beside a character whose case has
/// changed since Unicode 14, such as U+0295.
pub fn lower(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_lower = !text.bytes().any(|b| b.is_ascii_uppercase());
        return if is_lower { text.into() } else { text.to_ascii_lowercase().into() };
    }
    // A capital sigma looks at the letters around it, and a character without case ends its word
    // like an end of text.
    text.split_inclusive(is_new_capital)
        .map(|part| match part.strip_suffix(is_new_capital) {
            Some(old) => old.to_lowercase() + &part[old.len()..],
            None => part.to_lowercase(),
        })
        .collect()
}

/// The ASCII digit that `c` stands for, when it is a decimal digit of any script.
pub fn decimal_digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let zero = ZEROS[..ZEROS.partition_point(|&zero| zero <= code)].last()?;
    // The mathematical digits are five alphabets of ten in a row.
    let run = if *zero == 0x1d7ce { 50 } else { 10 };
    let value = code - zero;
    if value < run { char::from_digit(value % 10, 10) } else { None }
}

/// The zero of each run of decimal digits (Unicode 14, as in Python 3.11).
const ZEROS: [u32; 62] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Ideographs with a numeric value, which are letters by category.
const IDEOGRAPHIC_NUMBERS: &str = concat!(
    "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁",
    "参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零",
    "\u{f96b}\u{f973}\u{f978}\u{f9b2}\u{f9d1}\u{f9d3}\u{f9fd}\u{20001}",
    "\u{20064}\u{200e2}\u{20121}\u{2092a}\u{20983}\u{2098c}\u{2099c}\u{20aea}",
    "\u{20afd}\u{20b19}\u{22390}\u{22998}\u{23b1b}\u{2626d}\u{2f890}",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowers_as_python_does() {
        for (text, expect) in
            [("ΟΔΟΣ ΣΑ Σ", "οδος σα σ"), ("İẞǅ", "i̇ßǆ"), ("ΑΣ\u{1c89}Σ", "ας\u{1c89}σ")]
        {
            assert_eq!(lower(text), expect);
        }
    }

    #[test]
    fn knows_digits_and_numbers_of_other_scripts() {
        assert_eq!(decimal_digit('٣'), Some('3'));
        assert_eq!(decimal_digit('\u{1d7ff}'), Some('9'));
        assert_eq!(decimal_digit('\u{1d800}'), None);
        assert_eq!(decimal_digit('½'), None);
        assert!(is_numeric("½") && is_numeric("五") && is_numeric("12"));
        assert!(!is_numeric("") && !is_numeric("1.5") && !is_numeric("字"));
    }
}
