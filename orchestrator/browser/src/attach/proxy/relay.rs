//! One WebSocket of a client, forwarded message by message.
//!
//! The client has a session of its own in the browser ([`guests`](crate::cdp::guests)), and does
//! not see that: messages of that session come and go without its id.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::rules::Verdict;
use super::{Backend, targets};
use crate::cdp::connection::FIRST_ID;
use crate::cdp::guests::Guest;

const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest message of a client. What clients upload comes in parts of a few megabytes, or by
/// the name of a file.
const MAX_MESSAGE_SIZE: usize = 64 << 20;
/// How many bytes of one client's messages may be on their way to the browser. More of them wait in
/// the connection.
const MAX_UNDER_WAY: usize = 2 * MAX_MESSAGE_SIZE;
/// Messages that wait for a client to read them. More of them wait in the connection.
const QUEUE_LENGTH: usize = 64;
/// The protocol's code for a command that failed.
const SERVER_ERROR: i32 = -32000;
/// The protocol's code for a message that is no command.
const INVALID_REQUEST: i32 = -32600;
/// The protocol's code for a session that is not there.
const NO_SESSION: i32 = -32001;

/// The target of a WebSocket.
pub(super) enum Opened {
    /// The browser as a whole.
    Browser,
    /// A page, frame or worker, by its target id.
    Target(String),
}

/// Forwards messages until one side has closed.
pub(super) async fn relay(backend: &Arc<Backend>, opened: Opened, program: Upgraded) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_SIZE))
        .max_frame_size(Some(MAX_MESSAGE_SIZE));
    let program =
        WebSocketStream::from_raw_socket(TokioIo::new(program), Role::Server, Some(config)).await;
    let (to_program, from_program) = program.split();
    let attached = backend.cdp.call(None, "Target.attachToBrowserTarget", json!({})).await;
    let Some(browser) = attached.ok().as_ref().and_then(session_of) else {
        tracing::debug!("the browser refused a DevTools connection");
        return;
    };
    let _detach = Detach { backend, session: &browser };
    let mut guest = backend.cdp.guests().welcome(&browser);
    let session = match &opened {
        Opened::Browser => Some(browser.clone()),
        Opened::Target(target) => {
            let attaching = attach(backend, &mut guest, &browser, target);
            timeout(ATTACH_TIMEOUT, attaching).await.ok().flatten()
        }
    };
    let Some(session) = session else {
        tracing::debug!("the browser does not attach to a DevTools target");
        return;
    };
    let (answers, queue) = mpsc::channel(QUEUE_LENGTH);
    let (commands, mut judged) = mpsc::channel(QUEUE_LENGTH);
    // When one of them ends, the others have no partner.
    tokio::select! {
        () = judge_commands(backend, from_program, commands, answers.clone()) => {}
        () = exchange(backend, &session, &mut guest, &mut judged, answers) => {}
        () = write(queue, to_program) => {}
    }
}

fn session_of(reply: &Value) -> Option<String> {
    reply.get("sessionId").and_then(Value::as_str).map(str::to_owned)
}

/// Ends the client's first session, and with it all others.
struct Detach<'b> {
    backend: &'b Backend,
    session: &'b str,
}

impl Drop for Detach<'_> {
    fn drop(&mut self) {
        let params = json!({ "sessionId": self.session });
        drop(self.backend.cdp.send(None, "Target.detachFromTarget", params));
    }
}

/// Attaches the client's first session to a target. Returns the new session.
async fn attach(
    backend: &Backend,
    guest: &mut Guest<'_>,
    browser: &str,
    target: &str,
) -> Option<String> {
    let command = json!({
        "id": 0,
        "method": "Target.attachToTarget",
        "params": { "targetId": target, "flatten": true },
        "sessionId": browser,
    });
    guest.send(|| backend.cdp.forward(command.to_string(), None));
    // Events may come before the reply.
    loop {
        let message: Value = serde_json::from_str(&guest.next().await?).ok()?;
        if message.get("id").is_some() {
            return message.get("result").and_then(session_of);
        }
    }
}

type IncomingMessage = Result<Message, Error>;

/// A command that is allowed, with the room that its client has taken for it.
struct Command {
    message: Value,
    room: OwnedSemaphorePermit,
}

