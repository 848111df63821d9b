//! Access control for local HTTP servers: programs may call them, web pages may not.
//!
//! A page in the user's own browser can send requests to loopback, by an image URL, a form or a
//! script. With DNS rebinding (its name resolves to 127.0.0.1) it can also read the answers. But
//! browsers send the requested name (`Host`) and the calling page (`Origin`, `Sec-Fetch-Site`), and
//! no page can change these headers.
//!
//! A request passes if all of these hold:
//!
//! - Its `Host` is the server's listening address, a loopback address or `localhost`.
//! - It comes from no page, or from a page of this same server.
//!
//! - It has the server's key: as the first part of its path, as in the address that the command
//!   printed, as `Authorization: Bearer KEY` or as `x-api-key: KEY`. Loopback is shared by all
//!   users of a machine, and the key is what keeps the others away.
//!
//! Every other request gets a 403, or a 401 without the key, before it has any effect. A server
//! behind a door that asks who comes needs no key ([`Guard::of_open_door`]).
//! [`serve`] gives servers their deadlines.

pub mod key;
mod serve;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
pub use key::{Key, KeyError};
pub use serve::{Deadlines, serve, serve_within};
use tower::ServiceExt as _;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request was refused. Displays as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The request has no `Host` header, or several.
    NoHost,
    /// The `Host` is not a name of this server.
    Host {
        /// The requested name, with its port.
        host: String,
        /// Where the server listens.
        at: SocketAddr,
    },
    /// A page of another origin sent it.
    Origin(String),
    /// A page of another site sent it, and the request does not name the page.
    Site(String),
    /// It does not have the server's key.
    Key,
}

impl Refusal {
    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        if matches!(self, Refusal::Key) { StatusCode::UNAUTHORIZED } else { StatusCode::FORBIDDEN }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoHost => f.write_str("refused: the request names no Host, or several"),
            Refusal::Host { host, at } => {
                write!(
                    f,
                    "refused: the request is for the Host {host}, and this is {at}; ask by that address"
                )
            }
            Refusal::Origin(origin) => write!(
                f,
                "refused: the request comes from a web page (its Origin is {origin}), and only programs may ask here"
            ),
            Refusal::Site(site) => write!(
                f,
                "refused: the request comes from a web page (its Sec-Fetch-Site is {site}), and only programs may ask here"
            ),
            Refusal::Key => f.write_str(
                "refused: the request does not have this server's key; ask by the whole address that its command \
                 printed, or send `Authorization: Bearer KEY` with the first part of that address's path",
            ),
        }
    }
}

impl std::error::Error for Refusal {}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status(), self.to_string()).into_response()
    }
}

/// Decides which requests reach a server.
#[derive(Debug, Clone)]
pub struct Guard {
    at: SocketAddr,
    key: Option<Key>,
    keyless: Option<&'static str>,
}

impl Guard {
    /// Allows programs that use the listening address `at`, and have the key.
    pub fn new(at: SocketAddr, key: Key) -> Guard {
        Guard { at, key: Some(key), keyless: None }
    }

    /// Allows whoever gets to the listening address `at`, except web pages. A door must have asked
    /// before who comes.
    pub fn of_open_door(at: SocketAddr) -> Guard {
        Guard { at, key: None, keyless: None }
    }

    /// The server's address, with its key: the base of the URLs of all requests. It ends without a
    /// slash.
    pub fn url(&self) -> String {
        let key = self.key.iter().map(|key| format!("/{}", key.text()));
        format!("http://{}{}", self.at, key.collect::<String>())
    }

    /// Also allows requests for this path without the key. What answers there must ask for a secret
    /// of its own, or tell nothing.
    #[must_use]
    pub fn without_key_at(self, path: &'static str) -> Guard {
        Guard { keyless: Some(path), ..self }
    }

    /// Puts this guard in front of the router. `say` turns a refusal into a response.
    pub fn before(self, router: Router, say: fn(Refusal) -> Response) -> Router {
        let guard = Arc::new(self);
        Router::new().fallback(move |request: Request| {
            let (guard, router) = (Arc::clone(&guard), router.clone());
            async move {
                match guard.admit(request) {
                    Ok(request) => match router.oneshot(request).await {
                        Ok(response) => as_named(response),
                        Err(never) => match never {},
                    },
                    Err(refusal) => {
                        let mut response = as_named(say(refusal));
                        // Who has no key keeps no connection.
                        response
                            .headers_mut()
                            .insert(header::CONNECTION, HeaderValue::from_static("close"));
                        response
                    }
                }
            }
        })
    }

    /// The request as its router knows it: without the key in its path.
    fn admit(&self, mut request: Request) -> Result<Request, Refusal> {
        self.check(request.uri(), request.headers())?;
        let Some(key) = &self.key else { return Ok(request) };
        if let Some(path) = below_key(key, request.uri()) {
            let mut parts = std::mem::take(request.uri_mut()).into_parts();
            parts.path_and_query = Some(path);
            *request.uri_mut() = Uri::from_parts(parts).map_err(|_| Refusal::Key)?;
            return Ok(request);
        }
        let is_keyless = self.keyless == Some(request.uri().path());
        if is_keyless || has_key(key, request.headers()) { Ok(request) } else { Err(Refusal::Key) }
    }

