//! One WebSocket of a program, passed on message by message.

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

const CONNECT: Duration = Duration::from_secs(10);
/// The largest message: a screenshot or the accessibility tree of a very large page.
const LARGEST: usize = 512 << 20;
/// Messages that wait for a program to read them; more wait in the browser.
const WAITING: usize = 64;
/// The protocol's number for a command that failed.
const FAILED: i32 = -32000;

/// Passes messages on until one side has closed.
pub(super) async fn relay(backend: &Arc<Backend>, path: &str, program: Upgraded) {
    let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
    let program = WebSocketStream::from_raw_socket(TokioIo::new(program), Role::Server, Some(config)).await;
    let (to_program, from_program) = program.split();
    let url = format!("ws://{}{path}", backend.debugger);
    let connecting = timeout(CONNECT, connect_async_with_config(url, Some(config), true));
    let Ok(Ok((browser, _))) = connecting.await else {
        tracing::debug!(path, "the browser does not take a DevTools connection");
        return;
    };
    let (to_browser, from_browser) = browser.split();
    let (answers, waiting) = mpsc::channel(WAITING);
    // Whichever ends, the others have nobody to speak to.
    tokio::select! {
        () = up(backend, from_program, to_browser, answers.clone()) => {}
        () = down(from_browser, answers) => {}
        () = write(waiting, to_program) => {}
    }
}

type Received = Result<Message, Error>;

/// Passes on what the program asks for, as far as it may.
async fn up(
    backend: &Backend,
    mut from: impl Stream<Item = Received> + Unpin,
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
            Verdict::Refuse(why) => json!({ "error": { "code": FAILED, "message": why } }),
            Verdict::Close => json!({ "result": {} }),
        };
        let closes = answer.get("result").is_some();
        if answers.send(Message::text(answer_to(&message, answer).to_string())).await.is_err() {
            break;
        }
        if closes {
            let _ = answers.send(Message::Close(None)).await;
            // The writer ends the connection once it has said so.
            std::future::pending::<()>().await;
        }
    }
}

/// An answer of our own to a message.
fn answer_to(message: &Value, mut answer: Value) -> Value {
    for name in ["id", "sessionId"] {
        if let Some(value) = message.get(name) {
            answer[name] = value.clone();
        }
    }
    answer
}

/// Passes on what the browser says, less what is not the program's business.
async fn down(mut from: impl Stream<Item = Received> + Unpin, answers: mpsc::Sender<Message>) {
    while let Some(Ok(message)) = from.next().await {
        let Message::Text(text) = &message else { continue };
        let message = if targets::may_tell(text) {
            let Ok(mut told) = serde_json::from_str::<Value>(text) else { continue };
            if !targets::filter(&mut told) {
                continue;
            }
            Message::text(told.to_string())
        } else {
            message
        };
        if answers.send(message).await.is_err() {
            return;
        }
    }
}

async fn write(mut waiting: mpsc::Receiver<Message>, mut to: impl Sink<Message> + Unpin) {
    while let Some(message) = waiting.recv().await {
        let closes = message.is_close();
        if to.send(message).await.is_err() || closes {
            return;
        }
    }
}
