//! Reads ARC records as if they were WARC records.

use super::header::Version;
use crate::{Damage, Headers, Timestamp};

/// The maximum length of an ARC header line.
const MAX_LINE: usize = 64 << 10;

/// Whether these bytes may start an ARC record: a URL, then words, the last of which is a number.
pub(super) fn looks_like_start(bytes: &[u8]) -> bool {
    let line =
        &bytes[..bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len()).min(MAX_LINE)];
    let colon = line.iter().position(|b| *b == b':');
    let scheme = |line: &[u8]| line.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b));
    colon.is_some_and(|at| at > 1 && at < 16 && scheme(&line[..at]))
}

/// Parses the header line at the start of `bytes`. `Ok(None)` if it is not complete yet.
///
/// Version 1 lines are `URL address date type length`; version 2 puts status, checksum, location,
/// offset and file name before the length.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Version, Headers, usize)>, Damage> {
    let Some(feed) = bytes.iter().position(|b| *b == b'\n') else {
        return if bytes.len() > MAX_LINE {
            Err(Damage::HeadTooLong { limit: MAX_LINE })
        } else {
            Ok(None)
        };
    };
    let line = String::from_utf8_lossy(&bytes[..feed]);
    let line = line.trim_end();
    let fields = split(line, 5).or_else(|| split(line, 10));
    let Some([url, address, date, kind, length]) = fields else {
        return Err(Damage::Head(format!(
            "{:?} is no ARC header line",
            line.chars().take(80).collect::<String>()
        )));
    };
    let mut headers = Headers::new();
    let file_header = url.starts_with("filedesc:");
    // Records of other schemes, such as `dns:`, hold a payload without an HTTP head.
    let http = url.starts_with("http://") || url.starts_with("https://");
    headers.push("WARC-Type", if file_header { "warcinfo" } else { "response" });
    match url.strip_prefix("filedesc://") {
        Some(name) => headers.push("WARC-Filename", name),
        None => headers.push("WARC-Target-URI", url),
    }
    if let Ok(date) = Timestamp::parse(date) {
        headers.push("WARC-Date", date.to_string());
    }
    headers.push("WARC-IP-Address", address);
    let http_type = "application/http; msgtype=response";
    headers.push("Content-Type", if http { http_type } else { kind });
    headers.push("Content-Length", length);
    Ok(Some((Version::Arc, headers, feed + 1)))
}

/// URL, address, date, type and length of a line of `count` words, if the date is in the right
/// position. URLs may contain spaces, so the words are counted from the end.
fn split(line: &str, count: usize) -> Option<[&str; 5]> {
    let mut words: Vec<&str> = line.rsplitn(count, ' ').collect();
    words.reverse();
    let [url, address, date, kind, .., length] = words[..] else { return None };
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    (words.len() == count && date.len() >= 8 && digits(date) && digits(length))
        .then_some([url, address, date, kind, length])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_versions() {
        let one = b"http://a.test/with space 10.0.0.1 20080430204825 text/html 12\nHTTP/1.1 200";
        let (version, headers, end) = parse(one).unwrap().unwrap();
        assert_eq!((version, end), (Version::Arc, one.len() - 12));
        assert_eq!(headers.get_str("WARC-Target-URI"), Some("http://a.test/with space"));
        assert_eq!(headers.get_str("WARC-Date"), Some("2008-04-30T20:48:25Z"));
        let two = b"http://a.test/ 10.0.0.1 20080430204825 text/html 200 abc - 0 x.arc 12\n";
        assert_eq!(parse(two).unwrap().unwrap().1.get_str("Content-Length"), Some("12"));
        assert!(parse(b"http://a.test/ text/html 12\n").is_err());
    }
}
