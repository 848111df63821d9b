//! The HTTP side: lists of targets (`/json/...`), and the start of WebSockets (`/devtools/...`).

use std::sync::Arc;

use ::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use doors::Kept;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::relay::{self, Opened};
use super::{Backend, targets};
use crate::Error;
use crate::attach::door::{HttpResponse, Place, Rejection};
use crate::page::addresses;

/// The path of the WebSocket of the browser as a whole.
const BROWSER: &str = "/devtools/browser";

/// Answers one request.
pub(super) async fn answer(
    backend: Arc<Backend>,
    request: Request<Kept<Incoming>>,
) -> HttpResponse {
    let answered = match backend.place.admit(&request) {
        Ok(path) => route(backend, request, path).await,
        Err(rejection) => Err(rejection),
    };
    answered.unwrap_or_else(|(status, why)| {
        let mut response = Response::new(Full::from(format!("{why}\n")));
        *response.status_mut() = status;
        response
    })
}

async fn route(
    backend: Arc<Backend>,
    request: Request<Kept<Incoming>>,
    path: String,
) -> Result<HttpResponse, Rejection> {
    if path.starts_with(BROWSER) {
        return upgrade(backend, request, Opened::Browser);
    }
    if let Some(target) = path.strip_prefix("/devtools/page/") {
        // A hidden target looks as if it did not exist.
        find(&backend, target).await?;
        return upgrade(backend, request, Opened::Target(target.to_owned()));
    }
    let path = path.strip_suffix('/').unwrap_or(&path);
    match path {
        "/json" | "/json/list" => {
            let list: Vec<Value> = shown_targets(&backend)
                .await?
                .iter()
                .map(|target| described(&backend, target))
                .collect();
            Ok(json(Value::from(list).to_string()))
        }
        "/json/version" => {
            let version = backend
                .cdp
                .call(None, "Browser.getVersion", json!({}))
                .await
                .map_err(bad_gateway)?;
            let version = json!({
                "Browser": version["product"],
                "Protocol-Version": version["protocolVersion"],
                "User-Agent": version["userAgent"],
                "V8-Version": version["jsVersion"],
                "WebKit-Version": webkit_version(&version),
                "webSocketDebuggerUrl": browser_socket(&backend.place),
            });
            Ok(json(version.to_string()))
        }
        // As in Chromium: any web page can make a browser send GET.
        "/json/new" if request.method() != Method::PUT => {
            Err((StatusCode::METHOD_NOT_ALLOWED, "a page is opened by PUT /json/new".to_owned()))
        }
        "/json/new" => {
            let address = percent_decode_str(request.uri().query().unwrap_or("about:blank"))
                .decode_utf8_lossy();
            let address =
                addresses::for_programs(&address).map_err(|why| (StatusCode::FORBIDDEN, why))?;
            let params = json!({ "url": address.as_str() });
            let opened =
                backend.cdp.call(None, "Target.createTarget", params).await.map_err(refused)?;
            let target = find(&backend, opened["targetId"].as_str().unwrap_or_default()).await?;
            Ok(json(described(&backend, &target).to_string()))
        }
        "/json/protocol" => {
            let why = "the protocol is described by its own project; tell the client not to ask the browser for it";
            Err((StatusCode::NOT_FOUND, why.to_owned()))
        }
        _ => match path.strip_prefix("/json/").and_then(|rest| rest.split_once('/')) {
            Some(("activate", target)) => {
                command(&backend, "Target.activateTarget", target).await?;
                Ok(Response::new(Full::from("Target activated")))
            }
            Some(("close", target)) => {
                command(&backend, "Target.closeTarget", target).await?;
                Ok(Response::new(Full::from("Target is closing")))
            }
            _ => Err((StatusCode::NOT_FOUND, format!("there is nothing at {path}"))),
        },
    }
}

/// The version of WebKit as the browser's own list has it: `537.36 (@REVISION)`. chromedriver reads
/// it.
fn webkit_version(version: &Value) -> String {
    let text = |name: &str| version[name].as_str().unwrap_or_default();
    let webkit = text("userAgent").split_once("AppleWebKit/").map_or("", |(_, rest)| rest);
    let number = webkit.split(' ').next().unwrap_or_default();
    format!("{number} ({})", text("revision"))
}

/// Carries out a command on a target that the client may see.
async fn command(backend: &Backend, method: &'static str, target: &str) -> Result<(), Rejection> {
    find(backend, target).await?;
    backend.cdp.call(None, method, json!({ "targetId": target })).await.map_err(refused)?;
    Ok(())
}

/// The targets that a client may see.
async fn shown_targets(backend: &Backend) -> Result<Vec<Value>, Rejection> {
    let reply =
        backend.cdp.call(None, "Target.getTargets", json!({})).await.map_err(bad_gateway)?;
    let targets = reply["targetInfos"].as_array().cloned().unwrap_or_default();
    Ok(targets.into_iter().filter(targets::is_shown).collect())
}

async fn find(backend: &Backend, id: &str) -> Result<Value, Rejection> {
    let found = shown_targets(backend).await?.into_iter().find(|target| target["targetId"] == id);
    found.ok_or_else(|| (StatusCode::NOT_FOUND, format!("No such target id: {id}")))
}

/// A target as the browser's own list has it.
fn described(backend: &Backend, target: &Value) -> Value {
    let id = target["targetId"].as_str().unwrap_or_default();
    json!({
        "description": "",
        "id": id,
        "title": target["title"],
        "type": target["type"],
        "url": target["url"],
        "webSocketDebuggerUrl": socket_address(&backend.place, &format!("/devtools/page/{id}")),
    })
}

/// The address of the WebSocket of the browser as a whole. Clients expect an id in it.
pub(super) fn browser_socket(place: &Place) -> String {
    socket_address(place, &format!("{BROWSER}/episode"))
}

fn socket_address(place: &Place, path: &str) -> String {
    format!("ws://{}{path}", place.root())
}

fn refused(error: Error) -> Rejection {
    match error {
        Error::Refused { message, .. } => (StatusCode::INTERNAL_SERVER_ERROR, message),
        other => bad_gateway(other),
    }
}

fn bad_gateway(error: impl std::fmt::Display) -> Rejection {
    (StatusCode::BAD_GATEWAY, format!("the browser does not answer: {error}"))
}

fn json(text: impl Into<Full<Bytes>>) -> HttpResponse {
    let mut response = Response::new(text.into());
    let json = HeaderValue::from_static("application/json; charset=UTF-8");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Starts a WebSocket.
fn upgrade(
    backend: Arc<Backend>,
    mut request: Request<Kept<Incoming>>,
    opened: Opened,
) -> Result<HttpResponse, Rejection> {
    let wants = request
        .headers()
        .get(header::UPGRADE)
        .is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).filter(|_| wants);
    let Some(key) = key else {
        return Err((StatusCode::BAD_REQUEST, "this is a WebSocket".to_owned()));
    };
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let accept = derive_accept_key(key.as_bytes());
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers
        .insert(header::SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accept).map_err(bad_gateway)?);
    let upgrading = hyper::upgrade::on(&mut request);
    let relays = backend.relays.clone();
    let relay = Box::pin(async move {
        match upgrading.await {
            Ok(program) => relay::relay(&backend, opened, program).await,
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
    fn the_version_of_webkit_is_spelled_as_by_chromium() {
        let agent = "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        let version = json!({ "userAgent": agent, "revision": "@730482a9" });
        assert_eq!(webkit_version(&version), "537.36 (@730482a9)");
    }
}
