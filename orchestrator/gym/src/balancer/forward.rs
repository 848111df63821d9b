//! Passes requests on to gyms, and their responses back as streams.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::TokioExecutor;

use crate::balancer::server::{Server, State};

/// Time limit for a connection to a gym.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The reason why requests to a gym are aborted.
const GONE: &str = "it has ended, or was silent for a minute";
/// Headers that belong to one hop (RFC 9110, 7.6.1), and those that name the caller's own
/// neighbour: the guard has checked them, and the gym has another address.
const OF_ONE_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];
const OF_THE_CALLER: [HeaderName; 5] = [
    header::HOST,
    header::ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
    header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
];

/// Connections to all gyms.
pub(crate) struct Upstream(Client<HttpConnector, Body>);

/// The reason why there is no answer.
pub(crate) enum Failure {
    /// There is no connection, so the gym has not got the request.
    Unreachable(String),
    /// The gym has closed the connection, or is gone.
    BrokenOff(String),
    /// The client's own failure: its request broke off, for example.
    Client(String),
}

impl Upstream {
    pub(crate) fn new() -> Upstream {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_WITHIN));
        connector.set_nodelay(true);
        Upstream(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// Sends a GET request and reads the whole answer. The error says why there is none.
    pub(crate) async fn get(
        &self,
        (at, prefix): (SocketAddr, &str),
        path: &str,
        largest: usize,
    ) -> Result<(StatusCode, Bytes), String> {
        let request = Request::get(uri(at, prefix, path)?)
            .body(Body::empty())
            .map_err(|error| error.to_string())?;
        let answer =
            self.0.request(request).await.map_err(|error| error_text::with_causes(&error))?;
        let (head, body) = answer.into_parts();
        let body =
            Limited::new(body, largest).collect().await.map_err(|error| error.to_string())?;
        Ok((head.status, body.to_bytes()))
    }

    /// Passes a request on. Its headers must have been through [`strip_request`]. The answer's body
    /// is streamed. A gym that cannot be reached is marked down.
    pub(crate) async fn send(
        &self,
        server: &Arc<Server>,
        head: &Parts,
        body: Body,
    ) -> Result<Response, Failure> {
        let answer = self.exchange(server, head, body).await;
        match &answer {
            Err(Failure::Unreachable(why)) => server.mark_down(why),
            // A request may be at fault itself, and others must not suffer for it: the next look
            // says whether the gym answers.
            Err(Failure::BrokenOff(_)) => server.look.notify_one(),
            _ => {}
        }
        answer
    }

    async fn exchange(
        &self,
        server: &Arc<Server>,
        head: &Parts,
        body: Body,
    ) -> Result<Response, Failure> {
        let State { address, prefix, .. } = server.state();
        let address =
            address.ok_or_else(|| Failure::Unreachable("its name has no address".to_owned()))?;
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::new(body);
        *request.uri_mut() = uri(address, &prefix, path).map_err(Failure::Client)?;
        request.method_mut().clone_from(&head.method);
        request.headers_mut().clone_from(&head.headers);
        let mut is_gone = server.is_gone.subscribe();
        let mut answer = tokio::select! {
            answer = self.0.request(request) => answer.map_err(|error| Failure::new(&error))?,
            _ = is_gone.wait_for(|is_gone| *is_gone) => return Err(Failure::BrokenOff(GONE.to_owned())),
        };
        strip(answer.headers_mut(), &OF_ONE_HOP);
        Ok(answer.map(|body| until_gone(body, server.clone())))
    }
}

impl Failure {
    fn new(error: &legacy::Error) -> Failure {
        let why = error_text::with_causes(error);
        let cause =
            std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<hyper::Error>());
        if error.is_connect() {
            Failure::Unreachable(why)
        } else if cause.is_some_and(hyper::Error::is_user) {
            Failure::Client(why)
        } else {
            Failure::BrokenOff(why)
        }
    }
}

/// A body that breaks off when its gym is gone.
fn until_gone(body: Incoming, server: Arc<Server>) -> Body {
    let is_gone = server.is_gone.subscribe();
    let frames =
        stream::unfold((body, is_gone, server), |(mut body, mut is_gone, server)| async move {
            let frame = tokio::select! {
                frame = body.frame() => frame?.map_err(io::Error::other),
                _ = is_gone.wait_for(|is_gone| *is_gone) => Err(io::Error::other(GONE)),
            };
            Some((frame, (body, is_gone, server)))
        });
    Body::new(StreamBody::new(frames))
}

/// Removes the headers that are not for a gym.
pub(crate) fn strip_request(headers: &mut HeaderMap) {
    strip(headers, &OF_ONE_HOP);
    strip(headers, &OF_THE_CALLER);
}

/// Removes these headers, and those that `Connection` names.
fn strip(headers: &mut HeaderMap, names: &[HeaderName]) {
    let listed = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let listed: Vec<HeaderName> = listed
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in names.iter().chain(&listed) {
        headers.remove(name);
    }
}

/// Returns the URL of a gym by its IP address, because its guard accepts no host names.
fn uri(at: SocketAddr, prefix: &str, path: &str) -> Result<Uri, String> {
    format!("http://{at}{prefix}{path}")
        .parse()
        .map_err(|error| format!("{path:?} is no path: {error}"))
}
