//! One WebSocket of a client, forwarded message by message.

use std::{sync::Arc, time::Duration};

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, connect_async_with_config,
    tungstenite::{
        Error, Message,
        protocol::{Role, WebSocketConfig},
    },
};

use super::{Backend, rules::Verdict, targets};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest message: a screenshot or the accessibility tree of a very large page.
const MAX_MESSAGE_SIZE: usize = 512 << 20;
/// Messages that wait for a client to read them. More of them wait in the browser.
const QUEUE_LENGTH: usize = 64;
/// The protocol's code for a command that failed.
const SERVER_ERROR: i32 = -32000;

/// Forwards messages until one side has closed.
pub(super) async fn relay(backend: &Arc<Backend>, path: &str, program: Upgraded) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_SIZE))
        .max_frame_size(Some(MAX_MESSAGE_SIZE));
    let program = WebSocketStream::from_raw_socket(TokioIo::new(program), Role::Server, Some(config)).await;
    let (to_program, from_program) = program.split();
    let url = format!("ws://{}{path}", backend.debugger);
    let connecting = timeout(CONNECT_TIMEOUT, connect_async_with_config(url, Some(config), true));
    let Ok(Ok((browser, _))) = connecting.await else {
        tracing::debug!(path, "the browser refused a DevTools connection");
        return;
    };
    let (to_browser, from_browser) = browser.split();
    let (answers, queue) = mpsc::channel(QUEUE_LENGTH);
    // When one of them ends, the others have no partner.
    tokio::select! {
        () = forward_commands(backend, from_program, to_browser, answers.clone()) => {}
        () = forward_events(from_browser, answers) => {}
        () = write(queue, to_program) => {}
    }
}

type IncomingMessage = Result<Message, Error>;

/// Forwards the client's commands, if they are allowed.
async fn forward_commands(
    backend: &Backend,
    mut from: impl Stream<Item = IncomingMessage> + Unpin,
    mut to: impl Sink<Message> + Unpin,
    answers: mpsc::Sender<Message>,
) {
    while let Some(Ok(message)) = from.next().await {
        let mut message: Value = match &message {
            Message::Text(text) => match serde_json::from_str(text) {
                Ok(message) => message,
                Err(_) => break,
            },
            Message::Ping(_) | Message::Pong(_) => continue,
            _ => break,
        };
        let answer = match backend.limits.judge(&mut message) {
            Verdict::Pass if to.send(Message::text(message.to_string())).await.is_ok() => continue,
            Verdict::Pass => break,
            Verdict::Refuse(why) => json!({ "error": { "code": SERVER_ERROR, "message": why } }),
            Verdict::Close => json!({ "result": {} }),
        };
        let closes = answer.get("result").is_some();
        if answers.send(Message::text(reply_to(&message, answer).to_string())).await.is_err() {
            break;
        }
        if closes {
            let _ = answers.send(Message::Close(None)).await;
            // The writer ends the connection after the close message.
            std::future::pending::<()>().await;
        }
    }
}

/// Our own reply to a command.
fn reply_to(message: &Value, mut answer: Value) -> Value {
    for name in ["id", "sessionId"] {
        if let Some(value) = message.get(name) {
            answer[name] = value.clone();
        }
    }
    answer
}

/// Forwards the browser's messages, without what the client may not see.
async fn forward_events(
    mut from: impl Stream<Item = IncomingMessage> + Unpin,
    answers: mpsc::Sender<Message>,
) {
    while let Some(Ok(message)) = from.next().await {
        let Message::Text(text) = &message else { continue };
        let message = if targets::may_contain_targets(text) {
            let Ok(mut message) = serde_json::from_str::<Value>(text) else { continue };
            if !targets::filter(&mut message) {
                continue;
            }
            Message::text(message.to_string())
        } else {
            message
        };
        if answers.send(message).await.is_err() {
            return;
        }
    }
}

async fn write(mut queue: mpsc::Receiver<Message>, mut to: impl Sink<Message> + Unpin) {
    while let Some(message) = queue.recv().await {
        let closes = message.is_close();
        if to.send(message).await.is_err() || closes {
            return;
        }
    }
}
