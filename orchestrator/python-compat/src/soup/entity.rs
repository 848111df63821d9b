//! Character references in text, as BeautifulSoup decodes them.

use crate::references;

/// Longer decimal numbers are refused by Python 3.11.
const DIGITS_LIMIT: usize = 4300;

/// Returns the text of `&name` and `&name;`.
pub(super) fn named(name: &str) -> Option<&'static str> {
    references::named(name).or_else(|| references::named(&format!("{name};")))
}

/// `UnicodeDammit.numeric_character_reference`; nothing where Python raises `ValueError`.
pub(super) fn number(digits: &str, radix: u32) -> Option<char> {
    if radix == 10 && digits.len() > DIGITS_LIMIT {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).unwrap_or(u32::MAX);
    let character = match code {
        0 => None,
        0x80..=0x9f => references::windows_1252(code),
        _ => char::from_u32(code),
    };
    Some(character.unwrap_or(char::REPLACEMENT_CHARACTER))
}
