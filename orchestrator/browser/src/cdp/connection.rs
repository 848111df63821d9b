//! The DevTools protocol over the browser's WebSocket: commands with their answers, and events.
//!
//! Events are handed to one listener, in order, before anything that came after them is looked at. So once a command has been answered, the
//! listener knows all that happened in that session before the answer.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::Full;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    net::TcpStream,
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::timeout,
};
use tokio_tungstenite::{
    connect_async_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use crate::Error;

/// How long a command may take unless told otherwise.
pub(crate) const CALL: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(10);
/// The largest message taken; a screenshot or the accessibility tree of a very large page.
const LARGEST: usize = 512 << 20;

/// The number of our own refusals; the protocol's are below -32000 too.
const ABANDONED: i64 = -32100;

/// The name of a DevTools session: one attached page, frame or worker.
pub(crate) type SessionId = Arc<str>;

/// Something the browser told unasked.
#[derive(Debug)]
pub(crate) struct Event {
    /// Where it happened; `None` is the browser as a whole.
    pub(crate) session: Option<SessionId>,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// The open socket; it closes when this is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) cdp: Cdp,
    tasks: [AbortHandle; 2],
}

/// What sends commands over a [`Connection`]. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cdp {
    shared: Arc<Shared>,
}

struct Shared {
    next: AtomicU64,
    out: mpsc::UnboundedSender<String>,
    pending: Mutex<Pending>,
}

/// Who waits for which answer; `None` once the connection is gone.
type Pending = Option<HashMap<u64, Waiting>>;

struct Waiting {
    session: Option<SessionId>,
    answer: oneshot::Sender<Answer>,
}

/// What a command came to. Its text is read only by who wants it: trees of large pages have tens of megabytes.
pub(crate) type Answer = Result<Box<RawValue>, Refusal>;

/// The browser's no to a command.
#[derive(Debug, Deserialize)]
pub(crate) struct Refusal {
    code: i64,
    message: String,
}

impl Refusal {
    pub(crate) fn says(&self, words: &str) -> bool {
        self.message.contains(words)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

#[derive(Deserialize)]
struct Incoming {
    id: Option<u64>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Box<RawValue>>,
    error: Option<Refusal>,
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
    /// Connects to the browser at `address` (`host:port`). `listener` hears every event, and the loss of the connection as `None`; it must
    /// not block.
    pub(crate) async fn open(
        address: &str,
        listener: impl Fn(&Cdp, Option<Event>) + Send + 'static,
    ) -> Result<Self, Error> {
        let url = browser_url(address).await?;
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let opening = timeout(CONNECT, connect_async_with_config(url.as_str(), Some(config), true));
        let socket = match opening.await {
            Ok(Ok((socket, _))) => socket,
            Ok(Err(error)) => return Err(Error::Connect { url, reason: error.to_string() }),
            Err(_) => return Err(Error::Connect { url, reason: format!("no answer in {CONNECT:?}") }),
        };
        let (mut sink, mut stream) = socket.split();
        let (out, mut outgoing) = mpsc::unbounded_channel::<String>();
        let pending = Mutex::new(Some(HashMap::new()));
        let cdp = Cdp { shared: Arc::new(Shared { next: AtomicU64::new(1), out, pending }) };
        let writer = tokio::spawn(async move {
            while let Some(text) = outgoing.recv().await {
                if sink.send(Message::text(text)).await.is_err() {
                    break;
                }
            }
        });
        let remote = cdp.clone();
        let reader = tokio::spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if let Message::Text(text) = message {
                    take(&text, &remote, &listener);
                }
            }
            // Dropping the senders wakes everyone who still waits for an answer.
            remote.pending().take();
            listener(&remote, None);
        });
        Ok(Self { cdp, tasks: [writer.abort_handle(), reader.abort_handle()] })
    }
}

