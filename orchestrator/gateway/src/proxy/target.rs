//! Determines the absolute URL of a client's request.

use std::net::{IpAddr, Ipv6Addr};

use doors::Admission;
use http::header::HOST;
use http::uri::Authority;
use http::{Method, Version, request};

use crate::upstream::{end_to_end, join_cookies};
use crate::{RequestHead, Scheme};

/// How a request arrived.
#[derive(Debug, Clone)]
pub(super) enum Via {
    /// Directly at the proxy, if this lets it in: the request target is an absolute URL.
    Proxy(Admission),
    /// Through a tunnel to the given server.
    Tunnel { scheme: Scheme, host: String, port: u16 },
}

/// Why a request has no URL that can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadTarget {
    #[error("this is a proxy: it takes absolute URLs and CONNECT")]
    NotProxied,
    #[error("only http: and https: are served")]
    Scheme,
    #[error("the host is missing or malformed")]
    Host,
    #[error("a request of HTTP/1.1 has a Host header")]
    NoHost,
    #[error("a request has one Host header")]
    Hosts,
    #[error("the Host header names another server than the request's target")]
    OtherHost,
    #[error("the request names another host than its tunnel")]
    Misdirected,
}

/// The host (lower-case, no brackets) and port of an authority.
pub(super) fn host_and_port(
    authority: &Authority,
    default: Option<u16>,
) -> Result<(String, u16), BadTarget> {
    if authority.as_str().contains('@') {
        return Err(BadTarget::Host);
    }
    let host = authority.host();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    // With the dot of the root it is the same host.
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let port = match authority.port() {
        Some(port) => port.as_str().parse().ok(),
        None => default,
    };
    match port {
        Some(port) if !host.is_empty() && port != 0 => Ok((host, port)),
        _ => Err(BadTarget::Host),
    }
}

/// The server of a CONNECT request: a host for which a certificate can be issued, and a port.
pub(super) fn tunnel(parts: &request::Parts) -> Result<(String, u16), BadTarget> {
    let authority = parts.uri.authority().ok_or(BadTarget::Host)?;
    let (host, port) = host_and_port(authority, None)?;
    if !is_host_name(&host) {
        return Err(BadTarget::Host);
    }
    // Many clients omit the port in the `Host` header.
    match named_by_header(parts, Some(port))? {
        Some((named, _)) if named != host => Err(BadTarget::OtherHost),
        _ => Ok((host, port)),
    }
}

/// Whether this is an IP address or a DNS name. Underscores are accepted because they occur.
fn is_host_name(host: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.parse::<IpAddr>().is_ok() || (host.len() <= 253 && host.split('.').all(label))
}

/// The server in the `Host` header. HTTP/1.1 requires the header, and no version allows two.
fn named_by_header(
    parts: &request::Parts,
    default: Option<u16>,
) -> Result<Option<(String, u16)>, BadTarget> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if parts.version == Version::HTTP_11 => Err(BadTarget::NoHost),
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(BadTarget::Hosts),
        (Some(value), None) => {
            let authority = Authority::try_from(value.as_bytes()).map_err(|_| BadTarget::Host)?;
            host_and_port(&authority, default).map(Some)
        }
    }
}