    /// Decides by name and origin whether a request passes.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else { return Err(Refusal::NoHost) };
        let host = host.to_str().map_err(|_| Refusal::NoHost)?;
        // A host in the request line takes precedence, but the `Host` header must be valid as well.
        for host in uri.authority().map(http::uri::Authority::as_str).into_iter().chain([host]) {
            if !self.is_own(host) {
                return Err(Refusal::Host { host: host.to_owned(), at: self.at });
            }
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = String::from_utf8_lossy(origin.as_bytes());
            if !origin.strip_prefix("http://").is_some_and(|own| self.is_own(own)) {
                return Err(Refusal::Origin(origin.into_owned()));
            }
        }
        for site in headers.get_all(SEC_FETCH_SITE) {
            if !matches!(site.as_bytes(), b"same-origin" | b"none") {
                return Err(Refusal::Site(String::from_utf8_lossy(site.as_bytes()).into_owned()));
            }
        }
        Ok(())
    }

    /// Whether a program may name the server so. IP addresses are safe: nobody can make them
    /// resolve to another machine.
    fn is_own(&self, authority: &str) -> bool {
        let Ok(url) = url::Url::parse(&format!("http://{authority}/")) else { return false };
        let plain = url.path() == "/" && url.username().is_empty() && url.password().is_none();
        if !plain || url.query().is_some() || url.port_or_known_default() != Some(self.at.port()) {
            return false;
        }
        let is_here =
            |ip: IpAddr| ip.is_loopback() || ip == self.at.ip() || self.at.ip().is_unspecified();
        match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(ip)) => is_here(ip.into()),
            Some(url::Host::Ipv6(ip)) => is_here(ip.into()),
            None => false,
        }
    }
}

/// The path and query behind the key.
fn below_key(key: &Key, uri: &Uri) -> Option<PathAndQuery> {
    let path = uri.path().strip_prefix('/')?;
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if !key::same(first, key.text()) {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("/{rest}{query}").parse().ok()
}

fn has_key(key: &Key, headers: &HeaderMap) -> bool {
    let bearer = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| {
        let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
    });
    let plain = headers.get_all(API_KEY).iter().filter_map(|value| value.to_str().ok());
    bearer.chain(plain).fold(false, |found, given| found | key::same(given, key.text()))
}

