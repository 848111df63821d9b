//! Splits bodies into pieces of text, and compares the pieces of two bodies.

use std::collections::HashMap;

use serde_json::Value;

use crate::index::Document;

/// How many different pieces are shown.
const SAMPLE: usize = 20;
/// The maximum length of a displayed piece.
const LONGEST: usize = 200;

/// The difference between two lists of pieces of text, independent of order.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct TextDifference {
    /// How many pieces are only in the first list.
    pub removed: u64,
    /// How many pieces are only in the second list.
    pub added: u64,
    /// The first of them, marked `-` and `+`.
    pub sample: Vec<String>,
}

/// The text of a document, in pieces that [`compare`] takes.
pub fn text_of(document: &Document) -> Vec<String> {
    let media_type = document.media_type.split(';').next().unwrap_or_default();
    pieces(&media_type.trim().to_ascii_lowercase(), &document.bytes)
}

/// The text of a body: JSON as `path: value` lines, HTML as its visible text, other text as lines.
/// Empty for bodies that are not text.
pub(super) fn pieces(media_type: &str, bytes: &[u8]) -> Vec<String> {
    let is_json = media_type == "application/json" || media_type.ends_with("+json");
    if is_json && let Ok(json) = serde_json::from_slice::<Value>(bytes) {
        let mut out = Vec::new();
        leaves("$", &json, &mut out);
        return out;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
    if html_scan::is_html(media_type) {
        return html_scan::texts(text);
    }
    let known =
        ["text/", "application/javascript", "application/xml", "application/json", "image/svg"];
    if known.iter().any(|start| media_type.starts_with(start)) {
        return text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
    }
    Vec::new()
}

/// Compares two lists of pieces, such as the lines of two texts.
pub fn compare(old: &[String], new: &[String]) -> TextDifference {
    // By number and not by order: what has only moved does not count, and large bodies take linear
    // time.
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for piece in new {
        *counts.entry(piece).or_default() += 1;
    }
    let mut difference = TextDifference::default();
    for piece in old {
        let count = counts.entry(piece).or_default();
        if *count > 0 {
            *count -= 1;
        } else {
            difference.removed += 1;
            difference.show('-', piece);
        }
    }
    for piece in new {
        let Some(count) = counts.get_mut(piece.as_str()) else { continue };
        if *count > 0 {
            *count -= 1;
            difference.added += 1;
            difference.show('+', piece);
        }
    }
    difference
}

impl TextDifference {
    /// Reserves half of the sample for each side.
    fn show(&mut self, sign: char, piece: &str) {
        let limit = if sign == '-' { SAMPLE / 2 } else { SAMPLE };
        if self.sample.len() < limit {
            self.sample.push(format!("{sign} {}", piece.chars().take(LONGEST).collect::<String>()));
        }
    }
}

fn leaves(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(&format!("{path}.{name}"), value, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                leaves(&format!("{path}[{index}]"), value, out);
            }
        }
        leaf => out.push(format!("{path}: {leaf}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees() {
        let html = "<!doctype html><title>A &amp; B</title><script>if (a<b) x()</script><p>one\n two<br>three<!-- no -->";
        assert_eq!(pieces("text/html", html.as_bytes()), ["A & B", "one two", "three"]);
        let json = br#"{"a": {"b": [1, "x"]}, "c": {}}"#;
        assert_eq!(pieces("application/json", json), ["$.a.b[0]: 1", "$.a.b[1]: \"x\"", "$.c: {}"]);
        assert_eq!(pieces("text/plain", b" x \n\ny"), ["x", "y"]);
        assert!(pieces("image/png", b"x").is_empty());
        assert!(pieces("text/html", b"\xFF").is_empty());
    }

    #[test]
    fn differences_count_repeated_pieces() {
        let list = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let difference = compare(&list("a b b c"), &list("b a d"));
        assert_eq!(
            difference,
            TextDifference {
                removed: 2,
                added: 1,
                sample: list("-_b -_c +_d").iter().map(|s| s.replace('_', " ")).collect()
            }
        );
    }
}
