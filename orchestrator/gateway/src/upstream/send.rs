//! Sends one request to the live web, and receives its response.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::HOST;
use http::{Extensions, HeaderValue, Request, Response, Uri, response};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::time::{Instant, timeout_at};

use super::UpstreamError;
use super::dial::{Dialer, Server};
use super::headers::with_host;
use super::pool::{Connection, Connections, Http1, Http2};
use super::response_body::{ConnectionUse, UpstreamBody};
use crate::body::{self, BodyError, BodyObserver, ObservedBody};
use crate::limits::{Limits, MAX_HEAD};
use crate::{Body, RequestHead};

/// The client for the live web.
pub(crate) struct Upstream {
    pub(super) dialer: Dialer,
    pool: Connections,
    pub(super) head: Duration,
    pub(super) stall: Duration,
}

/// A response whose head has arrived.
pub(crate) struct UpstreamResponse {
    pub(crate) head: UpstreamHead,
    pub(crate) body: UpstreamBody,
}

/// The head of a response, and its origin.
pub(crate) struct UpstreamHead {
    pub(crate) parts: response::Parts,
    /// The head as the server sent it; HTTP/1.1 only.
    pub(crate) raw: Option<Vec<u8>>,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) http2: bool,
}

impl Upstream {
    pub(crate) fn new(dialer: Dialer, limits: &Limits) -> Self {
        Self {
            dialer,
            pool: Connections::default(),
            head: limits.upstream_head,
            stall: limits.upstream_stall,
        }
    }

    /// Sends a request to a server and waits for the response head. `extensions` carry the case of
    /// header names from the client's connection.
    pub(crate) async fn send(
        &self,
        server: Server,
        head: &RequestHead,
        extensions: Extensions,
        body: Body,
    ) -> Result<UpstreamResponse, UpstreamError> {
        self.send_over(&self.pool, server, head, extensions, body).await
    }

    /// The same, over the connections of a separate pool.
    pub(crate) async fn send_over(
        &self,
        pool: &Connections,
        server: Server,
        head: &RequestHead,
        extensions: Extensions,
        body: Body,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let uri: Uri = head.url.parse().map_err(|error: http::uri::InvalidUri| {
            UpstreamError::Request { host: head.host.clone(), reason: error.to_string() }
        })?;
        let repeatable = head.method.is_idempotent() && body.is_end_stream();
        let (body, upload) = Upload::watch(body);
        let mut request = Request::new(body);
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = head.headers.clone();
        *request.extensions_mut() = extensions.clone();

        // The server may just have closed a pooled connection. Then one new connection is made, if
        // that is safe.
        if let Some(connection) = pool.take(&server) {
            match self.exchange(pool, connection, &server, request, &upload).await {
                Ok(arrived) => return Ok(arrived),
                Err((error, unsent)) => match unsent {
                    Some(unsent) => {
                        request = *unsent;
                        // It had been prepared for the connection that failed.
                        *request.uri_mut() = uri;
                        *request.version_mut() = http::Version::HTTP_11;
                    }
                    None if repeatable && matches!(error, UpstreamError::Broken { .. }) => {
                        request = Request::new(body::empty());
                        *request.method_mut() = head.method.clone();
                        *request.uri_mut() = uri;
                        *request.headers_mut() = head.headers.clone();
                        *request.extensions_mut() = extensions;
                    }
                    None => return Err(error),
                },
            }
        }
        let connection = self.connect(pool, &server).await?;
        self.exchange(pool, connection, &server, request, &upload).await.map_err(|(error, _)| error)
    }

    async fn connect(
        &self,
        pool: &Connections,
        server: &Server,
    ) -> Result<Connection, UpstreamError> {
        let dialed = self.dialer.dial(server, false).await?;
        let broken = |source| UpstreamError::Broken { host: server.host.clone(), source };
        if dialed.http2 {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_stream_window_size(1 << 20)
                .initial_connection_window_size(4 << 20)
                .max_header_list_size(MAX_HEAD as u32)
                .keep_alive_interval(Duration::from_secs(30))
                .handshake(TokioIo::new(dialed.stream))
                .await
                .map_err(broken)?;
            tokio::spawn(connection);
            let shared = Http2 { sender, remote: dialed.remote };
            pool.share(server, &shared);
            return Ok(Connection::Http2(shared));
        }
        let tap = dialed.stream.tap();
        let (sender, connection) =
            http1_client().handshake(TokioIo::new(dialed.stream)).await.map_err(broken)?;
        tokio::spawn(connection);
        Ok(Connection::Http1(Http1 { sender, tap, remote: dialed.remote }))
    }

