//! Finds and replaces many values at once, in every spelling that a page may use for them.

use std::collections::{BTreeSet, HashMap};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use sha2::{Digest as _, Sha256};

/// Shorter values are never searched for in running text.
pub(super) const LEAST: usize = 4;
/// The minimum length of a value, found under a given name, that is also searched for elsewhere.
pub(super) const LEAST_FOUND: usize = 8;

/// What `encodeURIComponent` escapes.
pub const URI_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// `redacted-` and eight hex digits that depend only on the key and the value. Equal values have
/// equal placeholders, and without the key nobody can test candidate values.
pub(super) fn placeholder(key: &[u8], value: &[u8]) -> String {
    // HMAC, implemented here: the key comes first, twice, with different pads.
    let mut block = [0_u8; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner =
        Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(value).finalize();
    let outer =
        Sha256::new().chain_update(block.map(|byte| byte ^ 0x5C)).chain_update(inner).finalize();
    format!("redacted-{}", &hex::encode(outer)[..8])
}

/// A set of values to be replaced, with their placeholders.
#[derive(Debug, Default)]
pub(super) struct Literals {
    /// Spellings by their first bytes, the longest first.
    by_start: HashMap<[u8; LEAST], Vec<(Vec<u8>, String)>>,
}

impl Literals {
    pub(super) fn new<'a>(key: &[u8], values: impl IntoIterator<Item = &'a Vec<u8>>) -> Literals {
        let mut literals = Literals::default();
        for value in values {
            let placeholder = placeholder(key, value);
            for spelling in spellings(value) {
                let Some(start) = spelling.first_chunk::<LEAST>().copied() else { continue };
                literals.by_start.entry(start).or_default().push((spelling, placeholder.clone()));
            }
        }
        // The longest first: a short spelling may be the beginning of a longer one.
        for spellings in literals.by_start.values_mut() {
            spellings.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
        }
        literals
    }

    /// The bytes with every value replaced, and the number of replacements; `None` if there is
    /// nothing to replace.
    pub(super) fn replace(&self, bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
        if self.by_start.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        let (mut done, mut count) = (0, 0);
        let mut at = 0;
        while let Some(start) = bytes[at..].first_chunk::<LEAST>() {
            let candidates = self.by_start.get(start);
            let hit = candidates
                .and_then(|all| all.iter().find(|(spelling, _)| bytes[at..].starts_with(spelling)));
            match hit {
                Some((spelling, placeholder)) => {
                    out.extend_from_slice(&bytes[done..at]);
                    out.extend_from_slice(placeholder.as_bytes());
                    at += spelling.len();
                    done = at;
                    count += 1;
                }
                None => at += 1,
            }
        }
        out.extend_from_slice(&bytes[done..]);
        (count > 0).then_some((out, count))
    }

    /// The same for text.
    pub(super) fn replace_text(&self, text: &str) -> Option<(String, u64)> {
        let (bytes, count) = self.replace(text.as_bytes())?;
        Some((String::from_utf8_lossy(&bytes).into_owned(), count))
    }
}

/// The possible spellings of a value in text, a URL (hex digits in both cases), a form, a JSON
/// string or HTML.
fn spellings(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::from([value.to_vec()]);
    let percent = percent_encode(value, URI_COMPONENT).to_string();
    let full = percent_encode(value, NON_ALPHANUMERIC).to_string();
    all.extend([percent.replace("%20", "+").into_bytes(), lower_hex(&percent), lower_hex(&full)]);
    all.extend([percent.into_bytes(), full.into_bytes()]);
    if let Ok(text) = std::str::from_utf8(value) {
        let json = serde_json::Value::from(text).to_string();
        let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
        all.insert(json.replace('/', "\\/").into_bytes());
        all.insert(json.into_bytes());
        let html = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;");
        all.insert(html.replace('\'', "&#39;").into_bytes());
        all.insert(html.into_bytes());
    }
    all.retain(|spelling| spelling.len() >= LEAST);
    all
}

fn lower_hex(percent: &str) -> Vec<u8> {
    let mut out = percent.as_bytes().to_vec();
    for index in 0..out.len() {
        if out[index] == b'%' {
            out[index..].iter_mut().skip(1).take(2).for_each(|digit| digit.make_ascii_lowercase());
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_gets_the_same_placeholder() {
        let value = b"s3cret/\"&value".to_vec();
        let literals = Literals::new(b"key", [&value]);
        let mark = placeholder(b"key", &value);
        for text in [
            "s3cret/\"&value",
            "s3cret%2F%22%26value",
            "s3cret%2f%22%26value",
            r#"s3cret/\"&value"#,
            r#"s3cret\/\"&value"#,
            "s3cret/&quot;&amp;value",
        ] {
            let (found, count) = literals.replace_text(&format!("<{text}> {text}")).unwrap();
            assert_eq!((found, count), (format!("<{mark}> {mark}"), 2), "{text}");
        }
        assert!(literals.replace(b"s3cret/ is not the value").is_none());
    }

    #[test]
    fn placeholders_depend_on_key_and_value() {
        // RFC 4231, test case 2.
        assert_eq!(placeholder(b"Jefe", b"what do ya want for nothing?"), "redacted-5bdcc146");
        assert_ne!(placeholder(b"a", b"x"), placeholder(b"b", b"x"));
        assert_eq!(placeholder(&[7; 100], b"x").len(), "redacted-".len() + 8);
    }
}
