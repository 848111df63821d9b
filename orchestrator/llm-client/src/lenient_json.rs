//! JSON as servers send it: with a byte order mark, in bad UTF-8, with halves of surrogate pairs.

use serde_json::Value;

/// Parses a body as JSON. Some servers cut emoji into halves of surrogate pairs; these become
/// U+FFFD.
pub(crate) fn parse(body: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&whole_pairs(text)))
}

/// Replaces every escape of an unpaired surrogate by `\ufffd`.
fn whole_pairs(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('\\') {
        mended.push_str(&rest[..place]);
        rest = &rest[place..];
        let taken = match (escape(rest), rest.get(6..).and_then(escape)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // A backslash with the character it escapes, which may be a backslash.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended
}

/// The code unit that a text beginning with `\uXXXX` escapes.
fn escape(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn half_pairs_cost_no_reply() {
        let read =
            |text: &str| parse(format!("{{\"a\":\"{text}\"}}").as_bytes()).unwrap()["a"].clone();
        assert_eq!(read(r"x\ud83d"), "x\u{fffd}");
        assert_eq!(read(r"\ude00y"), "\u{fffd}y");
        assert_eq!(read(r"\ud83d\ude00 \ud83dz"), "\u{1f600} \u{fffd}z");
        assert_eq!(read(r"\\ud83d \ud83d \n é"), "\\ud83d \u{fffd} \n é");
        assert!(parse(b"{\"a\":\"\\ud83").is_err());
        assert_eq!(parse(b"\xef\xbb\xbf {\"a\": \"\xff\"}").unwrap()["a"], "\u{fffd}");
    }
}