impl Cdp {
    /// Sends a command and waits for its answer, for [`CALL`] at most.
    pub(crate) async fn call(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
    ) -> Result<Value, Error> {
        self.call_within(session, method, params, CALL).await
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn call_within(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, Error> {
        read(method, &self.text(session, method, params, limit).await?)
    }

    /// Sends a command and waits for its answer, for [`CALL`] at most, which is read as what it is.
    pub(crate) async fn call_for<T: DeserializeOwned>(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
    ) -> Result<T, Error> {
        read(method, &self.text(session, method, params, CALL).await?)
    }

    async fn text(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Box<RawValue>, Error> {
        let answer = self.send(session, method, params);
        match timeout(limit, answer).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(Refusal { code, message }))) => {
                Err(Error::Refused { method: method.to_owned(), code, message })
            }
            Ok(Err(_)) => Err(Error::Gone { waiting_for: method.to_owned() }),
            Err(_) => {
                Err(Error::Deadline { condition: format!("the browser to answer `{method}`"), waited: limit })
            }
        }
    }

    /// Sends a command now. The answer may be awaited or left alone; commands of one session are carried out in the order of sending.
    pub(crate) fn send(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: Value,
    ) -> oneshot::Receiver<Answer> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(&**session);
        }
        let (answer, receiver) = oneshot::channel();
        if let Some(pending) = &mut *self.pending() {
            pending.insert(id, Waiting { session: session.cloned(), answer });
            // Where the writer is gone the reader soon is, and clears what is pending.
            let _ = self.shared.out.send(message.to_string());
        }
        receiver
    }

    /// Refuses all that is still unanswered in a session: a crashed page answers nothing, and does not say so.
    pub(crate) fn abandon(&self, session: &SessionId) {
        if let Some(pending) = &mut *self.pending() {
            for (_, waiting) in pending.extract_if(|_, waiting| waiting.session.as_ref() == Some(session)) {
                let message = "its page has crashed or was closed".to_owned();
                let _ = waiting.answer.send(Err(Refusal { code: ABANDONED, message }));
            }
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.shared.pending.lock()
    }
}

fn read<T: DeserializeOwned>(method: &'static str, answer: &RawValue) -> Result<T, Error> {
    serde_json::from_str(answer.get()).map_err(|_| Error::Shape { method, field: "what it should say" })
}

fn take(text: &str, cdp: &Cdp, listener: &impl Fn(&Cdp, Option<Event>)) {
    let incoming: Incoming = match serde_json::from_str(text) {
        Ok(incoming) => incoming,
        Err(error) => {
            tracing::warn!(%error, "the browser sent something that is not a DevTools message");
            return;
        }
    };
    if let Some(id) = incoming.id {
        let waiting = cdp.pending().as_mut().and_then(|pending| pending.remove(&id));
        if let Some(waiting) = waiting {
            let answer = match incoming.error {
                Some(refusal) => Err(refusal),
                None => Ok(incoming.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
            };
            // Nobody waits for the answer to a command that was only sent.
            let _ = waiting.answer.send(answer);
        }
    } else if let Some(method) = incoming.method {
        let session = incoming.session.map(SessionId::from);
        listener(cdp, Some(Event { session, method, params: incoming.params.unwrap_or(Value::Null) }));
    }
}

/// Asks the browser for the address of its own DevTools socket.
async fn browser_url(address: &str) -> Result<String, Error> {
    const PATH: &str = "/json/version";
    let failed = |reason: String| Error::Connect { url: format!("http://{address}{PATH}"), reason };
    let asking = async {
        let request = http::Request::get(PATH).header(http::header::HOST, address).body(Full::default());
        let request = request.map_err(|error| failed(error.to_string()))?;
        let stream = TcpStream::connect(address).await.map_err(|error| failed(error.to_string()))?;
        let answer = http_once::exchange(stream, request, 1 << 20).await;
        let answer = answer.map_err(|error| failed(error_text::with_causes(&error)))?;
        let version: Value =
            serde_json::from_slice(answer.body()).map_err(|error| failed(error.to_string()))?;
        version
            .get("webSocketDebuggerUrl")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| failed("it names no webSocketDebuggerUrl".to_owned()))
    };
    timeout(CONNECT, asking).await.unwrap_or_else(|_| Err(failed(format!("no answer in {CONNECT:?}"))))
}
