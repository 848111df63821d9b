//! The gateway's own client: what a scorer asks of the world, by the same routes as the browser and in the same ledger.

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use url::Url;

use crate::{Gateway, error_text::chain};

/// No answer may be larger.
const LARGEST_BODY: usize = 64 << 20;
/// So many redirects are followed, as `requests` follows them.
const REDIRECTS: usize = 30;

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The status.
    pub status: StatusCode,
    /// All of the body, as it was sent.
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("fetch {url}: {why}")]
pub struct FetchError {
    /// The address that was asked for.
    pub url: String,
    /// In words.
    pub why: String,
}

impl Gateway {
    /// Asks for something as a client that is no browser does: with no cookies, and nothing that the browser knows. Redirects of a GET are
    /// followed. How long it may take is what the gateway grants its own servers.
    ///
    /// # Errors
    /// When the address is none, or the answer breaks off. What the gateway itself answers, such as a refusal, is an answer.
    pub async fn fetch(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Fetched, FetchError> {
        let failed = |url: &str, why: String| FetchError { url: url.to_owned(), why };
        let mut url = Url::parse(url).map_err(|error| failed(url, error.to_string()))?;
        url.set_fragment(None);
        let mut redirects = 0;
        loop {
            let asked = self.ask(method.clone(), &url, headers.clone(), body.clone());
            let (fetched, location) = asked.await.map_err(|why| failed(url.as_str(), why))?;
            let next = location.filter(|_| method == Method::GET && fetched.status.is_redirection());
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
    ) -> Result<(Fetched, Option<String>), String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        // As to any proxy: the whole address, whatever its scheme.
        *request.uri_mut() = url.as_str().parse::<Uri>().map_err(|error| error.to_string())?;
        *request.headers_mut() = headers;
        let authority = request.uri().authority().map(|host| HeaderValue::from_str(host.as_str()));
        let host = authority.ok_or("it names no host")?.map_err(|error| error.to_string())?;
        request.headers_mut().insert(header::HOST, host);
        request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let stream = TcpStream::connect(self.local_addr()).await.map_err(|error| chain(&error))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| chain(&error))?;
        // Its end is the end of the answer, which tells what went wrong.
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(|error| chain(&error))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, LARGEST_BODY).collect().await.map_err(|error| error.to_string())?;
        let location = head.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        Ok((Fetched { status: head.status, body: body.to_bytes() }, location.map(str::to_owned)))
    }
}