    async fn exchange(
        &self,
        pool: &Connections,
        connection: Connection,
        server: &Server,
        mut request: Request<Body>,
        upload: &Upload,
    ) -> Result<UpstreamResponse, (UpstreamError, Option<Box<Request<Body>>>)> {
        match connection {
            Connection::Http1(mut own) => {
                to_http1(&mut request).map_err(|reason| {
                    (UpstreamError::Request { host: server.host.clone(), reason }, None)
                })?;
                own.tap.open();
                let sent = own.sender.try_send_request(request);
                let response = self.head(server, upload, sent).await?;
                let raw = own.tap.take();
                let remote = own.remote;
                let (parts, body) = response.into_parts();
                let back = Some((pool.clone(), server.clone(), own));
                let head = UpstreamHead { parts, raw, remote, http2: false };
                Ok(UpstreamResponse {
                    head,
                    body: UpstreamBody::new(body, ConnectionUse::new(back, self.stall)),
                })
            }
            Connection::Http2(mut shared) => {
                // HTTP/2 has `:authority` in its place.
                request.headers_mut().remove(HOST);
                *request.version_mut() = http::Version::HTTP_2;
                let sent = shared.sender.try_send_request(request);
                let response = self.head(server, upload, sent).await?;
                let (parts, body) = response.into_parts();
                let head = UpstreamHead { parts, raw: None, remote: shared.remote, http2: true };
                Ok(UpstreamResponse {
                    head,
                    body: UpstreamBody::new(body, ConnectionUse::new(None, self.stall)),
                })
            }
        }
    }

    /// Waits for the head. The deadline counts from when the request was fully sent, or from the
    /// last progress of the upload.
    async fn head(
        &self,
        server: &Server,
        upload: &Upload,
        sent: impl Future<
            Output = Result<Response<Incoming>, hyper::client::conn::TrySendError<Request<Body>>>,
        >,
    ) -> Result<Response<Incoming>, (UpstreamError, Option<Box<Request<Body>>>)> {
        tokio::pin!(sent);
        let started = Instant::now();
        loop {
            let deadline = upload.last(started) + self.head;
            match timeout_at(deadline, sent.as_mut()).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(mut error)) => {
                    // hyper only says that the request broke; the upload knows why.
                    if let Some(reason) = upload.0.broken.get() {
                        let (host, reason) = (server.host.clone(), reason.clone());
                        return Err((UpstreamError::UploadBroken { host, reason }, None));
                    }
                    let unsent = error.take_message().map(Box::new);
                    let broken = UpstreamError::Broken {
                        host: server.host.clone(),
                        source: error.into_error(),
                    };
                    return Err((broken, unsent));
                }
                // The upload has moved on in the meantime.
                Err(_) if upload.last(started) + self.head > Instant::now() => {}
                Err(_) if upload.is_whole() => {
                    return Err((
                        UpstreamError::HeadTimeout { host: server.host.clone(), waited: self.head },
                        None,
                    ));
                }
                Err(_) => {
                    let stalled = UpstreamError::UploadStalled {
                        host: server.host.clone(),
                        waited: self.head,
                    };
                    return Err((stalled, None));
                }
            }
        }
    }
}

pub(super) fn http1_client() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .preserve_header_case(true)
        .max_header_size(MAX_HEAD)
        .max_headers(512)
        // Room for data of a server ahead of a slow client.
        .max_buf_size(MAX_HEAD * 2);
    builder
}

/// Converts to origin form and adds a `Host` header, as HTTP/1.1 requires.
pub(super) fn to_http1(request: &mut Request<Body>) -> Result<(), String> {
    let uri = request.uri();
    let authority = uri.authority().ok_or("the URL has no host")?;
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| error.to_string())?;
    let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let origin: Uri = path.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
    *request.uri_mut() = origin;
    let headers = std::mem::take(request.headers_mut());
    *request.headers_mut() = with_host(headers, host);
    Ok(())
}

/// The progress of a request body.
#[derive(Clone)]
struct Upload(Arc<UploadState>);

struct UploadState {
    since: Instant,
    progress_ms: AtomicU64,
    whole: AtomicBool,
    /// Why it cannot be read further.
    broken: OnceLock<String>,
}

impl Upload {
    /// Wraps a body to track its progress. An empty body is complete from the start.
    fn watch(body: Body) -> (Body, Self) {
        let whole = body.is_end_stream();
        let upload = Self(Arc::new(UploadState {
            since: Instant::now(),
            progress_ms: AtomicU64::new(0),
            whole: AtomicBool::new(whole),
            broken: OnceLock::new(),
        }));
        if whole {
            return (body, upload);
        }
        (ObservedBody::new(body, upload.clone()).boxed_unsync(), upload)
    }

    fn progressed(&self, whole: bool) {
        let elapsed = u64::try_from(self.0.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.progress_ms.store(elapsed, Ordering::Relaxed);
        if whole {
            self.0.whole.store(true, Ordering::Relaxed);
        }
    }

    fn is_whole(&self) -> bool {
        self.0.whole.load(Ordering::Relaxed)
    }

    fn last(&self, started: Instant) -> Instant {
        (self.0.since + Duration::from_millis(self.0.progress_ms.load(Ordering::Relaxed)))
            .max(started)
    }
}

impl BodyObserver for Upload {
    fn on_frame(&mut self, _: &Frame<Bytes>) {
        self.progressed(false);
    }

    fn on_end(&mut self) {
        self.progressed(true);
    }

    fn on_error(&mut self, error: &BodyError) {
        let _ = self.0.broken.set(error_text::with_causes(error.as_ref()));
        self.progressed(false);
    }
}
