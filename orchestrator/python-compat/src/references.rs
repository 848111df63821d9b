//! HTML's character references: the table of names, and the numbers that mean Windows' code page.

use std::collections::HashMap;
use std::sync::LazyLock;

/// No name is longer, without its semicolon.
pub(crate) const LONGEST_NAME: usize = 32;

/// HTML's names, without `&`. Some are there with and without the semicolon.
static NAMES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let names = entities::ENTITIES.iter();
    names.map(|entity| (entity.entity.trim_start_matches('&'), entity.characters)).collect()
});

/// The characters that the numbers 0x80 to 0x9f stand for: those of Windows-1252 where it has some.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
    '\u{8f}', //
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Returns the text of a named reference. Whether the name ends with a semicolon makes a
/// difference.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    NAMES.get(name).copied()
}

/// The character of Windows-1252 that a number between 0x80 and 0x9f stands for.
pub(crate) fn windows_1252(number: u32) -> Option<char> {
    WINDOWS_1252.get(number.checked_sub(0x80)? as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_semicolon_mean_the_same_as_with_one() {
        for (name, characters) in NAMES.iter().filter(|(name, _)| !name.ends_with(';')) {
            assert_eq!(named(&format!("{name};")), Some(*characters), "{name}");
            assert!(name.len() <= LONGEST_NAME, "{name}");
        }
        assert_eq!([named("amp"), named("notin;"), named("notin")], [Some("&"), Some("∉"), None]);
    }

    #[test]
    fn the_code_page_is_where_latin_1_has_controls() {
        assert_eq!(
            [0x7f, 0x80, 0x81, 0x9f, 0xa0].map(windows_1252),
            [None, Some('€'), Some('\u{81}'), Some('Ÿ'), None]
        );
    }
}
