//! Orders captures by host, path and query, so that similar URLs are adjacent.

use std::ops::Range;

use super::IndexError;

/// How many captures of a host are examined in search of a port.
const EXAMINED: usize = 1 << 16;

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
        // Zeros separate the parts.
        key.extend(part.bytes().filter(|byte| *byte != 0));
    }
    key.push(0);
    (!host.is_empty()).then_some(key)
}

/// The host of a URL, in lower case; `None` if it has none.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let key = path_key("", url)?;
    let (_, host) = prefixes(&key);
    String::from_utf8(host.strip_suffix(&[0])?.to_vec()).ok()
}

/// The common prefix of all requests with the same host and path, and that of all requests with the
/// same host.
pub(super) fn prefixes(key: &[u8]) -> (&[u8], &[u8]) {
    let mut ends = key.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at + 1);
    let host = ends.next().unwrap_or(key.len());
    let path = ends.next().unwrap_or(key.len());
    (&key[..path], &key[..host])
}

/// Captures in the order of their path keys: those of an archive, or of a set of archives.
pub(super) trait PathTable {
    /// What identifies a capture.
    type Capture: Copy + Ord;

    /// How many captures there are.
    fn count(&self) -> u64;

    /// The capture at a position, and its path key.
    fn at(&self, position: u64) -> Result<(Self::Capture, Vec<u8>), IndexError>;

    /// The position of the first path that does not sort before `key`.
    fn position(&self, key: &[u8]) -> Result<u64, IndexError> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle)?.1.as_slice() < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Adds captures from `range` on whose path key starts with `prefix`, at most `limit`.
    fn walk(
        &self,
        range: Range<u64>,
        prefix: &[u8],
        limit: usize,
        found: &mut Vec<Self::Capture>,
    ) -> Result<(), IndexError> {
        for position in range.take(limit) {
            let (capture, key) = self.at(position)?;
            if key.starts_with(prefix) {
                found.push(capture);
            } else if key.as_slice() > prefix {
                break;
            }
        }
        Ok(())
    }

    /// The captures near a URL: those with the same host and path, and their neighbours with the
    /// same host, up to `limit` on either side.
    fn neighbours(
        &self,
        method: &str,
        url: &str,
        limit: usize,
    ) -> Result<Vec<Self::Capture>, IndexError> {
        let Some(key) = path_key(method, url) else { return Ok(Vec::new()) };
        let (same_path, same_host) = prefixes(&key);
        let mut found = Vec::new();
        let around = self.position(&key)?;
        let first = self.position(same_path)?;
        let before = around.saturating_sub(limit as u64);
        self.walk(before.max(first)..self.count(), same_path, 2 * limit, &mut found)?;
        for range in [before..around, around..self.count()] {
            self.walk(range, same_host, limit, &mut found)?;
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The captures of a host (lower-case), at most `limit`, ordered by path.
    fn of_host(&self, host: &str, limit: usize) -> Result<Vec<Self::Capture>, IndexError> {
        let start = [host.as_bytes(), &[0]].concat();
        let first = self.position(&start)?;
        let mut found = Vec::new();
        self.walk(first..self.count(), &start, limit, &mut found)?;
        Ok(found)
    }

    /// The recorded hosts, in lower case and sorted. Takes one search per host, not a walk over all
    /// captures.
    fn hosts(&self) -> Result<Vec<String>, IndexError> {
        let mut hosts = Vec::new();
        let mut position = 0;
        while position < self.count() {
            let (_, key) = self.at(position)?;
            let (_, same_host) = prefixes(&key);
            let host = same_host.strip_suffix(&[0]).unwrap_or(same_host);
            hosts.push(String::from_utf8_lossy(host).into_owned());
            // After every key that starts with the host and its zero byte.
            let behind = [host, &[1]].concat();
            position = self.position(&behind)?.max(position + 1);
        }
        hosts.retain(|host| !host.is_empty());
        Ok(hosts)
    }

    /// Whether anything was recorded for a host (lower-case, IPv6 without brackets) at a port in
    /// its URLs. Returns true for a host with very many captures without examining all of them.
    fn has_port(&self, host: &str, number: u16) -> Result<bool, IndexError> {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let start = [host.as_bytes(), &[0]].concat();
        let number = number.to_string();
        let first = self.position(&start)?;
        for position in (first..self.count()).take(EXAMINED) {
            let (_, key) = self.at(position)?;
            if !key.starts_with(&start) {
                return Ok(false);
            }
            if port(&key) == number.as_bytes() {
                return Ok(true);
            }
        }
        Ok(self.count() - first > EXAMINED as u64)
    }
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
