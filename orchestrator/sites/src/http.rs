//! A small HTTP client for instances: readiness checks, log-ins and probes.
//!
//! It connects to the address of an instance and sends the site's canonical name as host, as the
//! gateway does. It does not follow redirects and does not keep connections open.

use std::time::Duration;

use camino::Utf8PathBuf;
use doors::unix;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Full;
use http_client::ClientTls;
use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Host;

use crate::{Site, SiteTarget};

/// The maximum size of a response body in bytes; larger than any page that a condition or a log-in
/// reads.
const LARGEST_BODY: usize = 32 << 20;

/// The timeout of one response.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
enum Server {
    /// Host and port.
    Tcp(String, u16),
    Socket(Utf8PathBuf),
}

/// The address of an instance, and the host name to send.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    server: Server,
    /// Additional trusted certificate authorities, if the site uses TLS.
    tls: Option<Vec<Utf8PathBuf>>,
    host: HeaderValue,
    scheme: &'static str,
}

/// An HTTP response.
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
    pub(crate) fn new(site: &Site, upstream: &SiteTarget) -> Target {
        let scheme = if site.address().starts_with("https:") { "https" } else { "http" };
        let (server, tls, host) = match upstream {
            SiteTarget::Address(address) => {
                (Server::Tcp(address.ip().to_string(), address.port()), None, site.canonical())
            }
            SiteTarget::Socket(path) => (Server::Socket(path.clone()), None, site.canonical()),
            SiteTarget::Url(url) => {
                let (server, by_name) = match url.host() {
                    Some(Host::Domain(name)) => (name.to_owned(), name != "localhost"),
                    Some(Host::Ipv4(ip)) => (ip.to_string(), false),
                    Some(Host::Ipv6(ip)) => (ip.to_string(), false),
                    None => (String::new(), false),
                };
                let own = &url[url::Position::BeforeHost..url::Position::BeforePath];
                let tls =
                    (url.scheme() == "https").then(|| site.authority_file().into_iter().collect());
                let port = url.port_or_known_default().unwrap_or_default();
                (Server::Tcp(server, port), tls, if by_name { own } else { site.canonical() })
            }
        };
        let host = HeaderValue::from_str(host).unwrap_or(HeaderValue::from_static(""));
        Target { server, tls, host, scheme }
    }

    /// Sends a GET request.
    pub(crate) async fn get(&self, path: &str, headers: HeaderMap) -> Result<Answer, String> {
        self.send(Method::GET, path, headers, Bytes::new()).await
    }

    /// Sends one request; `path` begins with a slash. The error text says why there is no response.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() =
            path.parse().map_err(|error| format!("{path:?} is no path: {error}"))?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(header::HOST, self.host.clone());
        // Behind a proxy, applications take the scheme of their own links from this header.
        let forwarded = HeaderName::from_static("x-forwarded-proto");
        request.headers_mut().insert(forwarded, HeaderValue::from_static(self.scheme));
        let answering = async {
            let (server, port) = match &self.server {
                Server::Tcp(server, port) => (server.as_str(), *port),
                Server::Socket(path) => {
                    let stream = unix::connect(path.as_std_path()).await;
                    return exchange(stream.map_err(|e| error_text::with_causes(&e))?, request)
                        .await;
                }
            };
            let tcp = TcpStream::connect((server, port))
                .await
                .map_err(|e| error_text::with_causes(&e))?;
            let Some(roots) = &self.tls else { return exchange(tcp, request).await };
            let tls = ClientTls::new(roots).map_err(|error| error_text::with_causes(&error))?;
            exchange(
                tls.connect(server, tcp).await.map_err(|error| error_text::with_causes(&error))?,
                request,
            )
            .await
        };
        tokio::time::timeout(ANSWERS_WITHIN, answering)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())))
    }
}

/// Sends one request over a new connection. A kept connection would occupy a worker of a server
/// with few workers.
async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let answer = http_once::exchange(stream, request, LARGEST_BODY).await;
    let (head, body) = answer.map_err(|error| error_text::with_causes(&error))?.into_parts();
    Ok(Answer { status: head.status, headers: head.headers, body })
}
