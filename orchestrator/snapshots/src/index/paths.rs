//! Orders captures by host, path and query, so that similar URLs are adjacent.

/// A byte string that sorts requests by host, then path, then query, then scheme, port and method.
/// `None` for a URL without a host. It is simple, because it is computed for every URL that a
/// search visits.
pub(super) fn path_key(method: &str, url: &str) -> Option<Vec<u8>> {
    let url = url.split('#').next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://")?;
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut key = Vec::with_capacity(url.len() + method.len() + 8);
    key.extend(host.bytes().map(|byte| byte.to_ascii_lowercase()));
    for part in [if path.is_empty() { "/" } else { path }, query, scheme, port, method] {
        key.push(0);
        key.extend(part.bytes().filter(|byte| *byte != 0));
    }
    key.push(0);
    (!host.is_empty()).then_some(key)
}

/// The common prefix of all requests with the same host and path, and that of all requests with the
/// same host.
pub(super) fn prefixes(key: &[u8]) -> (&[u8], &[u8]) {
    let mut ends = key.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at + 1);
    let host = ends.next().unwrap_or(key.len());
    let path = ends.next().unwrap_or(key.len());
    (&key[..path], &key[..host])
}

/// The port in the URL; empty if the URL has none.
pub(super) fn port(key: &[u8]) -> &[u8] {
    key.split(|byte| *byte == 0).nth(4).unwrap_or_default()
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
        for (url, key) in [
            ("HTTPS://u@A.test:8080?x#y", "a.test\0/\0x\0HTTPS\08080\0GET\0"),
            ("http://[::1]/x", "[::1]\0/x\0\0http\0\0GET\0"),
            ("http://[::1]:81/x?", "[::1]\0/x\0\0http\081\0GET\0"),
        ] {
            assert_eq!(path_key("GET", url).as_deref(), Some(key.as_bytes()), "{url}");
        }
        assert_eq!(path_key("GET", "data:text/plain,x"), None);
        assert_eq!(path_key("GET", "http:///x"), None);
    }
}
