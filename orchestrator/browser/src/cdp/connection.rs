//! The DevTools protocol over the pipes of the browser: commands with their replies, and events.
//!
//! One listener gets the events in their order, before any later message is read. So once a command
//! has its reply, the listener knows everything that happened in that session before the reply.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::Error;
use crate::cdp::cpu_time;
use crate::cdp::guests::Guests;
use crate::cdp::pipe::Pipe;

/// How long a command may take by default.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a command may take while the browser's graphics process draws, which takes the page's
/// thread along. Without a graphics card, WebGL is drawn by the processor.
pub(crate) const MAX_DRAWING: Duration = Duration::from_secs(180);
/// How long to watch whether it draws.
const DRAWING_WATCH: Duration = Duration::from_secs(1);
/// How much of its time a graphics process that draws uses on a busy machine: a thirtieth.
const DRAWING_SHARE: u32 = 30;

/// The first id of our own commands. Guests have those below: a reply by which the browser does not
/// tell its session cannot be taken for that of another's command.
pub(crate) const FIRST_ID: u64 = 1 << 30;

/// The error code of commands that we fail ourselves. The protocol's codes are below -32000, too.
const ABANDONED_CODE: i64 = -32100;

/// The id of a DevTools session: one attached page, frame or worker.
pub(crate) type SessionId = Arc<str>;

/// An event of the browser.
#[derive(Debug)]
pub(crate) struct Event {
    /// The session in which it happened; `None` is the browser as a whole.
    pub(crate) session: Option<SessionId>,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// The open pipes. They close when this is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) cdp: Cdp,
    tasks: [AbortHandle; 2],
}

/// Sends commands over a [`Connection`]. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cdp {
    shared: Arc<Shared>,
}

struct Shared {
    next: AtomicU64,
    out: mpsc::UnboundedSender<Outgoing>,
    pending: Mutex<PendingCalls>,
    /// The browser's graphics process; 0 until it is known.
    graphics: AtomicU64,
    /// Other programs on the same connection, with sessions of their own.
    guests: Guests,
}

/// A message on its way to the browser.
struct Outgoing {
    text: String,
    /// The part of a guest's room that the message takes up.
    _room: Option<OwnedSemaphorePermit>,
}

/// The calls without a reply, by id; `None` once the connection is lost.
type PendingCalls = Option<HashMap<u64, PendingCall>>;

struct PendingCall {
    session: Option<SessionId>,
    answer: oneshot::Sender<Reply>,
}

/// The result of a command. Its text is parsed only by the caller that needs it: trees of large
/// pages have tens of megabytes.
pub(crate) type Reply = Result<Box<RawValue>, CommandError>;

/// The browser's error reply to a command.
#[derive(Debug, Deserialize)]
pub(crate) struct CommandError {
    code: i64,
    message: String,
}

/// Measures the CPU time of the graphics process since some moment.
pub(crate) struct DrawingWatch {
    process: u64,
    begin: Instant,
    /// CPU time at the beginning, in nanoseconds.
    used: u64,
}

impl DrawingWatch {
    /// Whether it has drawn for a part of the time since then. False if it is not known.
    pub(crate) fn is_drawing(&self) -> bool {
        let used =
            Duration::from_nanos(cpu_time::of_process(self.process).saturating_sub(self.used));
        used > self.begin.elapsed() / DRAWING_SHARE
    }
}

impl CommandError {
    pub(crate) fn mentions(&self, words: &str) -> bool {
        self.message.contains(words)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

#[derive(Deserialize)]
struct IncomingMessage {
    id: Option<u64>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Box<RawValue>>,
    error: Option<CommandError>,
}

impl fmt::Debug for Cdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cdp").finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Connection {
    /// Talks to the browser over its pipes.
    ///
    /// `listener` gets every event, and `None` when the connection is lost. It must not block.
    pub(crate) fn open(
        pipe: Pipe,
        listener: impl Fn(&Cdp, Option<Event>) + Send + 'static,
    ) -> Self {
        let Pipe { mut commands, mut replies } = pipe;
        let (out, mut outgoing) = mpsc::unbounded_channel::<Outgoing>();
        let pending = Mutex::new(Some(HashMap::new()));
        let (next, graphics) = (AtomicU64::new(FIRST_ID), AtomicU64::new(0));
        let shared = Shared { next, out, pending, graphics, guests: Guests::default() };
        let cdp = Cdp { shared: Arc::new(shared) };
        let writer = tokio::spawn(async move {
            while let Some(message) = outgoing.recv().await {
                if commands.send(&message.text).await.is_err() {
                    break;
                }
            }
        });
        let remote = cdp.clone();
        let reader = tokio::spawn(async move {
            loop {
                match replies.next().await {
                    Ok(Some(message)) if remote.shared.guests.take(message) => {}
                    Ok(Some(message)) => dispatch(message, &remote, &listener),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::debug!(%error, "the pipe of the browser cannot be read");
                        break;
                    }
                }
            }
            // Dropping the senders wakes every caller that still waits for a reply.
            remote.pending().take();
            remote.shared.guests.end();
            listener(&remote, None);
        });
        Self { cdp, tasks: [writer.abort_handle(), reader.abort_handle()] }
    }
}