/// The request head for the rest of the crate.
pub(super) fn head(
    via: &Via,
    parts: request::Parts,
    websocket: bool,
) -> Result<RequestHead, BadTarget> {
    let (scheme, host, port) = match via {
        Via::Proxy(_) => {
            let scheme = match parts.uri.scheme_str() {
                Some("http") => Scheme::Http,
                Some("https") => Scheme::Https,
                Some(_) => return Err(BadTarget::Scheme),
                None => return Err(BadTarget::NotProxied),
            };
            let authority = parts.uri.authority().ok_or(BadTarget::Host)?;
            let target = host_and_port(authority, Some(scheme.default_port()))?;
            // A `Host` header without a port does not conflict.
            let named = named_by_header(&parts, Some(target.1))?;
            if named.is_some_and(|named| named != target) {
                return Err(BadTarget::OtherHost);
            }
            (scheme, target.0, target.1)
        }
        Via::Tunnel { scheme, host, port } => {
            let default = Some(scheme.default_port());
            let target = parts
                .uri
                .authority()
                .map(|authority| host_and_port(authority, default))
                .transpose()?;
            let named = named_by_header(&parts, default)?;
            if target.is_some() && named.is_some() && target != named {
                return Err(BadTarget::OtherHost);
            }
            if target.or(named).is_some_and(|(named, its_port)| named != *host || its_port != *port)
            {
                return Err(BadTarget::Misdirected);
            }
            (*scheme, host.clone(), *port)
        }
    };
    let path = match parts.uri.path_and_query() {
        // `OPTIONS *` concerns the server as a whole.
        Some(path) if path.as_str() == "*" && parts.method == Method::OPTIONS => "/*",
        Some(path) => path.as_str(),
        None => "/",
    };
    let url = absolute(scheme, &host, port, path, websocket);
    let mut headers = end_to_end(parts.headers);
    if parts.version == Version::HTTP_2 {
        join_cookies(&mut headers);
    }
    Ok(RequestHead {
        method: parts.method,
        url,
        scheme,
        host,
        port,
        version: parts.version,
        headers,
    })
}

