//! `StringEvaluator.clean_answer`, and the comparisons of two texts that go through it.

use std::borrow::Cow;

use python_compat::text::{lower, strip};

/// `clean_answer`: without white space around and one pair of quotes, in lower case.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    without_quotes(strip(text))
}

/// One pair of quotes at the very ends goes, and capitals do. A single quotation mark is a pair.
pub(crate) fn without_quotes(text: &str) -> Cow<'_, str> {
    let inside = ['\'', '"'].into_iter().find_map(|quote| {
        let rest = text.strip_prefix(quote).filter(|_| text.ends_with(quote))?;
        Some(rest.strip_suffix(quote).unwrap_or(rest))
    });
    lower(inside.unwrap_or(text))
}

/// `exact_match`.
pub(super) fn equals(reference: &str, text: &str) -> bool {
    clean(text) == clean(reference)
}

/// `must_include` without splitting into words.
pub(super) fn includes(reference: &str, text: &str) -> bool {
    clean(text).contains(&*clean(reference))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_come_off_in_pairs() {
        for (text, expect) in [
            (" 'Ab' ", "ab"),
            ("\"'x'\"", "'x'"),
            ("'x\"", "'x\""),
            ("'", ""),
            ("''", ""),
            ("'''", "'"),
            ("", ""),
            ("\u{a0}\u{1c}X\u{3000}", "x"),
            ("\u{200b}X", "\u{200b}x"),
            ("' x '", " x "),
        ] {
            assert_eq!(clean(text), expect, "{text:?}");
        }
        assert_eq!(without_quotes(" 'X'"), " 'x'");
    }
}
