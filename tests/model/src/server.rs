//! The server.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A request, as it came.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// How many came before it.
    pub number: usize,
    /// The body.
    pub body: Value,
    /// The key that came with it.
    pub key: Option<String>,
    /// Path and query.
    pub path: String,
    /// The head's fields.
    pub headers: HeaderMap,
}

impl ModelRequest {
    /// All words of all messages.
    pub fn words(&self) -> String {
        self.texts().join("\n")
    }

    /// The words of the last message.
    pub fn last(&self) -> String {
        self.texts().pop().unwrap_or_default()
    }

    /// How many messages there are.
    pub fn messages(&self) -> usize {
        self.body["messages"].as_array().map_or(0, Vec::len)
    }

    /// How many pictures there are.
    pub fn pictures(&self) -> usize {
        self.body.to_string().matches("\"image_url\":{").count()
    }

    fn texts(&self) -> Vec<String> {
        let text = |content: &Value| match content {
            Value::String(text) => text.clone(),
            parts => {
                let texts =
                    parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        let messages = self.body["messages"].as_array();
        messages.into_iter().flatten().map(|message| text(&message["content"])).collect()
    }
}

/// What the server does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Replies in these words; a word counts as a token.
    Says(String),
    /// Answers with this status.
    Fails(u16),
    /// Answers with this status, these fields and this body.
    Answers(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Never answers.
    Hangs,
}

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
    _end: oneshot::Sender<()>,
}

impl Reply {
    /// A chat completion whose first choice is this.
    pub fn choice(choice: Value) -> Reply {
        Reply::json(200, json!({ "choices": [choice] }))
    }

    /// This document.
    pub fn json(status: u16, body: Value) -> Reply {
        Reply::Answers(status, Vec::new(), body.to_string().into_bytes())
    }
}

impl Server {
    /// Starts one on a port that is free, in a thread of its own.
    ///
    /// # Errors
    /// When there is no port.
    pub fn start(
        script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
    ) -> Result<Server> {
        Server::start_at(0, script)
    }

    /// Starts one on this port.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn start_at(
        port: u16,
        script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
    ) -> Result<Server> {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = oneshot::channel();
        let (tell, ready) = mpsc::channel();
        let log = requests.clone();
        let script = Arc::new(script);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let serving = async {
                let listener = TcpListener::bind(("127.0.0.1", port)).await?;
                let handle = post(move |uri: Uri, headers: HeaderMap, body: Bytes| {
                    answer(script.clone(), log.clone(), uri, headers, body)
                });
                let routes = Router::new()
                    .route("/v1/chat/completions", handle.clone())
                    .route("/deployments/{name}/chat/completions", handle);
                let _ = tell.send(Ok(listener.local_addr()?));
                tokio::select! {
                    served = axum::serve(listener, routes) => served,
                    _ = ended => Ok(()),
                }
            };
            if let Err(error) = runtime.and_then(|runtime| runtime.block_on(serving)) {
                let _ = tell.send(Err(error));
            }
        });
        let address = ready.recv().context("the server says where it is")??;
        Ok(Server { address, requests, _end: end })
    }

    /// Its `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(
    script: Arc<impl Fn(&ModelRequest) -> Reply>,
    log: Arc<Mutex<Vec<ModelRequest>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, "this is no JSON").into_response();
    };
    let key = headers.get("authorization").and_then(|value| value.to_str().ok());
    let key = key.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let request = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let request = ModelRequest { number: log.len(), body, key, path: uri.to_string(), headers };
        log.push(request.clone());
        request
    };
    match script(&request) {
        Reply::Says(text) => {
            let count = |text: &str| text.split_whitespace().count();
            let usage = json!({ "prompt_tokens": count(&request.words()), "completion_tokens": count(&text) });
            let choice = json!({ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" });
            let reply = json!({ "object": "chat.completion", "model": request.body["model"], "choices": [choice], "usage": usage });
            reply.to_string().into_response()
        }
        Reply::Fails(code) => (status(code), "no").into_response(),
        Reply::Answers(code, fields, body) => {
            let mut response = (status(code), body).into_response();
            for (name, value) in fields {
                response.headers_mut().extend(
                    HeaderValue::from_str(&value)
                        .map(|value| (HeaderName::from_static(name), value)),
                );
            }
            response
        }
        Reply::Hangs => std::future::pending().await,
    }
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