impl Cdp {
    /// Sends a command and waits for its reply, for [`CALL_TIMEOUT`] at most.
    pub(crate) async fn call(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
    ) -> Result<Value, Error> {
        self.call_within(session, method, params, CALL_TIMEOUT).await
    }

    /// Sends a command and waits for its reply, for `limit` at most.
    pub(crate) async fn call_within(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, Error> {
        parse(method, &self.text(session, method, params, limit).await?)
    }

    /// Sends a command, waits for its reply for [`CALL_TIMEOUT`] at most, and parses the reply.
    pub(crate) async fn call_as<T: DeserializeOwned>(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
    ) -> Result<T, Error> {
        parse(method, &self.text(session, method, params, CALL_TIMEOUT).await?)
    }

    async fn text(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Box<RawValue>, Error> {
        let mut answer = self.send(session, method, params);
        let mut waited = limit;
        let reply = loop {
            let reply = timeout(limit, &mut answer).await;
            // Who has a shorter limit waits for something in turns, and knows better.
            if reply.is_ok() || limit < CALL_TIMEOUT || waited >= MAX_DRAWING {
                break reply;
            }
            // Only now, because this reads a dozen files.
            let drawing = self.drawing_watch();
            let reply = timeout(DRAWING_WATCH, &mut answer).await;
            if reply.is_ok() || !drawing.is_drawing() {
                break reply;
            }
            tracing::debug!(method, ?waited, "the browser still draws");
            waited += limit;
        };
        match reply {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(CommandError { code, message }))) => {
                Err(Error::Refused { method: method.to_owned(), code, message })
            }
            Ok(Err(_)) => Err(Error::Gone { waiting_for: method.to_owned() }),
            Err(_) => Err(Error::Deadline {
                condition: format!("the browser to answer `{method}`"),
                waited,
            }),
        }
    }

    /// Tells which process draws for the pages.
    pub(crate) fn set_graphics(&self, process: u64) {
        self.shared.graphics.store(process, Ordering::Relaxed);
    }

    /// The process that draws for the pages, once it is known.
    pub(crate) fn graphics(&self) -> Option<u64> {
        Some(self.shared.graphics.load(Ordering::Relaxed)).filter(|&process| process > 0)
    }

    /// Watches from now on whether the graphics process draws.
    pub(crate) fn drawing_watch(&self) -> DrawingWatch {
        let process = self.shared.graphics.load(Ordering::Relaxed);
        DrawingWatch { process, begin: Instant::now(), used: cpu_time::of_process(process) }
    }

    /// Watches for a moment whether the browser's graphics process draws.
    #[expect(clippy::disallowed_methods, reason = "what is used within a time is what it tells")]
    pub(crate) async fn is_drawing(&self) -> bool {
        let watch = self.drawing_watch();
        sleep(DRAWING_WATCH).await;
        watch.is_drawing()
    }

