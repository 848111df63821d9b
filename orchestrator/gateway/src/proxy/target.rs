//! From what a client sent to the absolute URL it means.

use std::net::Ipv6Addr;

use http::{Method, Version, header::HOST, request, uri::Authority};

use crate::{
    RequestHead, Scheme,
    upstream::{end_to_end, join_cookies},
};

/// The way a request came.
#[derive(Debug, Clone)]
pub(super) enum Via {
    /// Straight to the proxy: the target is an absolute URL.
    Proxy,
    /// Through a tunnel, whose server is given.
    Tunnel { scheme: Scheme, host: String, port: u16 },
}

/// A request that names no URL we could serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadTarget {
    #[error("this is a proxy: it takes absolute URLs and CONNECT")]
    NotProxied,
    #[error("only http: and https: are served")]
    Scheme,
    #[error("the host is missing or malformed")]
    Host,
    #[error("the request names another host than its tunnel")]
    Misdirected,
}

/// The host (lower-case, no brackets) and port of an authority.
pub(super) fn host_and_port(authority: &Authority, default: Option<u16>) -> Result<(String, u16), BadTarget> {
    if authority.as_str().contains('@') {
        return Err(BadTarget::Host);
    }
    let host = authority.host();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
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

/// The request's head as the rest of the crate sees it.
pub(super) fn head(via: &Via, parts: request::Parts, websocket: bool) -> Result<RequestHead, BadTarget> {
    let (scheme, host, port) = match via {
        Via::Proxy => {
            let scheme = match parts.uri.scheme_str() {
                Some("http") => Scheme::Http,
                Some("https") => Scheme::Https,
                Some(_) => return Err(BadTarget::Scheme),
                None => return Err(BadTarget::NotProxied),
            };
            let authority = parts.uri.authority().ok_or(BadTarget::Host)?;
            let (host, port) = host_and_port(authority, Some(scheme.default_port()))?;
            (scheme, host, port)
        }
        Via::Tunnel { scheme, host, port } => {
            let named = match parts.uri.authority() {
                Some(authority) => Some(host_and_port(authority, Some(scheme.default_port()))?),
                None => match parts.headers.get(HOST) {
                    Some(value) => {
                        let authority = Authority::try_from(value.as_bytes()).map_err(|_| BadTarget::Host)?;
                        Some(host_and_port(&authority, Some(scheme.default_port()))?)
                    }
                    None => None,
                },
            };
            if named.is_some_and(|(named, its_port)| named != *host || its_port != *port) {
                return Err(BadTarget::Misdirected);
            }
            (*scheme, host.clone(), *port)
        }
    };
    let path = match parts.uri.path_and_query() {
        // `OPTIONS *` speaks of the server as a whole.
        Some(path) if path.as_str() == "*" && parts.method == Method::OPTIONS => "/*",
        Some(path) => path.as_str(),
        None => "/",
    };
    let url = absolute(scheme, &host, port, path, websocket);
    let mut headers = end_to_end(parts.headers);
    if parts.version == Version::HTTP_2 {
        join_cookies(&mut headers);
    }
    Ok(RequestHead { method: parts.method, url, scheme, host, port, version: parts.version, headers })
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

    fn parts(uri: &str, host: Option<&str>) -> request::Parts {
        let mut request = Request::builder().uri(uri);
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
        check(&Via::Proxy, "http://Shop.TEST/A?b=%7e", None, Ok("http://shop.test/A?b=%7e"));
        check(&Via::Proxy, "http://shop.test:80", Some("other.test"), Ok("http://shop.test/"));
        check(&Via::Proxy, "http://shop.test?q", None, Ok("http://shop.test/?q"));
        check(&Via::Proxy, "http://[::1]:81/", None, Ok("http://[::1]:81/"));
        check(&Via::Proxy, "http://shop.test./", None, Ok("http://shop.test/"));
        check(&Via::Proxy, "/", Some("shop.test"), Err(BadTarget::NotProxied));
        check(&Via::Proxy, "ftp://shop.test/", None, Err(BadTarget::Scheme));
        check(&Via::Proxy, "http://user@shop.test/", None, Err(BadTarget::Host));
        check(&Via::Proxy, "http://shop.test:0/", None, Err(BadTarget::Host));
    }

    #[test]
    fn a_tunnel_names_the_server_and_the_request_must_agree() {
        let via = tunnel(Scheme::Https, "shop.test", 443);
        check(&via, "/a", Some("shop.test"), Ok("https://shop.test/a"));
        check(&via, "/a", Some("SHOP.test:443"), Ok("https://shop.test/a"));
        check(&via, "/a", None, Ok("https://shop.test/a"));
        check(&via, "https://shop.test/a", None, Ok("https://shop.test/a"));
        check(&via, "/a", Some("forum.test"), Err(BadTarget::Misdirected));
        check(&via, "/a", Some("shop.test:444"), Err(BadTarget::Misdirected));
        check(&tunnel(Scheme::Http, "::1", 8080), "/", Some("[::1]:8080"), Ok("http://[::1]:8080/"));
    }

    #[test]
    fn a_websocket_has_its_own_scheme() {
        let via = tunnel(Scheme::Https, "shop.test", 443);
        assert_eq!(head(&via, parts("/live", None), true).unwrap().url, "wss://shop.test/live");
    }
}
