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
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use url::Url;

/// Until a response begins. An upload of a part is on its way for that long.
const ANSWER: Duration = Duration::from_secs(60);
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
            let response = timeout(ANSWER, self.http.request(request))
                .await
                .map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?
                .map_err(|error| {
                    let kind =
                        if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Request };
                    HttpError::new(kind, Text(error_text::with_causes(&error)))
                })?;
            let next = self.follows.then(|| elsewhere(&parts.method, &parts.uri, &response)).flatten();
            let Some(next) = next else {
                return Ok(response.map(|body| HttpResponseBody::new(Patient::new(body))));
            };
            if next.authority() != parts.uri.authority() {
                parts.headers.remove(AUTHORIZATION);
            }
            parts.uri = next;
        }
        Err(HttpError::new(HttpErrorKind::Unknown, Text("the server sends the reader in circles".to_owned())))
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

/// An error that is its text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Text(String);

/// The body of a response that must go on.
struct Patient {
    body: Incoming,
    late: Pin<Box<Sleep>>,
}

impl Patient {
    fn new(body: Incoming) -> Patient {
        Patient { body, late: Box::pin(sleep_until(Instant::now() + STALL)) }
    }
}

impl Body for Patient {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => {
                self.late.as_mut().reset(Instant::now() + STALL);
                Poll::Ready(frame.map(|frame| {
                    frame.map_err(|error| {
                        HttpError::new(HttpErrorKind::Interrupted, Text(error_text::with_causes(&error)))
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
