//! Finds the values of named fields: in queries and forms, in cookies, and in JSON wherever it
//! occurs.

use std::collections::HashSet;
use std::ops::Range;

use percent_encoding::percent_decode;

use crate::post_key::multipart;

/// A value: its position in the text, and its unescaped content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) value: Vec<u8>,
    /// Whether it is in JSON, where a replacement needs quotes.
    pub(super) json: bool,
}

/// Field names, compared case-insensitively.
#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    listed: HashSet<Vec<u8>>,
    /// Whether a further name, in lower case, is also included.
    like: Option<fn(&str) -> bool>,
}

impl Names {
    pub(super) fn new(names: &[String]) -> Names {
        let listed = names.iter().map(|name| name.trim().to_ascii_lowercase().into_bytes()).collect();
        Names { listed, like: None }
    }

    /// These names, and those that `like` accepts.
    pub(super) fn or(&self, like: fn(&str) -> bool) -> Names {
        Names { like: Some(like), ..self.clone() }
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let name = name.trim_ascii().to_ascii_lowercase();
        self.listed.contains(&name) || self.like.is_some_and(|like| like(&String::from_utf8_lossy(&name)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.like.is_none()
    }
}

/// Values in a URL's query.
pub(super) fn in_url(url: &[u8], names: &Names) -> Vec<Value> {
    let Some(start) = url.iter().position(|byte| *byte == b'?') else { return Vec::new() };
    let end = url.iter().position(|byte| *byte == b'#').filter(|end| *end > start).unwrap_or(url.len());
    in_form(&url[start + 1..end], names).into_iter().map(|value| value.moved(start + 1)).collect()
}

/// Passwords in `scheme://user:password@host`, anywhere in a text; also with the slashes escaped,
/// as in JSON.
pub(super) fn in_userinfo(text: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(colon) = text[at..].iter().position(|byte| *byte == b':').map(|next| at + next) {
        at = colon + 1;
        let rest = &text[at..];
        let start = match rest {
            [b'/', b'/', ..] => at + 2,
            [b'\\', b'/', b'\\', b'/', ..] => at + 4,
            _ => continue,
        };
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'<>\\,;()".contains(byte);
        let end = text[start..].iter().position(ends).map_or(text.len(), |end| start + end);
        at = start;
        let authority = &text[start..end];
        let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { continue };
        let Some(colon) = authority[..sign].iter().position(|byte| *byte == b':') else { continue };
        let value = &authority[colon + 1..sign];
        if !value.is_empty() {
            let range = start + colon + 1..start + sign;
            found.push(Value { range, value: value.to_vec(), json: false });
        }
        at = end;
    }
    found
}

/// Two lists of values as one, in the order of the text. Of two that overlap, that of the first
/// list stays.
pub(super) fn joined(mut values: Vec<Value>, more: Vec<Value>) -> Vec<Value> {
    let overlaps = |a: &Value, b: &Value| a.range.start < b.range.end && b.range.start < a.range.end;
    for value in more {
        if !values.iter().any(|known| overlaps(known, &value)) {
            values.push(value);
        }
    }
    values.sort_by_key(|value| value.range.start);
    values
}

/// Values in `name=value&name=value`.
pub(super) fn in_form(form: &[u8], names: &Names) -> Vec<Value> {
    pairs(form, b'&', |name| names.has(&form_decoded(name)), form_decoded)
}

/// Values in a `Cookie` header.
pub(super) fn in_cookies(header: &[u8], names: &Names) -> Vec<Value> {
    pairs(header, b';', |name| names.has(name), <[u8]>::to_vec)
}

/// The value in a `Set-Cookie` header.
pub(super) fn in_set_cookie(header: &[u8], names: &Names) -> Vec<Value> {
    let first = header.split(|byte| *byte == b';').next().unwrap_or_default();
    in_cookies(first, names)
}

/// Values in the parts of a `multipart/form-data` body, except files.
pub(super) fn in_multipart(content_type: &str, body: &[u8], names: &Names) -> Vec<Value> {
    let Some(boundary) = multipart::parameter(content_type, "boundary").filter(|_| !names.is_empty()) else {
        return Vec::new();
    };
    let boundary = format!("--{boundary}").into_bytes();
    // The start of the part, the start of its content, and the name from its header.
    let (mut found, mut at, mut content, mut name) = (Vec::new(), 0, None, None::<String>);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.trim_ascii_end();
        if bare.starts_with(&boundary) {
            if let (Some(start), Some(name)) = (content, name.take())
                && names.has(name.as_bytes())
            {
                // The line end before a boundary belongs to the boundary.
                let value: &[u8] = &body[start..at];
                let value = value.strip_suffix(b"\n").map_or(value, |v| v.strip_suffix(b"\r").unwrap_or(v));
                if !value.is_empty() {
                    let range = start..start + value.len();
                    found.push(Value { range, value: value.to_vec(), json: false });
                }
            }
            content = None;
        } else if content.is_none() && bare.is_empty() {
            content = Some(at + line.len());
        } else if content.is_none() {
            let line = String::from_utf8_lossy(bare);
            if let Some((field, value)) = line.split_once(':')
                && field.trim().eq_ignore_ascii_case("content-disposition")
                && multipart::parameter(value, "filename").is_none()
            {
                name = multipart::parameter(value, "name");
            }
        }
        at += line.len();
    }
    found
}

fn pairs(
    text: &[u8],
    separator: u8,
    wanted: impl Fn(&[u8]) -> bool,
    value: impl Fn(&[u8]) -> Vec<u8>,
) -> Vec<Value> {
    let mut found = Vec::new();
    let mut start = 0;
    for pair in text.split(|byte| *byte == separator) {
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=')
            && equals + 1 < pair.len()
            && wanted(&pair[..equals])
        {
            let range = start + equals + 1..start + pair.len();
            found.push(Value { value: value(&text[range.clone()]), range, json: false });
        }
        start += pair.len() + 1;
    }
    found
}

fn form_decoded(bytes: &[u8]) -> Vec<u8> {
    let spaces: Vec<u8> = bytes.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaces).collect()
}

