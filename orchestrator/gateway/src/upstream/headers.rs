//! Hop-by-hop headers, which belong to one connection and are not forwarded.

use http::header::{
    ALT_SVC, CONNECTION, COOKIE, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");

/// The headers without those of the connection: the fixed list, and what `Connection` names.
/// `Alt-Svc` is removed too, because it would lead the client past the gateway. A new map is built
/// to keep the order: removal would move the last entry.
pub(crate) fn end_to_end(headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let trailers_wanted =
        headers.get(TE).is_some_and(|te| te.as_bytes().eq_ignore_ascii_case(b"trailers"));
    let dropped = |name: &HeaderName| match *name {
        CONNECTION | PROXY_AUTHENTICATE | PROXY_AUTHORIZATION | TRANSFER_ENCODING | UPGRADE
        | ALT_SVC => true,
        TE => !trailers_wanted,
        ref name => {
            *name == KEEP_ALIVE
                || *name == PROXY_CONNECTION
                || *name == HTTP2_SETTINGS
                || named.contains(name)
        }
    };
    if !headers.keys().any(dropped) {
        return headers;
    }
    let mut kept = HeaderMap::with_capacity(headers.len());
    let mut dropping = false;
    let mut last = None;
    // The map gives a name with its first value only.
    for (name, value) in headers {
        if let Some(name) = name {
            dropping = dropped(&name);
            last = Some(name);
        }
        if let (false, Some(name)) = (dropping, &last) {
            kept.append(name.clone(), value);
        }
    }
    kept
}

/// The headers with `Host` first, as HTTP/1.1 servers prefer, unless the client put it elsewhere.
pub(super) fn with_host(headers: HeaderMap, host: http::HeaderValue) -> HeaderMap {
    if headers.contains_key(HOST) {
        let mut headers = headers;
        headers.insert(HOST, host);
        return headers;
    }
    let mut all = HeaderMap::with_capacity(headers.len() + 1);
    all.insert(HOST, host);
    all.extend(headers);
    all
}

/// Joins `Cookie` fields: HTTP/2 may split them into many, everywhere else there is one.
pub(crate) fn join_cookies(headers: &mut HeaderMap) {
    let crumbs: Vec<&[u8]> =
        headers.get_all(COOKIE).iter().map(http::HeaderValue::as_bytes).collect();
    if crumbs.len() > 1
        && let Ok(joined) = http::HeaderValue::from_bytes(&crumbs.join(&b"; "[..]))
    {
        headers.insert(COOKIE, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (HeaderName::from_static(name), http::HeaderValue::from_static(value))
            })
            .collect()
    }

    fn names(headers: &HeaderMap) -> Vec<String> {
        headers.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn what_belongs_to_the_connection_is_dropped_and_order_stays() {
        let mut headers = map(&[
            ("accept", "*/*"),
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("te", "gzip"),
            ("alt-svc", "h3"),
            ("x-end", "1"),
        ]);
        headers.append("x-end", http::HeaderValue::from_static("2"));
        headers.append("proxy-connection", http::HeaderValue::from_static("keep-alive"));
        headers.append("x-last", http::HeaderValue::from_static("3"));
        assert_eq!(names(&end_to_end(headers)), ["accept=*/*", "x-end=1", "x-end=2", "x-last=3"]);
    }

    #[test]
    fn te_trailers_may_pass() {
        assert_eq!(
            names(&end_to_end(map(&[("te", "trailers"), ("upgrade", "h2c")]))),
            ["te=trailers"]
        );
    }

    #[test]
    fn host_keeps_its_place_or_comes_first() {
        let host = || http::HeaderValue::from_static("shop.test");
        assert_eq!(
            names(&with_host(map(&[("a", "1"), ("host", "x"), ("b", "2")]), host())),
            ["a=1", "host=shop.test", "b=2"]
        );
        assert_eq!(names(&with_host(map(&[("a", "1")]), host())), ["host=shop.test", "a=1"]);
    }

    #[test]
    fn cookie_crumbs_are_joined() {
        let mut headers = map(&[("cookie", "a=1")]);
        headers.append(COOKIE, http::HeaderValue::from_static("b=2"));
        join_cookies(&mut headers);
        assert_eq!(names(&headers), ["cookie=a=1; b=2"]);
    }
}
