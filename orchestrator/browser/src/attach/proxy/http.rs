//! The HTTP side: lists of targets (`/json/...`), and the start of WebSockets (`/devtools/...`).

use std::{convert::Infallible, sync::Arc, time::Duration};

use ::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::{Backend, relay, targets};
use crate::page::addresses;

/// How long the browser may take to answer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer. The description of the protocol is the longest.
const MAX_REPLY_SIZE: usize = 16 << 20;
/// The field with a WebSocket's address.
const SOCKET_FIELD: &str = "webSocketDebuggerUrl";

type HttpResponse = Response<Full<Bytes>>;
/// The status and the reason of a refused request.
type Rejection = (StatusCode, String);

/// Answers one request.
pub(super) async fn answer(
    backend: Arc<Backend>,
    request: Request<Incoming>,
) -> Result<HttpResponse, Infallible> {
    let answered = match check_client(request.headers()) {
        Ok(()) => route(backend, request).await,
        Err(rejection) => Err(rejection),
    };
    Ok(answered.unwrap_or_else(|(status, why)| {
        let mut response = Response::new(Full::from(format!("{why}\n")));
        *response.status_mut() = status;
        response
    }))
}

/// Refuses web pages. Pages in the user's own browser can send requests to the loopback, too. They
/// have an `Origin`, or a host name that they have pointed to the loopback.
fn check_client(headers: &HeaderMap) -> Result<(), Rejection> {
    let refused = |why: &str| Err((StatusCode::FORBIDDEN, why.to_owned()));
    if headers.contains_key(header::ORIGIN) {
        return refused("pages cannot drive the browser: the request has an `Origin`");
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = url::Url::parse(&format!("http://{host}/")).ok();
    match host.as_ref().and_then(url::Url::host) {
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_) | url::Host::Domain("localhost")) => Ok(()),
        _ => refused("the browser is driven at its address, 127.0.0.1, and by no other name"),
    }
}

async fn route(backend: Arc<Backend>, request: Request<Incoming>) -> Result<HttpResponse, Rejection> {
    let path = request.uri().path().to_owned();
    if path.starts_with("/devtools/browser/") || path.starts_with("/devtools/page/") {
        return upgrade(backend, request, path);
    }
    let query = request.uri().query().map(str::to_owned);
    let method = request.method().clone();
    let path = path.strip_suffix('/').unwrap_or(&path);
    match path {
        "/json" | "/json/list" | "/json/version" => {
            let reply = query_browser(&backend, method, path).await?;
            let mut reply: Value = serde_json::from_slice(&reply).map_err(bad_gateway)?;
            if let Value::Array(list) = &mut reply {
                list.retain(targets::is_shown);
                list.iter_mut().for_each(|target| rewrite_address(&backend, target));
            } else {
                rewrite_address(&backend, &mut reply);
            }
            Ok(json(reply.to_string()))
        }
        "/json/new" => {
            let address = percent_decode_str(query.as_deref().unwrap_or("about:blank")).decode_utf8_lossy();
            let address = addresses::for_programs(&address).map_err(|why| (StatusCode::FORBIDDEN, why))?;
            // The browser decodes the query.
            let address: String = url::form_urlencoded::byte_serialize(address.as_str().as_bytes()).collect();
            let reply = query_browser(&backend, method, &format!("/json/new?{address}")).await?;
            let mut reply: Value = match serde_json::from_slice(&reply) {
                Ok(reply) => reply,
                // Chromium answers in plain text if it refuses.
                Err(_) => return Err((StatusCode::METHOD_NOT_ALLOWED, text(&reply))),
            };
            rewrite_address(&backend, &mut reply);
            Ok(json(reply.to_string()))
        }
        "/json/protocol" => Ok(json(query_browser(&backend, method, path).await?)),
        _ if path.starts_with("/json/activate/") || path.starts_with("/json/close/") => {
            Ok(Response::new(Full::from(query_browser(&backend, method, path).await?)))
        }
        _ => Err((StatusCode::NOT_FOUND, format!("there is nothing at {path}"))),
    }
}

/// Sends a request to the browser.
async fn query_browser(backend: &Backend, method: Method, path: &str) -> Result<Bytes, Rejection> {
    let request = Request::builder().method(method).uri(format!("http://{}{path}", backend.debugger));
    let request = request.body(Empty::<Bytes>::new()).map_err(bad_gateway)?;
    let query = async {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let response = client.request(request).await.map_err(bad_gateway)?;
        let body = Limited::new(response.into_body(), MAX_REPLY_SIZE).collect().await.map_err(bad_gateway)?;
        Ok(body.to_bytes())
    };
    timeout(REPLY_TIMEOUT, query).await.map_err(bad_gateway)?
}

fn bad_gateway(error: impl std::fmt::Display) -> Rejection {
    (StatusCode::BAD_GATEWAY, format!("the browser does not answer: {error}"))
}

/// Makes the WebSocket address of a target point to this server.
fn rewrite_address(backend: &Backend, target: &mut Value) {
    let Some(target) = target.as_object_mut() else { return };
    // The frontend's pages would connect to the browser directly.
    target.remove("devtoolsFrontendUrl");
    if let Some(Value::String(socket)) = target.get_mut(SOCKET_FIELD) {
        *socket = socket.replacen(&backend.debugger, &backend.address.to_string(), 1);
        if let Ok(mut url) = url::Url::parse(socket) {
            let host = backend.address.ip();
            if url.set_ip_host(host).is_ok() && url.set_port(Some(backend.address.port())).is_ok() {
                *socket = url.into();
            }
        }
    }
}

fn json(text: impl Into<Full<Bytes>>) -> HttpResponse {
    let mut response = Response::new(text.into());
    let json = HeaderValue::from_static("application/json; charset=UTF-8");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// Starts a WebSocket.
fn upgrade(
    backend: Arc<Backend>,
    mut request: Request<Incoming>,
    path: String,
) -> Result<HttpResponse, Rejection> {
    let wants = request
        .headers()
        .get(header::UPGRADE)
        .is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).filter(|_| wants);
    let Some(key) = key else {
        return Err((StatusCode::BAD_REQUEST, format!("{path} is a WebSocket")));
    };
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let accept = derive_accept_key(key.as_bytes());
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).map_err(bad_gateway)?);
    let upgrading = hyper::upgrade::on(&mut request);
    let relays = backend.relays.clone();
    let relay = Box::pin(async move {
        match upgrading.await {
            Ok(program) => relay::relay(&backend, &path, program).await,
            Err(error) => tracing::debug!(%error, "a DevTools connection was not upgraded"),
        }
    });
    // If nobody takes it, the server is ending.
    let _ = relays.send(relay);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_no_programs() {
        let headers = |pairs: &[(header::HeaderName, &'static str)]| {
            pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
        };
        for host in ["127.0.0.1:9222", "localhost:9222", "[::1]:9222", "localhost"] {
            assert_eq!(check_client(&headers(&[(header::HOST, host)])), Ok(()), "{host}");
        }
        for host in ["rebound.test:9222", "127.0.0.1.rebound.test", "", "localhost.test"] {
            assert!(check_client(&headers(&[(header::HOST, host)])).is_err(), "{host}");
        }
        let page = [(header::HOST, "127.0.0.1:9222"), (header::ORIGIN, "https://a.test")];
        assert!(check_client(&headers(&page)).is_err());
    }
}
