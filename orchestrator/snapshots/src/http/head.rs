//! Message heads: request line or status line, and header fields.

use super::HttpError;
use crate::Headers;

/// A request line and its header fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The request target as sent: a path with query, an absolute URL, `*` or `host:port`.
    pub target: String,
    /// `HTTP/1.1` or similar; empty if the line has none.
    pub version: String,
    /// The header fields.
    pub headers: Headers,
}

/// A status line and its header fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// `HTTP/1.1` or similar.
    pub version: String,
    /// The status code.
    pub status: u16,
    /// The reason phrase, often empty.
    pub reason: String,
    /// The header fields.
    pub headers: Headers,
}

/// The offset of the body: after the first empty line. A line feed alone also ends a line. `None`
/// while there is no empty line.
pub fn find_end(bytes: &[u8]) -> Option<usize> {
    let mut line = 0;
    while let Some(feed) = bytes[line..].iter().position(|b| *b == b'\n') {
        let end = line + feed;
        if end == line || (end == line + 1 && bytes[line] == b'\r') {
            return Some(end + 1);
        }
        line = end + 1;
    }
    None
}

/// Parses the head at the start of `bytes`; returns it with the offset of the body. If there is no
/// empty line, the whole block is the head.
pub fn parse_request(bytes: &[u8]) -> Result<(RequestHead, usize), HttpError> {
    let (first, headers, end) = split(bytes)?;
    let mut words = first.splitn(2, ' ');
    let (method, rest) = (words.next().unwrap_or(""), words.next().unwrap_or("").trim());
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    let token = !method.is_empty() && method.bytes().all(is_token);
    if !token || rest.is_empty() {
        return Err(first_line(&first));
    }
    let (target, version) = match rest.rsplit_once(' ') {
        Some((target, version)) if version.starts_with("HTTP/") => (target, version),
        _ => (rest, ""),
    };
    let head = RequestHead {
        method: method.into(),
        target: target.trim().into(),
        version: version.into(),
        headers,
    };
    Ok((head, end))
}

/// Parses the head at the start of `bytes`; returns it with the offset of the body. If there is no
/// empty line, the whole block is the head.
pub fn parse_response(bytes: &[u8]) -> Result<(ResponseHead, usize), HttpError> {
    let (first, headers, end) = split(bytes)?;
    let mut words = first.splitn(2, [' ', '\t']);
    let version = words.next().unwrap_or("");
    let rest = words.next().unwrap_or("").trim_start();
    let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let known = version.get(..5).is_some_and(|v| v.eq_ignore_ascii_case("HTTP/"))
        // SHOUTcast's servers send `ICY`.
        || version == "ICY"
        || version == "HTTP";
    match code.trim().parse::<u16>() {
        Ok(status) if known && status <= 999 => {
            let head = ResponseHead {
                version: version.into(),
                status,
                reason: reason.trim().into(),
                headers,
            };
            Ok((head, end))
        }
        _ => Err(first_line(&first)),
    }
}

/// Appends the request head with its empty line, always as HTTP/1.1. Control bytes in names,
/// targets or values would break the framing and are replaced by spaces.
pub fn write_request(out: &mut Vec<u8>, method: &str, target: &str, headers: &Headers) {
    push_token(out, method.as_bytes());
    out.push(b' ');
    push_token(out, target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    write_fields(out, headers);
}

/// Appends the response head with its empty line, always as HTTP/1.1.
pub fn write_response(out: &mut Vec<u8>, status: u16, reason: &str, headers: &Headers) {
    out.extend_from_slice(format!("HTTP/1.1 {status:03} ").as_bytes());
    push_text(out, reason.as_bytes());
    out.extend_from_slice(b"\r\n");
    write_fields(out, headers);
}

fn write_fields(out: &mut Vec<u8>, headers: &Headers) {
    for (name, value) in headers.iter() {
        push_token(out, name.as_bytes());
        out.extend_from_slice(b": ");
        push_text(out, value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

fn push_text(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.iter().map(|b| if matches!(b, b'\r' | b'\n' | 0) { b' ' } else { *b }));
}

fn push_token(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(
        bytes
            .iter()
            .map(|b| if b.is_ascii_whitespace() || b.is_ascii_control() { b'_' } else { *b }),
    );
}

/// The first line, the fields and the offset of the body.
fn split(bytes: &[u8]) -> Result<(String, Headers, usize), HttpError> {
    let end = find_end(&bytes[..bytes.len().min(MAX_SCAN)]);
    let end = match end {
        Some(end) => end,
        None if bytes.len() > super::MAX_HEAD => return Err(HttpError::HeadTooLong),
        None => bytes.len(),
    };
    let mut lines =
        bytes[..end].split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = String::from_utf8_lossy(lines.next().unwrap_or(b"")).into_owned();
    Ok((first, fields(lines), end))
}

const MAX_SCAN: usize = super::MAX_HEAD + 1;

/// Parses header fields from lines without their line ends. Folded lines are joined by a space. A
/// line without a colon is dropped, as in browsers.
pub(crate) fn fields<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Headers {
    let mut headers = Headers::new();
    for line in lines {
        if line.first().is_some_and(|b| matches!(b, b' ' | b'\t')) {
            if let Some((_, value)) = headers.0.last_mut() {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
        } else if let Some(colon) = line.iter().position(|b| *b == b':') {
            let name = String::from_utf8_lossy(line[..colon].trim_ascii()).into_owned();
            headers.push(name, line[colon + 1..].trim_ascii());
        }
    }
    headers
}

fn first_line(line: &str) -> HttpError {
    HttpError::FirstLine(line.chars().take(80).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_what_servers_send() {
        let (head, body) =
            parse_response(b"HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\nbroken\r\nB:3\r\n\r\nxy").unwrap();
        assert_eq!((head.status, head.reason.as_str(), body), (200, "OK", 43));
        assert_eq!(head.headers, [("A", "1 2"), ("B", "3")].into_iter().collect());
        for (text, status) in
            [("HTTP/1.0 404\n\n", 404), ("HTTP/2 204 \r\n\r\n", 204), ("ICY 200 OK\r\n\r\n", 200)]
        {
            assert_eq!(parse_response(text.as_bytes()).unwrap().0.status, status, "{text}");
        }
        for wrong in ["", "<html>", "HTTP/1.1", "HTTP/1.1 abc", "HTTP/1.1 70000 x"] {
            assert!(parse_response(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let (head, _) = parse_request(b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!((head.target.as_str(), head.version.as_str()), ("/a b", "HTTP/1.1"));
    }

    #[test]
    fn a_value_cannot_break_the_framing() {
        let mut out = Vec::new();
        write_response(
            &mut out,
            200,
            "OK\r\nX: y",
            &[("A\r\nB", "1\r\n\r\nbody")].into_iter().collect(),
        );
        let (head, end) = parse_response(&out).unwrap();
        assert_eq!((head.headers.len(), end), (1, out.len()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (parse_response(&bytes), parse_request(&bytes));
        }

        #[test]
        fn heads_come_back(
            status in 100_u16..600,
            fields in proptest::collection::vec(("[A-Za-z-]{1,12}", "[ -~]{0,30}"), 0..8),
        ) {
            let headers: Headers = fields.into_iter().map(|(n, v)| (n, v.trim().to_owned())).collect();
            let mut out = Vec::new();
            write_response(&mut out, status, "Fine", &headers);
            let (head, end) = parse_response(&out).unwrap();
            prop_assert_eq!(end, out.len());
            prop_assert_eq!((head.status, head.headers), (status, headers));
        }
    }
}