/// Passes on the client's commands that are allowed, and answers the others.
async fn judge_commands(
    backend: &Backend,
    mut from: impl Stream<Item = IncomingMessage> + Unpin,
    commands: mpsc::Sender<Command>,
    answers: mpsc::Sender<Message>,
) {
    let under_way = Arc::new(Semaphore::new(MAX_UNDER_WAY));
    while let Some(Ok(message)) = from.next().await {
        let text = match message {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => continue,
            _ => break,
        };
        let size = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&under_way).acquire_many_owned(size).await else { break };
        let Ok(mut message) = serde_json::from_str::<Value>(&text) else { break };
        drop(text);
        if is_ours(&message) {
            let why = format!("ids of commands are below {FIRST_ID}");
            let refusal = reply_to(&message, failure(INVALID_REQUEST, &why));
            if answers.send(Message::text(refusal.to_string())).await.is_err() {
                break;
            }
            continue;
        }
        let answer = match backend.limits.judge(&mut message) {
            Verdict::Pass => match commands.send(Command { message, room }).await {
                Ok(()) => continue,
                Err(_) => break,
            },
            Verdict::Refuse(why) => reply_to(&message, failure(SERVER_ERROR, &why)),
            Verdict::Close => reply_to(&message, json!({ "result": {} })),
        };
        let closes = answer.get("result").is_some();
        if answers.send(Message::text(answer.to_string())).await.is_err() {
            break;
        }
        if closes {
            let _ = answers.send(Message::Close(None)).await;
            // The writer ends the connection after the close message.
            std::future::pending::<()>().await;
        }
    }
}

/// Whether a command has an id of our own commands, however it is spelled.
fn is_ours(message: &Value) -> bool {
    message.get("id").and_then(Value::as_f64).is_some_and(|id| id >= FIRST_ID as f64)
}

fn failure(code: i32, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message } })
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

/// Sends the client's commands to its sessions, and the browser's messages to the client, without
/// what it may not see.
async fn exchange(
    backend: &Backend,
    session: &str,
    guest: &mut Guest<'_>,
    commands: &mut mpsc::Receiver<Command>,
    answers: mpsc::Sender<Message>,
) {
    loop {
        let answer = tokio::select! {
            command = commands.recv() => {
                let Some(Command { message: mut command, room }) = command else { return };
                match command.get("sessionId").map(Value::as_str) {
                    None => command["sessionId"] = session.into(),
                    // The session of the connection itself has no name for the client, and is none
                    // that it could know.
                    Some(Some(named)) if named != session && guest.owns(named) => {}
                    Some(_) => {
                        let refusal = failure(NO_SESSION, "Session with given id not found.");
                        let refusal = reply_to(&command, refusal);
                        if answers.send(Message::text(refusal.to_string())).await.is_err() {
                            return;
                        }
                        continue;
                    }
                }
                guest.send(|| backend.cdp.forward(command.to_string(), Some(room)));
                continue;
            }
            message = guest.next() => message,
        };
        let Some(message) = answer else { return };
        let Some(message) = shown(message, session) else { continue };
        if answers.send(Message::text(message)).await.is_err() {
            return;
        }
    }
}

/// A message of the browser as the client sees it; nothing if it may not see it.
fn shown(message: String, session: &str) -> Option<String> {
    if targets::may_contain_targets(&message) {
        let mut parsed: Value = serde_json::from_str(&message).ok()?;
        if !targets::filter(&mut parsed) {
            return None;
        }
        return Some(without_session(parsed, session));
    }
    // The browser writes the session at the end. Long messages are not parsed for it.
    let end = format!(",\"sessionId\":\"{session}\"}}");
    match message.strip_suffix(&end) {
        Some(rest) => Some(format!("{rest}}}")),
        None if message.contains(session) => {
            Some(without_session(serde_json::from_str(&message).ok()?, session))
        }
        None => Some(message),
    }
}

fn without_session(mut message: Value, session: &str) -> String {
    if message.get("sessionId").and_then(Value::as_str) == Some(session)
        && let Some(fields) = message.as_object_mut()
    {
        fields.remove("sessionId");
    }
    message.to_string()
}

async fn write(mut queue: mpsc::Receiver<Message>, mut to: impl Sink<Message> + Unpin) {
    while let Some(message) = queue.recv().await {
        let closes = message.is_close();
        if to.send(message).await.is_err() || closes {
            return;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_no_id_of_our_commands() {
        for (id, ours) in [("1", false), ("1073741823", false), ("-9999", false), ("\"x\"", false)]
            .into_iter()
            .chain([("1073741824", true), ("1.073741825e9", true), ("1e300", true)])
        {
            let message =
                serde_json::from_str(&format!(r#"{{"id":{id},"method":"Page.enable"}}"#)).unwrap();
            assert_eq!(is_ours(&message), ours, "{id}");
        }
    }

    #[test]
    fn the_clients_own_session_has_no_id_and_others_have() {
        let shown = |message: &str| shown(message.to_owned(), "OWN");
        assert_eq!(
            shown(r#"{"id":1,"result":{},"sessionId":"OWN"}"#).unwrap(),
            r#"{"id":1,"result":{}}"#
        );
        assert_eq!(shown(r#"{"sessionId":"OWN","id":1}"#).unwrap(), r#"{"id":1}"#);
        let other = r#"{"id":1,"result":{},"sessionId":"OTHER"}"#;
        assert_eq!(shown(other).unwrap(), other);
        let targets =
            r#"{"result":{"targetInfos":[{"type":"browser_ui","url":""}]},"sessionId":"OWN"}"#;
        assert_eq!(shown(targets).unwrap(), r#"{"result":{"targetInfos":[]}}"#);
    }
}
