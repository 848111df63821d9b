//! Sends the requests of `object_store` through our HTTP client.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, LOCATION};
use http::{Method, Request, Uri};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use url::Url;

/// Until a response begins.
const ANSWER: Duration = Duration::from_secs(60);
/// The same where a part is uploaded first, over a slow line.
const UPLOAD: Duration = Duration::from_secs(600);
/// The same of the service that tells a cloud's machines their credentials. Elsewhere nothing
/// answers at its address.
const METADATA: (&str, Duration) = ("169.254.169.254", Duration::from_secs(2));
/// The most bytes of the body of an error.
const MOST_ERROR: u64 = 64 << 10;
/// Until the next bytes of a response.
const STALL: Duration = Duration::from_secs(20);
/// How often a server may send the client elsewhere.
const REDIRECTS: usize = 5;

/// Makes clients of our kind.
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Client);

/// Our HTTP client, as `object_store` calls one.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: http_client::Client<HttpRequestBody>,
    /// Whether to go where a server sends a reader. Signed requests stay where they were signed
    /// for.
    pub(crate) follows: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("follows", &self.follows).finish_non_exhaustive()
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

#[async_trait::async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        for _ in 0..=REDIRECTS {
            let request = Request::from_parts(parts.clone(), body.clone());
            let is_metadata = parts.uri.host() == Some(METADATA.0);
            let within = match (is_metadata, body.content_length()) {
                (true, _) => METADATA.1,
                (false, 0) => ANSWER,
                (false, _) => UPLOAD,
            };
            let late = |_| {
                let text = match is_metadata {
                    true => NO_CREDENTIALS.to_owned(),
                    false => format!("the server has not answered within {} s", within.as_secs()),
                };
                HttpError::new(HttpErrorKind::Timeout, Text(text))
            };
            let response = timeout(within, self.http.request(request))
                .await
                .map_err(late)?
                .map_err(|error| {
                    if is_metadata {
                        return HttpError::new(
                            HttpErrorKind::Unknown,
                            Text(NO_CREDENTIALS.to_owned()),
                        );
                    }
                    let kind = if error.is_connect() {
                        HttpErrorKind::Connect
                    } else {
                        HttpErrorKind::Request
                    };
                    HttpError::new(kind, Text(error_text::with_causes(&error)))
                })?;
            let next =
                self.follows.then(|| elsewhere(&parts.method, &parts.uri, &response)).flatten();
            let Some(next) = next else {
                let most = if response.status().is_success() { u64::MAX } else { MOST_ERROR };
                return Ok(response.map(|body| HttpResponseBody::new(LimitedBody::new(body, most))));
            };
            if next.authority() != parts.uri.authority() {
                parts.headers.remove(AUTHORIZATION);
            }
            parts.uri = next;
        }
        Err(HttpError::new(
            HttpErrorKind::Unknown,
            Text("the server sends the reader in circles".to_owned()),
        ))
    }
}

/// Where a response sends a reader. Never from `https` to `http`.
fn elsewhere(method: &Method, from: &Uri, response: &http::Response<Incoming>) -> Option<Uri> {
    if !response.status().is_redirection() || !matches!(*method, Method::GET | Method::HEAD) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let to = Url::parse(&from.to_string()).ok()?.join(location).ok()?;
    let allowed = match to.scheme() {
        "https" => true,
        "http" => from.scheme_str() == Some("http"),
        _ => false,
    };
    if allowed { to.as_str().parse().ok() } else { None }
}

/// What a missing service for credentials means.
pub(crate) const NO_CREDENTIALS: &str = "there are no credentials in the environment";

/// An error that is its text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Text(String);

/// The body of a response, with limits: until its next bytes, and on all of them.
struct LimitedBody {
    body: Incoming,
    late: Pin<Box<Sleep>>,
    /// How many more bytes are read.
    left: u64,
}

impl LimitedBody {
    fn new(body: Incoming, most: u64) -> LimitedBody {
        LimitedBody { body, left: most, late: Box::pin(sleep_until(Instant::now() + STALL)) }
    }
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => {
                self.late.as_mut().reset(Instant::now() + STALL);
                let bytes = frame
                    .as_ref()
                    .and_then(|frame| frame.as_ref().ok()?.data_ref().map(Bytes::len));
                let Some(left) = self.left.checked_sub(bytes.unwrap_or(0) as u64) else {
                    let text = Text("the server's error has no end".to_owned());
                    return Poll::Ready(Some(Err(HttpError::new(HttpErrorKind::Decode, text))));
                };
                self.left = left;
                Poll::Ready(frame.map(|frame| {
                    frame.map_err(|error| {
                        HttpError::new(
                            HttpErrorKind::Interrupted,
                            Text(error_text::with_causes(&error)),
                        )
                    })
                }))
            }
            Poll::Pending => self.late.as_mut().poll(context).map(|()| {
                let text = format!("the server has sent nothing for {} s", STALL.as_secs());
                Some(Err(HttpError::new(HttpErrorKind::Timeout, Text(text))))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
