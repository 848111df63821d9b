//! Finds the values of named fields in queries and forms, in cookies, and in addresses. Each search
//! takes time in proportion to the text.

use std::collections::HashSet;
use std::ops::Range;

use percent_encoding::percent_decode;

use crate::post_key::multipart;

/// A value: its position in the text, and its unescaped content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) value: Vec<u8>,
    /// The quotes that a replacement needs: those of JSON, escaped if it is within a string.
    pub(super) quote: &'static str,
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
        let listed =
            names.iter().map(|name| name.trim().to_ascii_lowercase().into_bytes()).collect();
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
        self.listed.contains(&name)
            || self.like.is_some_and(|like| like(&String::from_utf8_lossy(&name)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.like.is_none()
    }
}

/// Values in a URL's query and in its fragment, where OAuth's implicit flow has its tokens.
pub(super) fn in_url(url: &[u8], names: &Names) -> Vec<Value> {
    let find = |byte: u8| url.iter().position(|found| *found == byte).unwrap_or(url.len());
    let (question, hash) = (find(b'?'), find(b'#'));
    let form = |from: usize, to: usize| -> Vec<Value> {
        let form = url.get(from..to).unwrap_or_default();
        in_form(form, names).into_iter().map(|value| value.moved(from)).collect()
    };
    let query = if question < hash { form(question + 1, hash) } else { Vec::new() };
    let fragment = form(hash + 1, url.len());
    // A fragment may have a query of its own, and a header several addresses.
    let mut others = Vec::new();
    let mut from = question.min(hash);
    while from < url.len() {
        from += 1;
        let length = url[from..].iter().position(|byte| matches!(byte, b'?' | b'#'));
        let to = length.map_or(url.len(), |length| from + length);
        others.extend(form(from, to));
        from = to;
    }
    joined(joined(query, fragment), others)
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
        // The last `@` ends the password, which may have others.
        let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else { continue };
        let Some(colon) = authority[..sign].iter().position(|byte| *byte == b':') else { continue };
        let value = &authority[colon + 1..sign];
        if !value.is_empty() {
            let range = start + colon + 1..start + sign;
            found.push(Value { range, value: value.to_vec(), quote: "" });
        }
        at = end;
    }
    found
}

/// Two lists of values as one, in the order of the text. Of two that overlap, that of the first
/// list stays. The values of each list do not overlap.
pub(super) fn joined(mut values: Vec<Value>, mut more: Vec<Value>) -> Vec<Value> {
    if more.is_empty() {
        return values;
    }
    values.sort_by_key(|value| value.range.start);
    more.sort_by_key(|value| value.range.start);
    // The first known one that may overlap the next.
    let mut known = 0;
    more.retain(|value| {
        while values.get(known).is_some_and(|before| before.range.end <= value.range.start) {
            known += 1;
        }
        values.get(known).is_none_or(|after| value.range.end <= after.range.start)
    });
    values.append(&mut more);
    values.sort_by_key(|value| value.range.start);
    values
}

/// Values in `name=value&name=value`.
pub(super) fn in_form(form: &[u8], names: &Names) -> Vec<Value> {
    pairs(form, |byte| byte == b'&', |name| names.has(&form_decoded(name)), form_decoded)
}

/// Values in a form that is sent as a text, with `&` between its fields or one in a line. A text
/// that begins as JSON or HTML does is none.
pub(super) fn in_text_form(text: &[u8], names: &Names) -> Vec<Value> {
    if matches!(text.trim_ascii_start().first(), None | Some(b'{' | b'[' | b'<' | b'"')) {
        return Vec::new();
    }
    let ends = |byte| matches!(byte, b'&' | b'\r' | b'\n');
    pairs(text, ends, |name| names.has(&form_decoded(name)), form_decoded)
}

/// Values in a `Cookie` header.
pub(super) fn in_cookies(header: &[u8], names: &Names) -> Vec<Value> {
    pairs(header, |byte| byte == b';', |name| names.has(name), <[u8]>::to_vec)
}

/// The value in a `Set-Cookie` header.
pub(super) fn in_set_cookie(header: &[u8], names: &Names) -> Vec<Value> {
    let first = header.split(|byte| *byte == b';').next().unwrap_or_default();
    in_cookies(first, names)
}

