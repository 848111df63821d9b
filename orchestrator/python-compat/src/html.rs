//! `html.unescape`: HTML's character references, decoded once.

use std::borrow::Cow;

use crate::references::{LONGEST_NAME, named, windows_1252};

/// Longer decimal numbers are refused by Python 3.11.
const DIGITS_LIMIT: usize = 4300;

/// `html.unescape(text)`; nothing where it raises `ValueError`, at a decimal number of more than
/// 4,300 digits.
pub fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('&') {
        return Some(text.into());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let used = match rest.strip_prefix('#') {
            Some(number) => decode_number(number, &mut out)?.map(|used| used + 1),
            None => decode_name(rest, &mut out),
        };
        if used.is_none() {
            out.push('&');
        }
        rest = &rest[used.unwrap_or(0)..];
    }
    out.push_str(rest);
    Some(out.into())
}

/// Decodes what follows `&#` and says how long it is; `None` inside when it is no number.
fn decode_number(text: &str, out: &mut String) -> Option<Option<usize>> {
    let (digits, radix) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return Some(None);
    }
    if radix == 10 && length > DIGITS_LIMIT {
        return None;
    }
    // What does not fit is far beyond the last character.
    out.extend(character(u32::from_str_radix(&digits[..length], radix).unwrap_or(u32::MAX)));
    let semicolon = usize::from(digits[length..].starts_with(';'));
    Some(Some(text.len() - digits.len() + length + semicolon))
}

/// The character of a number; nothing for controls and for code points that are no characters.
fn character(number: u32) -> Option<char> {
    match number {
        0 => Some(char::REPLACEMENT_CHARACTER),
        0x0d => Some('\r'),
        0x80..=0x9f => windows_1252(number),
        1..=8 | 0x0b | 0x0e..=0x1f | 0x7f | 0xfdd0..=0xfdef => None,
        _ if number <= 0x10_ffff && number & 0xfffe == 0xfffe => None,
        _ => Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

/// Decodes the longest name that follows `&` and says how long it is.
fn decode_name(text: &str, out: &mut String) -> Option<usize> {
    let is_part = |c: char| !matches!(c, '\t' | '\n' | '\u{c}' | ' ' | '<' | '&' | '#' | ';');
    let run = text.char_indices().take(LONGEST_NAME).take_while(|&(_, c)| is_part(c));
    let ends: Vec<usize> = run.map(|(at, c)| at + c.len_utf8()).collect();
    let end = *ends.last()?;
    let with_semicolon = text[end..].starts_with(';').then_some(end + 1);
    // All names have two characters or more; one is taken only with what follows it.
    let shorter = ends.iter().rev().copied().take_while(|&end| end > ends[0]);
    let (end, characters) = with_semicolon
        .into_iter()
        .chain(shorter)
        .find_map(|end| Some((end, named(&text[..end])?)))?;
    out.push_str(characters);
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_as_python_does() {
        for (text, expect) in [
            ("a &lt; b &amp;amp; c &", "a < b &amp; c &"),
            ("&ltx &notit; &notin; &NotExists &nosuch; &;", "<x ¬it; ∉ &NotExists &nosuch; &;"),
            ("&&amp;&#38;&#x26;&#X26 &#;&#x;&#xg", "&&&&& &#;&#x;&#xg"),
            ("&#128;&#0;&#1;&#13;&#127;&#xfffe;&#xfdd0;|", "€\u{fffd}\r|"),
            ("&#xd800;&#1114112;&#99999999999;&#x10ffff;", "\u{fffd}\u{fffd}\u{fffd}"),
            ("&nbsp;&NotEqualTilde;&acE;", "\u{a0}≂̸∾̳"),
            ("&amp\u{301}é;", "&\u{301}é;"),
            ("&CounterClockwiseContourIntegral;", "∳"),
        ] {
            assert_eq!(unescape(text).as_deref(), Some(expect), "{text}");
        }
        assert_eq!(unescape(&format!("&#{};", "1".repeat(4301))), None);
        assert_eq!(unescape(&format!("&#x{};", "1".repeat(5000))).as_deref(), Some("\u{fffd}"));
    }
}
