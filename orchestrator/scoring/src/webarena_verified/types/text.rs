//! Texts: how they are cleaned before any type reads them, and `NormalizedString`.

use std::sync::LazyLock;

use python_compat::pattern::{Flags, Pattern};
use python_compat::text::{lower, strip};
use python_compat::{Value, ascii};
use unicode_normalization::UnicodeNormalization as _;

use super::{Normal, TypedValue};
use crate::webarena_verified::PythonException;
use crate::webarena_verified::config::Derender;
use crate::webarena_verified::node::is_truthy;

/// `is_regexp`: a pattern stands between `^` and `$`.
pub(in crate::webarena_verified) fn is_pattern(text: &str) -> bool {
    text.len() >= 2 && text.starts_with('^') && text.ends_with('$')
}

/// The characters that count as a hyphen.
const HYPHENS: [char; 9] = [
    '-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}',
    '\u{ad}',
];

/// Category C: controls, formats, private use, and what is no character yet.
static NO_CHARACTERS: LazyLock<Pattern> = LazyLock::new(|| Pattern::of_crate(r"\p{C}"));

/// `_normalize_string`: ASCII letters without capitals, single spaces, no hyphens in words, and
/// sites by their names.
pub(super) fn normalise(text: &str, derender: Option<Derender<'_>>) -> String {
    if text.is_empty() || is_pattern(text) {
        return text.to_owned();
    }
    let derendered = match derender {
        Some(derender) if text.contains("http") => derender.leniently(text).ok(),
        _ => None,
    };
    let text = derendered.as_deref().unwrap_or(text);
    let composed: String =
        text.chars().filter(|c| !"\u{2122}\u{ae}\u{2120}\u{a9}".contains(*c)).nfkc().collect();
    let plain = without_controls(&without_hyphens(&composed));
    let ascii = ascii::lower_ascii(&plain);
    ascii
        .split(|c: char| c.is_ascii_whitespace() || matches!(c, '\u{b}' | '\u{1c}'..='\u{1f}'))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A hyphen beside a letter is a space.
fn without_hyphens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        let joins =
            HYPHENS.contains(&c) && (before.is_ascii_alphabetic() || after.is_ascii_alphabetic());
        out.push(if joins { ' ' } else { c });
        before = c;
    }
    out
}

fn without_controls(text: &str) -> String {
    let spaced = text.replace(['\t', '\n', '\r'], " ");
    if spaced.is_ascii() && !spaced.contains(|c: char| c.is_ascii_control()) {
        return spaced;
    }
    NO_CHARACTERS.replace_all(&spaced, "")
}

/// `NormalizedString`: what is not text is spelt as Python does.
pub(super) fn read(value: &Value) -> Normal {
    Normal::Text(match value {
        value if !is_truthy(value) => String::new(),
        Value::Str(text) if is_pattern(text) => strip(text).to_owned(),
        value => strip(&lower(&value.to_text())).to_owned(),
    })
}

/// Patterns on either side match the other; else texts are equal but for quotes and punctuation
/// around them.
pub(super) fn equal(one: &TypedValue, other: &TypedValue) -> Result<bool, PythonException> {
    let flags = Flags { ignore_case: true, ..Flags::default() };
    Ok(matches(one, other, flags)?
        || matches(other, one, flags)?
        || one.texts().any(|one| other.texts().any(|other| one == other))
        || one.texts().any(|one| other.texts().any(|other| bare(one) == bare(other))))
}

/// Whether a pattern among the alternatives matches one of the others.
pub(super) fn matches(
    patterns: &TypedValue,
    texts: &TypedValue,
    flags: Flags,
) -> Result<bool, PythonException> {
    for pattern in patterns.texts().filter(|text| is_pattern(text)) {
        // What is no pattern after all is compared as it stands.
        let Some(compiled) = Pattern::whole(pattern, flags) else { continue };
        for text in texts.texts() {
            if compiled.is_match(text).map_err(|_| PythonException::too_long(pattern))? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn bare(text: &str) -> &str {
    text.trim_matches(['\'', '"', '`', '.', ',', ';', ':', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_what_does_not_matter() {
        for (text, expect) in [
            ("  Café\u{2122}\tOAK\u{2013}Grove ", "cafe oak grove"),
            ("555-1234 x-1", "555-1234 x 1"),
            ("\u{fb01}ne \u{200b}\u{2460}", "fine 1"),
            ("^As-Is$", "^As-Is$"),
            ("a\u{b}b", "ab"),
        ] {
            assert_eq!(normalise(text, None), expect, "{text:?}");
        }
    }
}
