//! The server's side of a WebSocket: says what it has to say, then waits for the client to leave.

use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Response, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::call::Call;
use crate::reply::Piece;

/// The answer to a handshake, or `None` when the request is no WebSocket handshake.
pub(crate) fn accept(call: &Call) -> Option<Response<()>> {
    let upgrade = call.header(header::UPGRADE)?;
    let key = call.header(header::SEC_WEBSOCKET_KEY)?;
    if !upgrade.eq_ignore_ascii_case("websocket") {
        return None;
    }
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(
        header::SEC_WEBSOCKET_ACCEPT,
        HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()?,
    );
    Some(response)
}

/// Sends the messages at their pace and stays until the client closes. A client that goes away
/// early is no error.
pub(crate) async fn speak(upgrade: OnUpgrade, messages: Vec<Piece>) {
    let Ok(upgraded) = upgrade.await else { return };
    let mut socket: WebSocketStream<TokioIo<Upgraded>> =
        WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
    for message in messages {
        message.due().await;
        let text = String::from_utf8_lossy(&message.data).into_owned();
        if socket.send(Message::text(text)).await.is_err() {
            return;
        }
    }
    while let Some(Ok(message)) = socket.next().await {
        if let Message::Text(text) = message
            && text.as_str() == "ping"
            && socket.send(Message::text("pong")).await.is_err()
        {
            return;
        }
    }
}