/// No browser guesses what a response is, errors included.
fn as_named(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    fn judge(guard: &Guard, uri: &str, fields: &[(&'static str, &str)]) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        guard.check(&uri.parse().unwrap(), &headers)
    }

    fn here() -> Guard {
        Guard::new(([127, 0, 0, 1], 7565).into(), Key::derived("secret", "test"))
    }

    #[test]
    fn programs_are_let_in_by_every_address_of_the_server() {
        for host in
            ["127.0.0.1:7565", "localhost:7565", "LOCALHOST:7565", "[::1]:7565", "127.0.0.2:7565"]
        {
            assert_eq!(judge(&here(), "/", &[("host", host)]), Ok(()), "{host}");
        }
        let everywhere = Guard::new(([0, 0, 0, 0], 80).into(), Key::random());
        for host in ["192.0.2.7", "192.0.2.7:80", "localhost"] {
            assert_eq!(judge(&everywhere, "/", &[("host", host)]), Ok(()), "{host}");
        }
        assert_eq!(judge(&here(), "http://localhost:7565/", &[("host", "localhost:7565")]), Ok(()));
    }

    #[test]
    fn names_that_somebody_else_can_lead_here_are_refused() {
        for host in [
            "evil.test:7565",
            "localhost.evil.test:7565",
            "127.0.0.1.evil.test:7565",
            "127.0.0.1:80",
            "127.0.0.1",
            "192.0.2.7:7565",
            "x@127.0.0.1:7565",
            "127.0.0.1:7565/x",
            "",
        ] {
            let refused = judge(&here(), "/", &[("host", host)]);
            assert!(matches!(refused, Err(Refusal::Host { .. })), "{host}: {refused:?}");
        }
        let other = judge(&here(), "http://evil.test:7565/", &[("host", "127.0.0.1:7565")]);
        assert!(matches!(other, Err(Refusal::Host { .. })), "{other:?}");
        assert_eq!(judge(&here(), "/", &[]), Err(Refusal::NoHost));
        let twice = [("host", "127.0.0.1:7565"), ("host", "evil.test")];
        assert_eq!(judge(&here(), "/", &twice), Err(Refusal::NoHost));
        let everywhere = Guard::new(([0, 0, 0, 0], 80).into(), Key::random());
        assert!(judge(&everywhere, "/", &[("host", "evil.test")]).is_err());
    }

    #[test]
    fn pages_of_others_are_refused() {
        let own = ("host", "127.0.0.1:7565");
        for origin in
            ["https://evil.test", "null", "http://localhost:80", "https://127.0.0.1:7565", ""]
        {
            let refused = judge(&here(), "/", &[own, ("origin", origin)]);
            assert_eq!(refused, Err(Refusal::Origin(origin.to_owned())));
        }
        for site in ["cross-site", "same-site", "SAME-ORIGIN", ""] {
            let refused = judge(&here(), "/", &[own, ("sec-fetch-site", site)]);
            assert_eq!(refused, Err(Refusal::Site(site.to_owned())));
        }
        let good = [own, ("origin", "http://127.0.0.1:7565"), ("sec-fetch-site", "same-origin")];
        assert_eq!(judge(&here(), "/", &good), Ok(()));
        assert_eq!(judge(&here(), "/", &[own, ("sec-fetch-site", "none")]), Ok(()));
    }

    #[tokio::test]
    async fn behind_a_door_requests_need_no_key_and_pages_are_refused() {
        let guard = Guard::of_open_door(([127, 0, 0, 1], 7565).into());
        assert_eq!(guard.url(), "http://127.0.0.1:7565");
        let router = Router::new().route("/a", get(async || "in"));
        let router = guard.before(router, IntoResponse::into_response);
        for (field, status) in [
            (("accept", "*/*"), 200),
            (("authorization", "Basic YTpi"), 200),
            (("origin", "https://evil.test"), 403),
            (("sec-fetch-site", "cross-site"), 403),
        ] {
            let request = Request::get("/a").header("host", "127.0.0.1:7565");
            let request = request.header(field.0, field.1).body(Body::empty()).unwrap();
            assert_eq!(
                router.clone().oneshot(request).await.unwrap().status(),
                status,
                "{field:?}"
            );
        }
        let elsewhere = Request::get("/a").header("host", "evil.test:7565").body(Body::empty());
        assert_eq!(router.oneshot(elsewhere.unwrap()).await.unwrap().status(), 403);
    }

    #[tokio::test]
    async fn what_is_refused_does_nothing_and_says_why() {
        let shown = async |uri: Uri| uri.to_string();
        let router = Router::new().route("/", get(shown)).route("/a/{b}", get(shown));
        let router = router.route("/own-secret", get(shown));
        let router =
            here().without_key_at("/own-secret").before(router, IntoResponse::into_response);
        let key = Key::derived("secret", "test");
        let key = key.text();
        let ask = async |path: &str, field: Option<(&str, &str)>| {
            let request = Request::get(path).header("host", "127.0.0.1:7565");
            let request = field
                .into_iter()
                .fold(request, |request, (name, value)| request.header(name, value));
            let answer =
                router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            (status, String::from_utf8(body.to_vec()).unwrap())
        };
        let bearer = format!("Bearer {key}");
        let lower = format!("bearer {key}");
        for (path, field, seen) in [
            (format!("/{key}"), None, "/"),
            (format!("/{key}/"), None, "/"),
            (format!("/{key}/a/%2e%2e?x=1&y"), None, "/a/%2e%2e?x=1&y"),
            (format!("/{key}?x"), None, "/?x"),
            ("/a/b?c".to_owned(), Some(("authorization", bearer.as_str())), "/a/b?c"),
            ("/a/b".to_owned(), Some(("authorization", lower.as_str())), "/a/b"),
            ("/".to_owned(), Some(("x-api-key", key)), "/"),
            ("/own-secret".to_owned(), None, "/own-secret"),
        ] {
            assert_eq!(ask(&path, field).await, (200, seen.to_owned()), "{path}");
        }
        let wrong = format!("Bearer {key}0");
        for (path, field) in [
            ("/".to_owned(), None),
            ("/a/b".to_owned(), None),
            (format!("//{key}/a/b"), None),
            (format!("/a/{key}"), None),
            (format!("/{key}0/a/b"), None),
            (format!("/{}/a/b", &key[1..]), None),
            (format!("/{}/a/b", key.to_uppercase()), None),
            (format!("/?{key}"), None),
            ("/own-secret/".to_owned(), None),
            ("/".to_owned(), Some(("authorization", wrong.as_str()))),
            ("/".to_owned(), Some(("authorization", key))),
            ("/".to_owned(), Some(("x-api-key", ""))),
        ] {
            let (status, said) = ask(&path, field).await;
            assert!(
                status == 401 && said.contains("key") && !said.contains(key),
                "{path}: {status} {said}"
            );
        }
        for path in [format!("/{key}/"), "/".to_owned(), "/own-secret".to_owned()] {
            let (status, said) = ask(&path, Some(("origin", "https://evil.test"))).await;
            assert!(
                status == 403 && said.contains("its Origin is https://evil.test"),
                "{status} {said}"
            );
        }
        assert_eq!(here().url(), format!("http://127.0.0.1:7565/{key}"));
    }
}