/// Values in the parts of a `multipart/form-data` body, except files.
pub(super) fn in_multipart(content_type: &str, body: &[u8], names: &Names) -> Vec<Value> {
    let Some(boundary) =
        multipart::parameter(content_type, "boundary").filter(|_| !names.is_empty())
    else {
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
                let value =
                    value.strip_suffix(b"\n").map_or(value, |v| v.strip_suffix(b"\r").unwrap_or(v));
                if !value.is_empty() {
                    let range = start..start + value.len();
                    found.push(Value { range, value: value.to_vec(), quote: "" });
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
    separates: impl Fn(u8) -> bool,
    wanted: impl Fn(&[u8]) -> bool,
    value: impl Fn(&[u8]) -> Vec<u8>,
) -> Vec<Value> {
    let mut found = Vec::new();
    let mut start = 0;
    for pair in text.split(|byte| separates(*byte)) {
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=')
            && equals + 1 < pair.len()
            && wanted(&pair[..equals])
        {
            let range = start + equals + 1..start + pair.len();
            found.push(Value { value: value(&text[range.clone()]), range, quote: "" });
        }
        start += pair.len() + 1;
    }
    found
}

fn form_decoded(bytes: &[u8]) -> Vec<u8> {
    let spaces: Vec<u8> =
        bytes.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaces).collect()
}

impl Value {
    pub(super) fn moved(self, by: usize) -> Value {
        Value { range: self.range.start + by..self.range.end + by, ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::json::in_json;
    use super::*;

    fn values(found: Vec<Value>) -> Vec<String> {
        found.iter().map(|value| String::from_utf8_lossy(&value.value).into_owned()).collect()
    }

    fn names() -> Names {
        Names::new(&["token".into(), "pass word".into()])
    }

    #[test]
    fn queries_forms_and_cookies() {
        for (url, expect) in [
            ("https://a/?x=1&Token=a%2Fb#token=c&x=1", &["a/b", "c"][..]),
            ("https://a/#/back?x=1&token=a", &["a"]),
            ("https://a/#token=a?b", &["a?b"]),
            ("https://a/?token=a?token=b", &["a?token=b"]),
            ("<https://a/?x=1>, <https://b/?token=c>; rel=next", &["c>; rel=next"]),
            ("https://a/?#?", &[]),
        ] {
            assert_eq!(values(in_url(url.as_bytes(), &names())), expect, "{url}");
        }
        assert_eq!(values(in_url(b"https://a/token=x", &names())), Vec::<String>::new());
        assert_eq!(values(in_form(b"pass+word=a+b&token=", &names())), ["a b"]);
        assert_eq!(values(in_text_form(b"x=1&token=a\r\npass word=b\n", &names())), ["a", "b"]);
        assert_eq!(
            values(in_text_form(b" {\"x\": \"y&token=a\"}", &names())),
            Vec::<String>::new()
        );
        assert_eq!(values(in_cookies(b"a=1; token=x=y; b=2", &names())), ["x=y"]);
        assert_eq!(values(in_set_cookie(b"token=x; Path=/; token=no", &names())), ["x"]);
    }

    #[test]
    fn parts_of_a_form() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nada\r\n--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\ns3\r\ncret\r\n--x\r\nContent-Disposition: form-data; name=\"token\"; filename=\"a\"\r\n\r\nfile\r\n--x--\r\n";
        assert_eq!(
            values(in_multipart("multipart/form-data; boundary=x", body, &names())),
            ["s3\r\ncret"]
        );
        assert_eq!(
            values(in_multipart("multipart/form-data", body, &names())),
            Vec::<String>::new()
        );
    }

    #[test]
    fn of_two_that_overlap_the_first_stays() {
        let value = |range: Range<usize>| Value { range, value: Vec::new(), quote: "" };
        let lists = |values: &[Range<usize>]| values.iter().cloned().map(value).collect::<Vec<_>>();
        let found =
            joined(lists(&[5..9, 20..30]), lists(&[0..5, 6..7, 8..12, 9..10, 29..31, 30..40]));
        let ranges: Vec<_> = found.into_iter().map(|value| value.range).collect();
        assert_eq!(ranges, [0..5, 5..9, 9..10, 20..30, 30..40]);
    }

    /// Each text took minutes when every value was compared with all others.
    #[test]
    fn a_long_text_is_searched_once() {
        let form = "token=x&".repeat(500_000);
        let find = || in_form(form.as_bytes(), &names());
        assert_eq!(joined(find(), find()).len(), 500_000);
        let addresses = "a://b:c@d ".repeat(400_000);
        assert_eq!(in_userinfo(addresses.as_bytes()).len(), 400_000);
        for text in ["?#", "?token=x#", "://", ":\\/\\/", "a://b:", "#token"] {
            let text = text.repeat(4_000_000 / text.len());
            in_url(text.as_bytes(), &names());
            in_userinfo(text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b':'), Just(b'{'), Just(b'}'), Just(b't'), any::<u8>()], 0..60)) {
            let names = Names::new(&["t".into()]);
            for values in [in_json(&bytes, &names), in_url(&bytes, &names), in_form(&bytes, &names)] {
                let mut before = 0;
                for value in values {
                    prop_assert!(before <= value.range.start && value.range.end <= bytes.len());
                    before = value.range.end;
                }
            }
        }
    }
}
