//! Passes requests on to gyms.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::upgrade::OnUpgrade;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::server::{Lease, Server};

/// Time limit for a connection to a gym.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Headers between two neighbours (RFC 9110, 7.6.1), and those that name the caller's own
/// neighbour: the guard has judged them, and the gym has another address.
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
const OF_THE_CALLER: [HeaderName; 3] =
    [header::HOST, header::ORIGIN, HeaderName::from_static("sec-fetch-site")];
/// A WebSocket's last frame: the server cannot go on (RFC 6455, 7.4.1).
const CLOSE_FRAME: u8 = 0x88;
const SERVER_ERROR: u16 = 1011;
/// Maximum length of a reason in it.
const REASON_LIMIT: usize = 123;

/// Connections to all gyms.
pub(crate) struct Upstream(Client<HttpConnector, Body>);

impl Upstream {
    pub(crate) fn new() -> Upstream {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_WITHIN));
        connector.set_nodelay(true);
        Upstream(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// The whole answer to a GET request. The error says why there is none.
    pub(crate) async fn get(
        &self,
        server: &Server,
        path: &str,
        largest: usize,
    ) -> Result<(StatusCode, Bytes), String> {
        let uri = server.uri(path)?;
        let request = Request::get(uri).body(Body::empty()).map_err(|error| error.to_string())?;
        let answer = self.0.request(request).await.map_err(|error| error_text::with_causes(&error))?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, largest).collect().await.map_err(|error| error.to_string())?;
        Ok((head.status, body.to_bytes()))
    }

    /// Passes a request on. The body of the answer comes as the gym sends it. The error says why
    /// there is no answer.
    pub(crate) async fn send(&self, server: &Server, head: &Parts, body: Body) -> Result<Response, String> {
        let mut answer = self.exchange(server, head, body, HeaderMap::new()).await?;
        strip(answer.headers_mut(), &OF_ONE_HOP);
        Ok(answer)
    }

    /// The same for a request that makes a WebSocket of its connection.
    pub(crate) async fn upgrade(&self, server: &Server, head: &Parts) -> Result<Response, String> {
        let mut headers = HeaderMap::new();
        for name in [header::CONNECTION, header::UPGRADE] {
            headers.extend(head.headers.get(&name).map(|value| (name, value.clone())));
        }
        self.exchange(server, head, Body::empty(), headers).await
    }

    async fn exchange(
        &self,
        server: &Server,
        head: &Parts,
        body: Body,
        own: HeaderMap,
    ) -> Result<Response, String> {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::new(body);
        *request.uri_mut() = server.uri(path)?;
        request.method_mut().clone_from(&head.method);
        request.headers_mut().clone_from(&head.headers);
        strip(request.headers_mut(), &OF_ONE_HOP);
        strip(request.headers_mut(), &OF_THE_CALLER);
        request.headers_mut().extend(own);
        let mut gone = server.gone.subscribe();
        let answer = tokio::select! {
            answer = self.0.request(request) => answer.map_err(|error| error_text::with_causes(&error))?,
            _ = gone.wait_for(|gone| *gone) => return Err("no answer to any request for a minute".to_owned()),
        };
        Ok(answer.map(Body::new))
    }
}

/// Removes these headers, and those that `Connection` names.
fn strip(headers: &mut HeaderMap, names: &[HeaderName]) {
    let listed = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let listed: Vec<HeaderName> =
        listed.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    for name in names.iter().chain(&listed) {
        headers.remove(name);
    }
}

impl Server {
    /// Finds the address behind the name. Gyms are asked by their address, because their guard
    /// knows no names.
    pub(crate) async fn resolve(&self) -> Result<(), String> {
        let found = tokio::net::lookup_host(&self.authority).await;
        let mut found = found.map_err(|error| format!("its name has no address: {error}"))?;
        let address = found.next().ok_or("its name has no address")?;
        self.change(|state| state.address = Some(address));
        Ok(())
    }

    fn uri(&self, path: &str) -> Result<Uri, String> {
        let address = self.state().address.ok_or("its name has no address")?;
        format!("http://{address}{path}").parse().map_err(|error| format!("{path:?} is no path: {error}"))
    }
}

/// Passes bytes on between a client and a gym until one of them ends, and then frees the place.
async fn tunnel(client: OnUpgrade, gym: OnUpgrade, lease: Lease) {
    // A client that has left ends the tunnel before it begins.
    let (Ok(client), Ok(gym)) = tokio::join!(client, gym) else { return };
    let (mut from_client, mut to_client) = tokio::io::split(TokioIo::new(client));
    let (mut from_gym, mut to_gym) = tokio::io::split(TokioIo::new(gym));
    let mut gone = lease.server.gone.subscribe();
    let gym_ended = tokio::select! {
        _ = copy(&mut from_client, &mut to_gym) => false,
        _ = copy(&mut from_gym, &mut to_client) => true,
        _ = gone.wait_for(|gone| *gone) => true,
    };
    let _ = to_gym.shutdown().await;
    if gym_ended {
        // A gym that ends its session says so itself, and then this is not read.
        let why = format!("the gym at {} has ended the connection; its episode is over", lease.server.url);
        let _ = to_client.write_all(&close_frame(&why)).await;
    }
    let _ = to_client.shutdown().await;
}

async fn copy(
    from: &mut (impl tokio::io::AsyncRead + Unpin),
    to: &mut (impl tokio::io::AsyncWrite + Unpin),
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..length]).await?;
        to.flush().await?;
    }
}

fn close_frame(why: &str) -> Vec<u8> {
    let why = &why.as_bytes()[..why.len().min(REASON_LIMIT)];
    let length = u8::try_from(2 + why.len()).unwrap_or(2);
    [&[CLOSE_FRAME, length], &SERVER_ERROR.to_be_bytes()[..], why].concat()
}

/// Whether a request is to make a WebSocket of its connection.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// The request's own half of a tunnel.
pub(crate) fn client_half(head: &mut Parts) -> Option<OnUpgrade> {
    head.extensions.remove()
}

/// Passes bytes on in the background, after a gym has agreed to it.
pub(crate) fn open_tunnel(client: OnUpgrade, answer: &mut Response, lease: Lease) {
    let gym = hyper::upgrade::on(answer);
    tokio::spawn(tunnel(client, gym, lease));
}
