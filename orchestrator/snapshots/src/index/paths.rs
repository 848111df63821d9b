//! Captures in the order of host, path and query, so that what is near a missed URL lies near it.

use url::Url;

/// A byte string that sorts requests by host, then path, then query, then scheme, port and method. `None` for a URL
/// without a host.
pub(super) fn path_key(method: &str, url: &str) -> Option<Vec<u8>> {
    let url = Url::parse(url).ok()?;
    let port = url.port_or_known_default().unwrap_or_default();
    let mut key = Vec::with_capacity(url.as_str().len() + 16);
    for part in [url.host_str()?, url.path(), url.query().unwrap_or_default(), url.scheme()] {
        key.extend_from_slice(part.as_bytes());
        key.push(0);
    }
    key.extend_from_slice(&port.to_be_bytes());
    key.extend_from_slice(method.as_bytes());
    key.push(0);
    Some(key)
}

/// The start that all requests of the same host and path have in common, and the start of those of the same host.
pub(super) fn prefixes(key: &[u8]) -> (&[u8], &[u8]) {
    let mut ends = key.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at + 1);
    let host = ends.next().unwrap_or(key.len());
    let path = ends.next().unwrap_or(key.len());
    (&key[..path], &key[..host])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_path_stays_together() {
        let mut urls = ["/a", "/a?x=1", "/a-b", "/a/b", "/a?y", "/"]
            .map(|path| path_key("GET", &format!("https://h.test{path}")).unwrap());
        urls.sort();
        let path = path_key("GET", "https://h.test/a").unwrap();
        let (same_path, host) = prefixes(&path);
        assert_eq!((same_path, host), (&b"h.test\0/a\0"[..], &b"h.test\0"[..]));
        let places: Vec<bool> = urls.iter().map(|key| key.starts_with(same_path)).collect();
        assert_eq!(places, [false, true, true, true, false, false]);
        assert_eq!(path_key("GET", "data:text/plain,x"), None);
    }
}
