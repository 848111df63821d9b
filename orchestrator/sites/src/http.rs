//! The small HTTP client that asks instances whether they are ready, logs in to them and probes
//! them.
//!
//! It speaks to one address and says the site's canonical name, as the gateway does. No redirect is
//! followed, no connection kept: each request is one plain question.

use std::time::Duration;

use camino::Utf8PathBuf;
use gateway::ClientTls;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Full;
use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Host;

use crate::{Site, Upstream};

/// More than any page that a condition or a log-in looks at.
const LARGEST_BODY: usize = 32 << 20;

/// How long one answer may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// Where an instance is, and by which name.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    server: String,
    port: u16,
    /// Authorities to believe besides the public web's, where it speaks TLS.
    tls: Option<Vec<Utf8PathBuf>>,
    host: HeaderValue,
    scheme: &'static str,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

impl Target {
    pub(crate) fn new(site: &Site, upstream: &Upstream) -> Target {
        let scheme = if site.address().starts_with("https:") { "https" } else { "http" };
        let (server, port, tls, host) = match upstream {
            Upstream::Address(address) => (address.ip().to_string(), address.port(), None, site.canonical()),
            Upstream::Url(url) => {
                let (server, by_name) = match url.host() {
                    Some(Host::Domain(name)) => (name.to_owned(), name != "localhost"),
                    Some(Host::Ipv4(ip)) => (ip.to_string(), false),
                    Some(Host::Ipv6(ip)) => (ip.to_string(), false),
                    None => (String::new(), false),
                };
                let own = &url[url::Position::BeforeHost..url::Position::BeforePath];
                let tls = (url.scheme() == "https").then(|| site.authority_file().into_iter().collect());
                let port = url.port_or_known_default().unwrap_or_default();
                (server, port, tls, if by_name { own } else { site.canonical() })
            }
        };
        let host = HeaderValue::from_str(host).unwrap_or(HeaderValue::from_static(""));
        Target { server, port, tls, host, scheme }
    }

    /// Asks for a page.
    pub(crate) async fn get(&self, path: &str, headers: HeaderMap) -> Result<Answer, String> {
        self.send(Method::GET, path, headers, Bytes::new()).await
    }

    /// Sends one request; `path` begins with a slash. The error says in words why there is no
    /// answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|error| format!("{path:?} is no path: {error}"))?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(header::HOST, self.host.clone());
        let forwarded = HeaderName::from_static("x-forwarded-proto");
        request.headers_mut().insert(forwarded, HeaderValue::from_static(self.scheme));
        let answering = async {
            let tcp = TcpStream::connect((self.server.as_str(), self.port))
                .await
                .map_err(|e| error_text::with_causes(&e))?;
            let Some(roots) = &self.tls else { return exchange(tcp, request).await };
            let tls = ClientTls::new(roots).map_err(|error| error_text::with_causes(&error))?;
            exchange(
                tls.connect(&self.server, tcp).await.map_err(|error| error_text::with_causes(&error))?,
                request,
            )
            .await
        };
        tokio::time::timeout(ANSWERS_WITHIN, answering)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())))
    }
}

/// One question over a connection of its own: a connection that is kept would occupy a worker of a
/// server that has few.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let answer = http_once::exchange(stream, request, LARGEST_BODY).await;
    let (head, body) = answer.map_err(|error| error_text::with_causes(&error))?.into_parts();
    Ok(Answer { status: head.status, headers: head.headers, body })
}
