//! Access control for local HTTP servers: programs may call them, web pages may not.
//!
//! A page in the user's own browser can send requests to loopback, by an image URL, a form or a
//! script. With DNS rebinding (its name resolves to 127.0.0.1) it can also read the answers. But
//! browsers send the requested name (`Host`) and the calling page (`Origin`, `Sec-Fetch-Site`), and
//! no page can change these headers.
//!
//! A request passes if both of these hold:
//!
//! - Its `Host` is the server's listening address, a loopback address or `localhost`.
//! - It comes from no page, or from a page of this same server.
//!
//! Every other request gets a 403 before it has any effect.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, StatusCode, Uri, header};

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
        }
    }
}

impl std::error::Error for Refusal {}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, self.to_string()).into_response()
    }
}

/// Decides which requests reach a server.
#[derive(Debug, Clone)]
pub struct Guard {
    at: SocketAddr,
    names: Vec<String>,
}

impl Guard {
    /// Allows programs that use the listening address `at`.
    pub fn new(at: SocketAddr) -> Guard {
        Guard { at, names: Vec::new() }
    }

    /// Also allows every request, from pages too, whose `Host` is one of these names. Our proxy
    /// forwards such requests, and the application behind protects itself. A name may be
    /// `*.example.test`. A port in a name is ignored.
    pub fn with_names(self, names: impl IntoIterator<Item = String>) -> Guard {
        Guard { names: names.into_iter().map(|name| host_of(&name).to_ascii_lowercase()).collect(), ..self }
    }

    /// Puts this guard in front of the router. `say` turns a refusal into a response.
    pub fn before(self, router: Router, say: fn(Refusal) -> Response) -> Router {
        router.layer(middleware::from_fn_with_state((Arc::new(self), say), check_request))
    }

    /// Decides whether a request passes.
    ///
    /// # Errors
    /// When it does not: the reason.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else { return Err(Refusal::NoHost) };
        let host = host.to_str().map_err(|_| Refusal::NoHost)?;
        // A host in the request line takes precedence, but the `Host` header must be valid as well.
        for host in uri.authority().map(http::uri::Authority::as_str).into_iter().chain([host]) {
            if self.is_named(host) {
                return Ok(());
            }
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
        let is_here = |ip: IpAddr| ip.is_loopback() || ip == self.at.ip() || self.at.ip().is_unspecified();
        match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(ip)) => is_here(ip.into()),
            Some(url::Host::Ipv6(ip)) => is_here(ip.into()),
            None => false,
        }
    }

    fn is_named(&self, authority: &str) -> bool {
        let host = host_of(authority).to_ascii_lowercase();
        self.names.iter().any(|name| match name.strip_prefix('*') {
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => *name == host,
        })
    }
}

/// The host without its port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

type GuardState = (Arc<Guard>, fn(Refusal) -> Response);

async fn check_request(State((guard, say)): State<GuardState>, request: Request, next: Next) -> Response {
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => say(refusal),
    }
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
        Guard::new(([127, 0, 0, 1], 7565).into())
    }

    #[test]
    fn programs_are_let_in_by_every_address_of_the_server() {
        for host in ["127.0.0.1:7565", "localhost:7565", "LOCALHOST:7565", "[::1]:7565", "127.0.0.2:7565"] {
            assert_eq!(judge(&here(), "/", &[("host", host)]), Ok(()), "{host}");
        }
        let everywhere = Guard::new(([0, 0, 0, 0], 80).into());
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
        let everywhere = Guard::new(([0, 0, 0, 0], 80).into());
        assert!(judge(&everywhere, "/", &[("host", "evil.test")]).is_err());
    }

    #[test]
    fn pages_of_others_are_refused() {
        let own = ("host", "127.0.0.1:7565");
        for origin in ["https://evil.test", "null", "http://localhost:80", "https://127.0.0.1:7565", ""] {
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

    #[test]
    fn what_a_proxy_passes_on_by_a_known_name_is_the_applications_affair() {
        let names = ["Forum.test", "desk.test:8443", "*.files.test"].map(str::to_owned);
        let guard = here().with_names(names);
        let page = ("origin", "https://elsewhere.test");
        for host in ["forum.test", "forum.test:444", "desk.test", "a.files.test"] {
            assert_eq!(judge(&guard, "/", &[("host", host), page]), Ok(()), "{host}");
        }
        for host in ["files.test", "xforum.test", "evil.test"] {
            assert!(judge(&guard, "/", &[("host", host)]).is_err(), "{host}");
        }
        assert!(judge(&guard, "/", &[("host", "127.0.0.1:7565"), page]).is_err());
    }

    #[tokio::test]
    async fn what_is_refused_does_nothing_and_says_why() {
        let router = Router::new().route("/", get(|| async { "done" }));
        let router = here().before(router, IntoResponse::into_response);
        let ask = async |path: &str, origin: Option<&str>| {
            let request = Request::get(path).header("host", "127.0.0.1:7565");
            let request =
                origin.into_iter().fold(request, |request, origin| request.header("origin", origin));
            let answer = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            (status, String::from_utf8(body.to_vec()).unwrap())
        };
        assert_eq!(ask("/", None).await, (200, "done".to_owned()));
        for path in ["/", "/nothing-there"] {
            let (status, said) = ask(path, Some("https://evil.test")).await;
            assert!(status == 403 && said.contains("its Origin is https://evil.test"), "{status} {said}");
        }
    }
}