    /// Sends a command at once. The caller may await the reply or ignore it. The browser carries
    /// out the commands of one session in the order of sending.
    pub(crate) fn send(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: Value,
    ) -> oneshot::Receiver<Reply> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(&**session);
        }
        let (answer, receiver) = oneshot::channel();
        if let Some(pending) = &mut *self.pending() {
            pending.insert(id, PendingCall { session: session.cloned(), answer });
            // If the writer has ended, the reader ends soon, and clears the pending calls.
            let _ = self.shared.out.send(Outgoing { text: message.to_string(), _room: None });
        }
        receiver
    }

    /// Fails all pending calls of a session. A crashed page never replies, and the browser does not
    /// say so.
    pub(crate) fn fail_pending(&self, session: &SessionId) {
        if let Some(pending) = &mut *self.pending() {
            for (_, waiting) in
                pending.extract_if(|_, waiting| waiting.session.as_ref() == Some(session))
            {
                let message = "its page has crashed or was closed".to_owned();
                let _ = waiting.answer.send(Err(CommandError { code: ABANDONED_CODE, message }));
            }
        }
    }

    /// The first of our commands that a session has not answered yet, and for whose reply somebody
    /// waits.
    pub(crate) fn oldest_pending(&self, session: &SessionId) -> Option<u64> {
        let pending = self.pending();
        let of_session = |(id, call): (&u64, &PendingCall)| {
            let is_awaited = call.session.as_ref() == Some(session) && !call.answer.is_closed();
            is_awaited.then_some(*id)
        };
        pending.iter().flatten().filter_map(of_session).min()
    }

    /// Other programs on this connection.
    pub(crate) fn guests(&self) -> &Guests {
        &self.shared.guests
    }

    /// Sends a whole message of another program, which has its room back once the browser has taken
    /// the message.
    pub(crate) fn forward(&self, text: String, room: Option<OwnedSemaphorePermit>) {
        // If the writer has ended, the guest is told by the reader.
        let _ = self.shared.out.send(Outgoing { text, _room: room });
    }

    fn pending(&self) -> MutexGuard<'_, PendingCalls> {
        self.shared.pending.lock()
    }
}

fn parse<T: DeserializeOwned>(method: &'static str, answer: &RawValue) -> Result<T, Error> {
    serde_json::from_str(answer.get())
        .map_err(|_| Error::Shape { method, field: "what it should say" })
}

/// The call that a reply answers: the one with its id and its session. A refusal of a session that
/// is not there has none.
fn take_answered(
    pending: &mut HashMap<u64, PendingCall>,
    id: u64,
    session: Option<&str>,
    refused: bool,
) -> Option<PendingCall> {
    let asked = pending.get(&id)?.session.as_deref();
    if asked != session && !(refused && session.is_none()) {
        tracing::warn!(id, "the browser answers a command in another session than was asked");
        return None;
    }
    pending.remove(&id)
}

fn dispatch(message: &[u8], cdp: &Cdp, listener: &impl Fn(&Cdp, Option<Event>)) {
    let incoming: IncomingMessage = match serde_json::from_slice(message) {
        Ok(incoming) => incoming,
        Err(error) => {
            tracing::warn!(%error, "the browser sent something that is not a DevTools message");
            return;
        }
    };
    if let Some(id) = incoming.id {
        let (session, refused) = (incoming.session.as_deref(), incoming.error.is_some());
        let waiting =
            cdp.pending().as_mut().and_then(|pending| take_answered(pending, id, session, refused));
        if let Some(waiting) = waiting {
            let answer = match incoming.error {
                Some(refusal) => Err(refusal),
                None => Ok(incoming.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
            };
            // The caller may have ignored the reply.
            let _ = waiting.answer.send(answer);
        }
    } else if let Some(method) = incoming.method {
        let session = incoming.session.map(SessionId::from);
        listener(
            cdp,
            Some(Event { session, method, params: incoming.params.unwrap_or(Value::Null) }),
        );
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_of_the_session_that_was_asked() {
        let mut pending = HashMap::new();
        let mut ask = |id, session: Option<&str>| {
            let (answer, receiver) = oneshot::channel();
            pending.insert(id, PendingCall { session: session.map(SessionId::from), answer });
            receiver
        };
        let _receivers = [ask(1, Some("A")), ask(2, None), ask(3, Some("A"))];
        let mut answers =
            |id, session, refused| take_answered(&mut pending, id, session, refused).is_some();
        assert!(
            !answers(1, Some("B"), false)
                && !answers(1, None, false)
                && !answers(1, Some("B"), true)
        );
        assert!(answers(1, Some("A"), false) && !answers(1, Some("A"), false));
        assert!(!answers(2, Some("A"), true) && answers(2, None, true));
        assert!(answers(3, None, true), "its session was not there");
    }
}