/// Values of `"name": value` anywhere in a text. The text need not be valid JSON: scripts, pages
/// with embedded JSON and JSON lines are searched the same way. A value that is an object or a list
/// is taken whole.
pub(super) fn in_json(text: &[u8], names: &Names) -> Vec<Value> {
    let mut found = Vec::new();
    if names.is_empty() {
        return found;
    }
    let mut at = 0;
    while let Some(open) = text[at..].iter().position(|byte| *byte == b'"').map(|quote| at + quote) {
        let Some(close) = string_end(text, open) else { break };
        at = close;
        let colon = skip_blank(text, close);
        if text.get(colon) != Some(&b':') || !names.has(&unescaped(&text[open + 1..close - 1])) {
            // In running text this quote may be a closing one: continue after it.
            if text.get(colon) != Some(&b':') {
                at = open + 1;
            }
            continue;
        }
        let start = skip_blank(text, colon + 1);
        let Some(end) = value_end(text, start) else { break };
        let raw = &text[start..end];
        let value = match raw {
            [b'"', inner @ .., b'"'] => unescaped(inner),
            other => other.to_vec(),
        };
        if !matches!(value.as_slice(), b"" | b"null" | b"true" | b"false") {
            found.push(Value { range: start..end, value, json: true });
        }
        at = end;
    }
    found
}

impl Value {
    pub(super) fn moved(self, by: usize) -> Value {
        Value { range: self.range.start + by..self.range.end + by, ..self }
    }
}

fn skip_blank(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The position after the closing quote of the string that opens at `open`. A string does not span
/// lines.
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
            let stop = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'<') || byte.is_ascii_whitespace();
            Some(text[start..].iter().position(stop).map_or(text.len(), |length| start + length))
        }
    }
}

/// The unescaped content of a JSON string; unchanged if its escapes are invalid.
fn unescaped(inner: &[u8]) -> Vec<u8> {
    if !inner.contains(&b'\\') {
        return inner.to_vec();
    }
    let quoted = [b"\"", inner, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).map_or_else(|_| inner.to_vec(), String::into_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(found: Vec<Value>) -> Vec<String> {
        found.iter().map(|value| String::from_utf8_lossy(&value.value).into_owned()).collect()
    }

    fn names() -> Names {
        Names::new(&["token".into(), "pass word".into()])
    }

    #[test]
    fn queries_forms_and_cookies() {
        assert_eq!(values(in_url(b"https://a/?x=1&Token=a%2Fb#token=no", &names())), ["a/b"]);
        assert_eq!(values(in_url(b"https://a/token=x", &names())), Vec::<String>::new());
        assert_eq!(values(in_form(b"pass+word=a+b&token=", &names())), ["a b"]);
        assert_eq!(values(in_cookies(b"a=1; token=x=y; b=2", &names())), ["x=y"]);
        assert_eq!(values(in_set_cookie(b"token=x; Path=/; token=no", &names())), ["x"]);
    }

    #[test]
    fn json_in_any_surroundings() {
        let text = br#"<p class="x">say "hi"</p><script>var a = {"token": "a\"b\u0041", "n": {"Token":12}, "token":[1,{"]":2}], "token": null}"#;
        assert_eq!(values(in_json(text, &names())), ["a\"bA", "12", r#"[1,{"]":2}]"#]);
        assert_eq!(values(in_json(br#"{"token": "cut"#, &names())), Vec::<String>::new());
        assert_eq!(values(in_json(br#"{"token": tru"#, &names())), ["tru"]);
    }

    #[test]
    fn parts_of_a_form() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nada\r\n--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\ns3\r\ncret\r\n--x\r\nContent-Disposition: form-data; name=\"token\"; filename=\"a\"\r\n\r\nfile\r\n--x--\r\n";
        assert_eq!(values(in_multipart("multipart/form-data; boundary=x", body, &names())), ["s3\r\ncret"]);
        assert_eq!(values(in_multipart("multipart/form-data", body, &names())), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b':'), Just(b'{'), Just(b'}'), Just(b't'), any::<u8>()], 0..60)) {
            let names = Names::new(&["t".into()]);
            for value in in_json(&bytes, &names).into_iter().chain(in_url(&bytes, &names)).chain(in_form(&bytes, &names)) {
                prop_assert!(value.range.end <= bytes.len());
            }
        }
    }
}