fn absolute(scheme: Scheme, host: &str, port: u16, path: &str, websocket: bool) -> String {
    let name = match (scheme, websocket) {
        (scheme, false) => scheme.as_str(),
        (Scheme::Http, true) => "ws",
        (Scheme::Https, true) => "wss",
    };
    let mut url = String::with_capacity(name.len() + host.len() + path.len() + 12);
    url.push_str(name);
    url.push_str("://");
    if host.parse::<Ipv6Addr>().is_ok() {
        url.push('[');
        url.push_str(host);
        url.push(']');
    } else {
        url.push_str(host);
    }
    if port != scheme.default_port() {
        url.push(':');
        url.push_str(&port.to_string());
    }
    if !path.starts_with('/') {
        url.push('/');
    }
    url.push_str(path);
    url
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// The head of an HTTP/1.1 request, or of an HTTP/1.0 request if there is no `Host`.
    fn parts(uri: &str, host: Option<&str>) -> request::Parts {
        let version = if host.is_some() { Version::HTTP_11 } else { Version::HTTP_10 };
        let mut request = Request::builder().uri(uri).version(version);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn tunnel(scheme: Scheme, host: &str, port: u16) -> Via {
        Via::Tunnel { scheme, host: host.into(), port }
    }

    fn check(via: &Via, uri: &str, host: Option<&str>, expect: Result<&str, BadTarget>) {
        let found = head(via, parts(uri, host), false).map(|head| head.url);
        assert_eq!(found, expect.map(str::to_owned), "{uri} {host:?}");
    }

    #[test]
    fn absolute_form_is_normalised_in_host_and_port_alone() {
        check(
            &Via::Proxy(Admission::Anyone),
            "http://Shop.TEST/A?b=%7e",
            None,
            Ok("http://shop.test/A?b=%7e"),
        );
        check(
            &Via::Proxy(Admission::Anyone),
            "http://shop.test:80",
            Some("Shop.test"),
            Ok("http://shop.test/"),
        );
        check(
            &Via::Proxy(Admission::Anyone),
            "http://shop.test:80",
            Some("other.test"),
            Err(BadTarget::OtherHost),
        );
        check(
            &Via::Proxy(Admission::Anyone),
            "http://shop.test/",
            Some("shop.test:81"),
            Err(BadTarget::OtherHost),
        );
        check(
            &Via::Proxy(Admission::Anyone),
            "http://shop.test:81/",
            Some("shop.test"),
            Ok("http://shop.test:81/"),
        );
        check(
            &Via::Proxy(Admission::Anyone),
            "http://shop.test/",
            Some("not a host"),
            Err(BadTarget::Host),
        );
        check(&Via::Proxy(Admission::Anyone), "http://shop.test/", Some(""), Err(BadTarget::Host));
        check(
            &Via::Proxy(Admission::Anyone),
            "http://shop.test?q",
            None,
            Ok("http://shop.test/?q"),
        );
        check(&Via::Proxy(Admission::Anyone), "http://[::1]:81/", None, Ok("http://[::1]:81/"));
        check(&Via::Proxy(Admission::Anyone), "http://shop.test./", None, Ok("http://shop.test/"));
        check(&Via::Proxy(Admission::Anyone), "/", Some("shop.test"), Err(BadTarget::NotProxied));
        check(&Via::Proxy(Admission::Anyone), "ftp://shop.test/", None, Err(BadTarget::Scheme));
        check(&Via::Proxy(Admission::Anyone), "http://user@shop.test/", None, Err(BadTarget::Host));
        check(&Via::Proxy(Admission::Anyone), "http://shop.test:0/", None, Err(BadTarget::Host));
    }

    #[test]
    fn a_tunnel_names_the_server_and_the_request_must_agree() {
        let via = tunnel(Scheme::Https, "shop.test", 443);
        check(&via, "/a", Some("shop.test"), Ok("https://shop.test/a"));
        check(&via, "/a", Some("SHOP.test:443"), Ok("https://shop.test/a"));
        check(&via, "/a", None, Ok("https://shop.test/a"));
        check(&via, "https://shop.test/a", None, Ok("https://shop.test/a"));
        check(&via, "https://shop.test/a", Some("forum.test"), Err(BadTarget::OtherHost));
        check(&via, "/a", Some("forum.test"), Err(BadTarget::Misdirected));
        check(&via, "/a", Some("shop.test:444"), Err(BadTarget::Misdirected));
        check(
            &tunnel(Scheme::Http, "::1", 8080),
            "/",
            Some("[::1]:8080"),
            Ok("http://[::1]:8080/"),
        );
    }

    #[test]
    fn http_1_1_has_one_host() {
        let mut without = parts("http://shop.test/", None);
        without.version = Version::HTTP_11;
        assert_eq!(
            head(&Via::Proxy(Admission::Anyone), without, false).unwrap_err(),
            BadTarget::NoHost
        );
        let mut twice = parts("http://shop.test/", Some("shop.test"));
        twice.headers.append(HOST, "shop.test".parse().unwrap());
        assert_eq!(
            head(&Via::Proxy(Admission::Anyone), twice, false).unwrap_err(),
            BadTarget::Hosts
        );
    }

    #[test]
    fn a_tunnel_leads_to_a_name_or_an_address() {
        let long = format!("{}.test:1", "a".repeat(64));
        for (uri, host, expect) in [
            ("shop.test:443", "shop.test:443", Ok("shop.test")),
            ("Shop_1.test.:443", "shop_1.test", Ok("shop_1.test")),
            ("[::1]:443", "[::1]:443", Ok("::1")),
            ("shop.test:443", "other.test:443", Err(BadTarget::OtherHost)),
            ("*.test:443", "*.test:443", Err(BadTarget::Host)),
            ("a..test:443", "a..test:443", Err(BadTarget::Host)),
            ("a!b:443", "a!b", Err(BadTarget::Host)),
            (&long, &long, Err(BadTarget::Host)),
            ("shop.test", "shop.test", Err(BadTarget::Host)),
        ] {
            let found = super::tunnel(&parts(uri, Some(host))).map(|(host, _)| host);
            assert_eq!(found, expect.map(str::to_owned), "{uri} {host}");
        }
    }

    #[test]
    fn a_websocket_has_its_own_scheme() {
        let via = tunnel(Scheme::Https, "shop.test", 443);
        assert_eq!(head(&via, parts("/live", None), true).unwrap().url, "wss://shop.test/live");
    }
}
