//! Finds the values of named fields in JSON, wherever it occurs, and in JSON within its strings.

use std::borrow::Cow;

use super::fields::{Names, Value};

/// A quote within so many strings. Deeper JSON is not searched.
const QUOTES: [&str; 4] = ["\"", r#"\""#, r#"\\\""#, r#"\\\\\\\""#];
/// How many times the length of a text may be searched for the ends of objects that have none.
const ENDLESS: usize = 8;

/// Values of `"name": value` anywhere in a text. The text need not be valid JSON: scripts, pages
/// with embedded JSON and JSON lines are searched the same way. A value that is an object or a list
/// is taken whole. A string that holds JSON is searched as well.
pub(super) fn in_json(text: &[u8], names: &Names) -> Vec<Value> {
    if names.is_empty() { Vec::new() } else { within(text, names, &QUOTES) }
}

/// The values in a text whose quotes are the first ones.
fn within(text: &[u8], names: &Names, quotes: &[&'static str]) -> Vec<Value> {
    let Some((quote, deeper)) = quotes.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    let mut endless = text.len().saturating_mul(ENDLESS);
    let mut at = 0;
    while let Some(open) = text[at..].iter().position(|byte| *byte == b'"').map(|quote| at + quote)
    {
        let close = string_end(text, open);
        let inner = &text[open + 1..close.map_or(text.len(), |close| close - 1)];
        found
            .extend(in_string(inner, names, deeper).into_iter().map(|value| value.moved(open + 1)));
        let Some(close) = close else { break };
        let colon = skip_blank(text, close);
        if text.get(colon) != Some(&b':') {
            // In running text the closing quote may be an opening one. All quotes before it are
            // escaped, and would end there as well.
            at = close - 1;
            continue;
        }
        at = close;
        if !names.has(&unescaped(inner)) {
            continue;
        }
        let start = skip_blank(text, colon + 1);
        let end = match value_end(text, start) {
            Some(end) => end,
            None if start == text.len() => break,
            // What is not searched may be a part of the value.
            None if text[start] == b'"' || endless < text.len() - start => text.len(),
            None => {
                endless -= text.len() - start;
                at = start;
                continue;
            }
        };
        let value = match &text[start..end] {
            [b'"', inner @ .., b'"'] => unescaped(inner).into_owned(),
            [b'"', inner @ ..] => unescaped(inner).into_owned(),
            other => other.to_vec(),
        };
        if !matches!(value.as_slice(), b"" | b"null" | b"true" | b"false") {
            found.push(Value { range: start..end, value, quote });
        }
        at = end;
    }
    found
}

/// The values of JSON within a string, whose places are those in the escaped text.
fn in_string(inner: &[u8], names: &Names, quotes: &[&'static str]) -> Vec<Value> {
    if quotes.is_empty() || !inner.windows(2).any(|two| two == b"\\\"") {
        return Vec::new();
    }
    let (text, places) = unescaped_with_places(inner);
    let mut found = within(&text, names, quotes);
    for value in &mut found {
        value.range = places[value.range.start]..places[value.range.end];
    }
    found
}

fn skip_blank(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The position after the closing quote of the string that opens at `open`.
fn string_end(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The position after the value that starts at `start`.
fn value_end(text: &[u8], start: usize) -> Option<usize> {
    match text.get(start)? {
        b'"' => string_end(text, start),
        b'{' | b'[' => {
            // Counted, not recursed: a page decides how deeply its values nest.
            let (mut at, mut depth) = (start, 0_u64);
            loop {
                match text.get(at)? {
                    b'"' => at = string_end(text, at)?,
                    byte => {
                        match byte {
                            b'{' | b'[' => depth += 1,
                            b'}' | b']' => depth -= 1,
                            _ => {}
                        }
                        at += 1;
                        if depth == 0 {
                            return Some(at);
                        }
                    }
                }
            }
        }
        _ => {
            let stop =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'<') || byte.is_ascii_whitespace();
            Some(text[start..].iter().position(stop).map_or(text.len(), |length| start + length))
        }
    }
}

/// The unescaped content of a JSON string; unchanged if its escapes are invalid.
fn unescaped(inner: &[u8]) -> Cow<'_, [u8]> {
    if !inner.contains(&b'\\') {
        return inner.into();
    }
    let quoted = [b"\"", inner, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(text) => text.into_bytes().into(),
        Err(_) => inner.into(),
    }
}

/// The same, whatever the escapes are, with the place of each byte in the escaped text, and that of
/// the end.
fn unescaped_with_places(inner: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut text, mut places) =
        (Vec::with_capacity(inner.len()), Vec::with_capacity(inner.len() + 1));
    let mut at = 0;
    while at < inner.len() {
        let (bytes, length) = match &inner[at..] {
            [b'\\', b'u', rest @ ..] => match code_point(rest) {
                Some((character, length)) => (character.to_string().into_bytes(), 2 + length),
                None => (vec![b'?'], 2),
            },
            [b'\\', b'n' | b'r' | b't' | b'b' | b'f', ..] => (vec![b' '], 2),
            [b'\\', byte, ..] => (vec![*byte], 2),
            [byte, ..] => (vec![*byte], 1),
            [] => break,
        };
        places.resize(places.len() + bytes.len(), at);
        text.extend(bytes);
        at += length;
    }
    places.push(inner.len());
    (text, places)
}

/// The character of an escape after its `\u`, and the length of the rest.
fn code_point(rest: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = std::str::from_utf8(rest.get(at..at + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 4));
    }
    let second = if rest.get(4..6) == Some(b"\\u") { unit(6)? } else { return None };
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 10))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(&["token".into(), "pass word".into()])
    }

    fn values(text: &[u8]) -> Vec<String> {
        let found = in_json(text, &names());
        found.iter().map(|value| String::from_utf8_lossy(&value.value).into_owned()).collect()
    }

    #[test]
    fn json_in_any_surroundings() {
        let text = br#"<p class="x">say "hi"</p><script>var a = {"token": "a\"b\u0041", "n": {"Token":12}, "token":[1,{"]":2}], "token": null}"#;
        assert_eq!(values(text), ["a\"bA", "12", r#"[1,{"]":2}]"#]);
        assert_eq!(values(br#"{"token": "cut"#), ["cut"]);
        assert_eq!(values(br#"{"token": "#), Vec::<String>::new());
        assert_eq!(values(br#"{"token": [1, "x": {"token": 2}"#), ["2"]);
        assert_eq!(values(br#"{"token": tru"#), ["tru"]);
    }

    /// What stands in the place of a value keeps the JSON around it whole.
    #[test]
    fn json_within_strings() {
        for (text, expect) in [
            (
                r#"{"body":"{\"token\":\"x\"}","token":"y"}"#,
                r#"{"body":"{\"token\":\"-\"}","token":"-"}"#,
            ),
            (
                r#"["{\"token\": 12, \"a\": \"\\\"\"}"]"#,
                r#"["{\"token\": \"-\", \"a\": \"\\\"\"}"]"#,
            ),
            (
                r#""\u00e9\ud83d\ude00 {\"\u0074oken\":\"x\\ny\"} \ud83d""#,
                r#""\u00e9\ud83d\ude00 {\"\u0074oken\":\"-\"} \ud83d""#,
            ),
            (
                r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"x\\\"}\"}"}"#,
                r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"-\\\"}\"}"}"#,
            ),
            (r#"{"a":"{\"token\":\"cut"#, r#"{"a":"{\"token\":\"-\""#),
        ] {
            let mut clean = text.to_owned();
            for Value { range, quote, .. } in in_json(text.as_bytes(), &names()).into_iter().rev() {
                clean.replace_range(range, &format!("{quote}-{quote}"));
            }
            assert_eq!(clean, expect, "{text}");
        }
    }

    /// Each text took hours when the end of a string was searched again for every quote in it.
    #[test]
    fn a_long_text_is_searched_once() {
        let (quote, name) = (r#"\""#, r#""token":"#);
        for part in [
            "\"",
            quote,
            "\" ",
            "\\\\\"",
            "\"token\":[",
            "\"token\":{\"",
            r#"\"token\":["#,
            name,
            "\" \":",
            r#"\\\"token"#,
        ] {
            let text = part.repeat(4_000_000 / part.len());
            for text in [
                text.clone(),
                format!("\"{text}\""),
                format!("\"{text}\"{}:", " ".repeat(1_000_000)),
            ] {
                in_json(text.as_bytes(), &names());
            }
        }
        // Names, each with a long gap before its colon.
        let gaps = format!("\"{}\"{}", quote.repeat(1_000_000), " ".repeat(2_000_000));
        in_json(gaps.as_bytes(), &names());
    }
}
