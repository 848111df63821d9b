//! Forwards a WebSocket between a client and the live web, frame by frame.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use in_flight::InFlight;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::{Payload, Side, config};
use crate::record::SocketLog;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// How long the other side may take to reply to a close.
const CLOSING: Duration = Duration::from_secs(5);
/// How many messages of a server that is held back are read.
const MOST_WAITING: usize = 1000;

/// Forwards frames both ways until both sides have closed, one side breaks off, or the gateway
/// stops. Each frame is logged before it is forwarded. Those of the server wait while servers
/// are held back.
pub(crate) async fn relay(
    client: Upgraded,
    server: Upgraded,
    max_message: usize,
    in_flight: &InFlight,
    log: Option<&SocketLog>,
    cut: &CancellationToken,
) {
    let config = Some(config(max_message));
    let client: Socket =
        WebSocketStream::from_raw_socket(TokioIo::new(client), Role::Server, config).await;
    let server: Socket =
        WebSocketStream::from_raw_socket(TokioIo::new(server), Role::Client, config).await;
    let (to_client, from_client) = client.split();
    let (to_server, from_server) = server.split();
    let up = pass(from_client, to_server, Side::Client, in_flight, log);
    let down = pass(from_server, to_client, Side::Server, in_flight, log);
    tokio::pin!(up, down);
    let both = async {
        // When one direction has closed, the other gets a moment to reply to the close. After a
        // failure it ends at once.
        let (closed, other) = tokio::select! {
            closed = &mut up => (closed, true),
            closed = &mut down => (closed, false),
        };
        if closed {
            let rest = async { if other { down.await } else { up.await } };
            tokio::pin!(rest);
            // The time of a server that is held back does not run.
            tokio::select! {
                _ = &mut rest => {}
                () = in_flight.servers_released() => {
                    let _ = timeout(CLOSING, rest).await;
                }
            }
        }
    };
    tokio::select! {
        () = both => {}
        () = cut.cancelled() => {}
    }
}

/// Forwards one direction. Returns whether it ended with a close rather than a failure. A server
/// that is held back is read all the same: it may ask whether the connection is alive.
async fn pass(
    mut from: SplitStream<Socket>,
    mut to: SplitSink<Socket, Message>,
    side: Side,
    in_flight: &InFlight,
    log: Option<&SocketLog>,
) -> bool {
    let mut waiting = VecDeque::new();
    let mut has_ended = false;
    while !has_ended || !waiting.is_empty() {
        tokio::select! {
            biased;
            () = may_pass(side, in_flight), if !waiting.is_empty() => {
                let Some(message) = waiting.pop_front() else { continue };
                let is_close = matches!(message, Message::Close(_));
                if side == Side::Server && !is_close {
                    // The client may tell of its arrival before this task goes on.
                    in_flight.frame_sent();
                }
                let sent = to.send(message).await;
                in_flight.socket_has_news();
                if side == Side::Client && !is_close {
                    in_flight.frame_received();
                }
                if sent.is_err() || is_close {
                    return is_close;
                }
            }
            message = from.next(), if !has_ended && waiting.len() < MOST_WAITING => match message {
                None => has_ended = true,
                Some(Err(error)) => {
                    tracing::debug!(?side, %error, "a WebSocket broke off");
                    has_ended = true;
                }
                Some(Ok(message)) => {
                    let Some(payload) = Payload::of(&message) else { continue };
                    has_ended = matches!(payload, Payload::Close { .. });
                    if let Some(log) = log {
                        log.push(side, payload);
                    }
                    waiting.push_back(message);
                }
            },
        }
    }
    false
}

/// Waits until a side may speak.
async fn may_pass(side: Side, in_flight: &InFlight) {
    if side == Side::Server {
        in_flight.servers_released().await;
    }
}
