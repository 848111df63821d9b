//! `unidecode` in lower case: text in ASCII letters.
//!
//! A crate of the same ancestry does the work. Where Unidecode 1.4 knows nothing of a character, or
//! spells it otherwise, is listed in `ascii_tables`.

use deunicode::deunicode_char;

use super::ascii_tables::{OTHERWISE, UNKNOWN};

/// `unidecode(text)` in lower case, with what stays beyond ASCII left out.
pub fn lower_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else {
            spell(c, &mut out);
        }
    }
    out
}

fn spell(c: char, out: &mut String) {
    let code = u32::from(c);
    if (0x2840..0x2900).contains(&code) {
        // Braille is spelt by its dots.
        out.push_str("[d");
        out.extend((0..8u8).filter(|dot| code >> dot & 1 == 1).map(|dot| char::from(b'1' + dot)));
        out.push(']');
        return;
    }
    if let Ok(at) = OTHERWISE.binary_search_by_key(&c, |(c, _)| *c) {
        return out.push_str(OTHERWISE[at].1);
    }
    let next = UNKNOWN.partition_point(|(first, _)| *first <= code);
    let unknown = next.checked_sub(1).is_some_and(|at| code <= UNKNOWN[at].1);
    if !unknown {
        let spelt = deunicode_char(c).unwrap_or_default();
        out.extend(spelt.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_in_ascii() {
        for (text, expect) in [
            ("É\u{142}\u{f0}", "eld"),
            ("\u{20ac}5 \u{b0}", "eur5 deg"),
            ("\u{4e2d}\u{6587}", "zhong wen "),
            ("\u{2603}\u{1f600}\u{2200}", ""),
            ("\u{2845}", "[d137]"),
            ("\u{20bd}", "r"),
        ] {
            assert_eq!(lower_ascii(text), expect, "{text:?}");
        }
    }
}
