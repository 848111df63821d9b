//! Parses the header of a WARC record.

use std::fmt;

use crate::http::find_end;
use crate::{Damage, Headers};

/// The format in which a record was written. Only 1.1 is ever written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// ARC, the format before WARC.
    Arc,
    /// A draft: WARC 0.17, 0.18 and similar.
    Draft(u8),
    /// WARC 1.0, 1.1 or a later 1.x.
    One(u8),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version::Arc => write!(f, "ARC"),
            Version::Draft(minor) => write!(f, "WARC/0.{minor}"),
            Version::One(minor) => write!(f, "WARC/1.{minor}"),
        }
    }
}

/// Parses the header at the start of `bytes`. `Ok(None)` if it is not complete yet.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Version, Headers, usize)>, Damage> {
    let Some(first) = bytes.iter().position(|b| *b == b'\n') else {
        return if looks_like_start(bytes) { Ok(None) } else { Err(wrong(bytes)) };
    };
    let version = version(bytes[..first].trim_ascii()).ok_or_else(|| wrong(&bytes[..first]))?;
    let Some(end) = find_end(bytes) else { return Ok(None) };
    let lines = bytes[first + 1..end]
        .split(|b| *b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(Some((version, crate::http::fields(lines), end)))
}

/// Whether these bytes may be the start of a WARC header.
pub(super) fn looks_like_start(bytes: &[u8]) -> bool {
    let known = b"WARC/";
    let length = bytes.len().min(known.len());
    bytes[..length] == known[..length]
}

fn version(line: &[u8]) -> Option<Version> {
    let number = std::str::from_utf8(line).ok()?.strip_prefix("WARC/")?;
    let (major, minor) = number.split_once('.')?;
    let minor = minor.parse().ok()?;
    match major {
        "0" => Some(Version::Draft(minor)),
        "1" => Some(Version::One(minor)),
        _ => None,
    }
}

fn wrong(line: &[u8]) -> Damage {
    let start: String =
        line.iter().take(40).flat_map(|b| std::ascii::escape_default(*b)).map(char::from).collect();
    Damage::Head(format!("it starts with \"{start}\""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions_and_fields() {
        let text = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc";
        let (version, headers, end) = parse(text).unwrap().unwrap();
        assert_eq!((version, end), (Version::One(1), text.len() - 3));
        assert_eq!(headers.get_str("content-length"), Some("3"));
        assert_eq!(parse(b"WARC/0.18\nWARC-Type: x\n\n").unwrap().unwrap().0, Version::Draft(18));
        assert_eq!(parse(b"WAR").unwrap(), None);
        assert_eq!(parse(b"WARC/1.0\r\nA: b\r\n").unwrap(), None);
        for wrong in [&b"WARC/2.0\r\n\r\n"[..], b"<html>\n", b"HTTP/1.1 200 OK\r\n\r\n", b"x"] {
            assert!(parse(wrong).is_err());
        }
    }
}
