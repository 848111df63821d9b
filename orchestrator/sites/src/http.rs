//! The small HTTP client that asks copies whether they are ready, logs in to them and probes them.
//!
//! It speaks to one address and says the site's canonical name, as the gateway does. No redirect is followed, no
//! connection kept: each request is one plain question.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::error::chain;
use crate::{Site, Upstream};

/// More than any page that a condition or a log-in looks at.
const LARGEST_BODY: usize = 32 << 20;

/// How long one answer may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// Where a copy is, and by which name.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    base: String,
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
        let (base, host) = match upstream {
            Upstream::Address(address) => (format!("http://{address}"), site.canonical().to_owned()),
            Upstream::Url(url) => (
                url[..url::Position::BeforePath].to_owned(),
                url[url::Position::BeforeHost..url::Position::BeforePath].to_owned(),
            ),
        };
        let scheme = if site.address().starts_with("https:") { "https" } else { "http" };
        Target { base, host: HeaderValue::from_str(&host).unwrap_or(HeaderValue::from_static("")), scheme }
    }

    /// Asks for a page.
    pub(crate) async fn get(&self, path: &str, headers: HeaderMap) -> Result<Answer, String> {
        self.send(Method::GET, path, headers, Bytes::new()).await
    }

    /// Sends one request; `path` begins with a slash. The error says in words why there is no answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = format!("{}{path}", self.base)
            .parse()
            .map_err(|error| format!("{path:?} is no path: {error}"))?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(header::HOST, self.host.clone());
        let forwarded = HeaderName::from_static("x-forwarded-proto");
        request.headers_mut().insert(forwarded, HeaderValue::from_static(self.scheme));
        let answering = async {
            let response = client().request(request).await.map_err(|error| chain(&error))?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, LARGEST_BODY).collect().await.map_err(|error| error.to_string())?;
            Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() })
        };
        tokio::time::timeout(ANSWERS_WITHIN, answering)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())))
    }
}

fn client() -> Client<HttpConnector, Full<Bytes>> {
    // A connection that is kept would occupy a worker of a server that has few.
    Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(HttpConnector::new())
}
