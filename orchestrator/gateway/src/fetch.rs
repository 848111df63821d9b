//! The gateway's own HTTP client, for scorers. Its requests use the same routes as the browser's
//! and appear in the same ledger.

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Full;
use hyper::body::Bytes;
use url::Url;

use crate::Gateway;

/// The maximum size of a response body.
const LARGEST_BODY: usize = 64 << 20;
/// The maximum number of redirects, as in Python's `requests`.
const REDIRECTS: usize = 30;

/// A response to [`Gateway::fetch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedResponse {
    /// The status.
    pub status: StatusCode,
    /// The whole body, as sent.
    pub body: Bytes,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
#[error("fetch {url}: {why}")]
pub struct FetchError {
    /// The requested URL.
    pub url: String,
    /// The cause, in words.
    pub why: String,
}

impl Gateway {
    /// Sends a request as a non-browser client: without cookies or other browser state. Follows
    /// redirects of a GET. The deadline is the gateway's limit for its own servers.
    ///
    /// # Errors
    /// The URL is invalid, or the response breaks off. A response that the gateway itself makes,
    /// such as a refusal, is not an error.
    pub async fn fetch(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<FetchedResponse, FetchError> {
        let failed = |url: &str, why: String| FetchError { url: url.to_owned(), why };
        let mut url = Url::parse(url).map_err(|error| failed(url, error.to_string()))?;
        url.set_fragment(None);
        let mut redirects = 0;
        loop {
            let exchange = self.ask(method.clone(), &url, headers.clone(), body.clone());
            let (fetched, location) = exchange.await.map_err(|why| failed(url.as_str(), why))?;
            let next =
                location.filter(|_| method == Method::GET && fetched.status.is_redirection());
            let Some(next) = next else { return Ok(fetched) };
            redirects += 1;
            if redirects > REDIRECTS {
                return Err(failed(url.as_str(), format!("more than {REDIRECTS} redirects")));
            }
            url = url.join(&next).map_err(|error| failed(&next, error.to_string()))?;
        }
    }

    async fn ask(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(FetchedResponse, Option<String>), String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        // The absolute form, as in a request to any proxy, whatever the scheme.
        *request.uri_mut() = url.as_str().parse::<Uri>().map_err(|error| error.to_string())?;
        *request.headers_mut() = headers;
        let authority = request.uri().authority().map(|host| HeaderValue::from_str(host.as_str()));
        let host = authority.ok_or("it names no host")?.map_err(|error| error.to_string())?;
        request.headers_mut().insert(header::HOST, host);
        request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let answer = http_once::exchange(self.connect().await, request, LARGEST_BODY)
            .await
            .map_err(|error| error_text::with_causes(&error))?;
        let location = answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
        let location = location.map(str::to_owned);
        Ok((FetchedResponse { status: answer.status(), body: answer.into_body() }, location))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::{Answer, CertificateAuthority, Config, Routes, Target};

    async fn gateway(target: Target) -> Gateway {
        let authority = CertificateAuthority::in_memory().unwrap();
        let mut config = Config::for_everybody(authority.into(), Routes::all(target));
        config.allow_private = true;
        Gateway::start(config).await.unwrap()
    }

    async fn get(gateway: &Gateway, url: &str) -> Result<FetchedResponse, FetchError> {
        gateway.fetch(Method::GET, url, HeaderMap::new(), Bytes::new()).await
    }

    #[tokio::test]
    async fn what_has_no_route_is_refused_and_told_whatever_its_scheme() {
        let gateway = gateway(Target::Refuse).await;
        for url in ["http://a.test/x", "https://a.test/y"] {
            assert!(!get(&gateway, url).await.unwrap().status.is_success());
        }
        assert!(get(&gateway, "a.test").await.is_err());
        let ledger = gateway.ledger();
        let entries: Vec<_> =
            ledger.entries().into_iter().map(|entry| (entry.url, entry.answer)).collect();
        assert_eq!(entries.len(), 2);
        assert!(
            entries.iter().all(|(_, answer)| matches!(answer, Answer::Refused { .. })),
            "{entries:?}"
        );
    }

    #[tokio::test]
    async fn redirects_of_a_get_are_followed_and_no_others() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = server.accept().await {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap();
                let answer = if request[..length].windows(6).any(|part| part == b" /old ") {
                    "HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                } else {
                    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\noak"
                };
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let gateway = gateway(Target::Forward).await;
        let old = format!("http://{address}/old");
        let fetched = get(&gateway, &old).await.unwrap();
        assert_eq!((fetched.status, &fetched.body[..]), (StatusCode::OK, &b"oak"[..]));
        let posted =
            gateway.fetch(Method::POST, &old, HeaderMap::new(), Bytes::from_static(b"x")).await;
        assert_eq!(posted.unwrap().status, StatusCode::FOUND);
    }
}
