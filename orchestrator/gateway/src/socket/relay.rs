//! Forwards a WebSocket between a client and the live web, frame by frame.

use std::time::Duration;

use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, protocol::Role},
};
use tokio_util::sync::CancellationToken;

use super::{Payload, Side, config};
use crate::{InFlight, record::SocketLog};

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// How long the other side may take to reply to a close.
const CLOSING: Duration = Duration::from_secs(5);

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
    let client: Socket = WebSocketStream::from_raw_socket(TokioIo::new(client), Role::Server, config).await;
    let server: Socket = WebSocketStream::from_raw_socket(TokioIo::new(server), Role::Client, config).await;
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
            let _ = timeout(CLOSING, rest).await;
        }
    };
    tokio::select! {
        () = both => {}
        () = cut.cancelled() => {}
    }
}

/// Forwards one direction. Returns whether it ended with a close rather than a failure.
async fn pass(
    mut from: SplitStream<Socket>,
    mut to: SplitSink<Socket, Message>,
    side: Side,
    in_flight: &InFlight,
    log: Option<&SocketLog>,
) -> bool {
    while let Some(message) = from.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                tracing::debug!(?side, %error, "a WebSocket broke off");
                return false;
            }
        };
        let Some(payload) = Payload::of(&message) else { continue };
        let closing = matches!(payload, Payload::Close { .. });
        if let Some(log) = log {
            log.push(side, payload);
        }
        if side == Side::Server {
            in_flight.servers_released().await;
            if !closing {
                // The client may tell of its arrival before this task goes on.
                in_flight.frame_sent();
            }
        }
        let sent = to.send(message).await;
        if side == Side::Client && !closing {
            in_flight.frame_received();
        }
        in_flight.socket_has_news();
        if sent.is_err() || closing {
            return closing;
        }
    }
    false
}
