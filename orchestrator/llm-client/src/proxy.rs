//! A recording proxy for programs that call models themselves: an OpenAI-compatible endpoint with a
//! cassette behind it. Such programs get cassettes, usage and cost without changes.
//!
//! Requests are recorded whole, including tools. Only the model's name and the streaming options
//! are not part of the lookup key. A repeated request is a new sample. The proxy counts repetitions
//! from its start, so each run replays the same samples.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use host_check::{Guard, Key};
use http::{StatusCode, header};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use crate::{Chat, Error, Model, ModelReply, Reply, Sampling, Usage};

/// Maximum size of a request, including images.
const BODY_LIMIT: usize = 64 << 20;
/// Request fields that are not part of the lookup key.
const NOT_PART_OF_CHAT: [&str; 3] = ["model", "stream", "stream_options"];

/// Usage of the proxy so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Requests with a reply.
    pub calls: u64,
    /// Those of them that the cassette answered.
    pub recorded: u64,
    /// Requests without a reply.
    pub failed: u64,
    /// The tokens used.
    #[serde(flatten)]
    pub usage: Usage,
    /// The cost in US dollars, including replies from the cassette. Absent without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A recording endpoint in front of a model.
#[derive(Debug)]
pub struct Proxy {
    /// The model. Without a name, the name in the request counts.
    model: Model,
    times_sent: Mutex<HashMap<String, u32>>,
    totals: Mutex<HashMap<String, Totals>>,
}

impl Proxy {
    /// Creates a proxy in front of this model.
    pub fn new(model: Model) -> Arc<Proxy> {
        Arc::new(Proxy { model, times_sent: Mutex::default(), totals: Mutex::default() })
    }

    /// The usage so far, by model.
    pub fn totals(&self) -> HashMap<String, Totals> {
        self.totals.lock().clone()
    }

    /// Serves requests with this key at the listener until `until` completes. `listening` gets the
    /// base URL before.
    ///
    /// # Errors
    /// When the listener has no address.
    pub async fn serve(
        self: &Arc<Proxy>,
        listener: TcpListener,
        key: Key,
        listening: impl FnOnce(&str),
        until: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let guard = Guard::new(listener.local_addr()?, key);
        listening(&format!("{}/v1", guard.url()));
        host_check::serve(listener, self.router(guard), until).await;
        Ok(())
    }

    fn router(self: &Arc<Proxy>, guard: Guard) -> Router {
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(list))
            .route("/v1/usage", get(usage))
            .fallback(|| async {
                let there = "there is POST /v1/chat/completions, GET /v1/models and GET /v1/usage";
                refusal(StatusCode::NOT_FOUND, "not_found", there)
            })
            .layer(DefaultBodyLimit::max(BODY_LIMIT))
            .with_state(self.clone());
        let shut = |refused: host_check::Refusal| {
            refusal(refused.status(), "forbidden", &refused.to_string())
        };
        guard.before(router, shut)
    }

    async fn ask(&self, mut body: Map<String, Value>) -> Result<ModelReply, Error> {
        let named = body.get("model").and_then(Value::as_str).map(str::to_owned);
        NOT_PART_OF_CHAT.iter().for_each(|key| drop(body.remove(*key)));
        let sampling = Sampling { extra: body, ..Sampling::default() };
        let mut chat = Chat { messages: Vec::new(), sampling, attempt: 0, repeat: 0 };
        {
            let mut times_sent = self.times_sent.lock();
            let before = times_sent.entry(chat.digest()).or_default();
            chat.attempt = *before;
            *before += 1;
        }
        let model = Model { name: self.model.name.clone().or(named), ..self.model.clone() };
        let model_reply = model.ask(&chat).await;
        self.count(&model, &model_reply);
        model_reply
    }

    fn count(&self, model: &Model, model_reply: &Result<ModelReply, Error>) {
        let name = model_reply
            .as_ref()
            .map_or(model.name.as_ref(), |model_reply| model_reply.model.as_ref());
        let mut totals = self.totals.lock();
        let total = totals.entry(name.cloned().unwrap_or_default()).or_default();
        let Ok(ModelReply { reply, recorded, .. }) = model_reply else {
            total.failed += 1;
            return;
        };
        total.calls += 1;
        total.recorded += u64::from(*recorded);
        total.usage = total.usage.and(reply.usage);
        if let Some(price) = model.price {
            total.cost = Some(total.cost.unwrap_or(0.0) + price.of(reply.usage));
        }
    }
}

async fn list(State(proxy): State<Arc<Proxy>>) -> Json<Value> {
    let known = || proxy.model.cassette.as_ref().and_then(|cassette| cassette.only_model());
    let name = proxy.model.name.clone().or_else(known);
    let model = |name: String| json!({ "id": name, "object": "model", "created": 0, "owned_by": "sandbox" });
    Json(json!({ "object": "list", "data": name.map(model).into_iter().collect::<Vec<_>>() }))
}

async fn usage(State(proxy): State<Arc<Proxy>>) -> Json<Value> {
    Json(json!(proxy.totals()))
}

async fn complete(State(proxy): State<Arc<Proxy>>, body: Bytes) -> Response {
    let body = match serde_json::from_slice::<Map<String, Value>>(&body) {
        Ok(body) => body,
        Err(error) => {
            let why = format!("the request cannot be read: {error}");
            return refusal(StatusCode::BAD_REQUEST, "invalid_request_error", &why);
        }
    };
    if body.get("n").is_some_and(|n| n.as_u64() != Some(1)) {
        return refusal(
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "`n`: one choice a request is recorded",
        );
    }
    let streams = body.get("stream") == Some(&Value::Bool(true));
    let counts = body.get("stream_options").is_some_and(|options| options["include_usage"] == true);
    match proxy.ask(body).await {
        Ok(model_reply) if streams => stream(&model_reply, counts),
        Ok(model_reply) => {
            let choice = json!({ "index": 0, "message": message(&model_reply.reply), "finish_reason": finish(&model_reply.reply) });
            let mut answer = head(&model_reply, "chat.completion");
            answer.insert("choices".to_owned(), json!([choice]));
            answer.insert("usage".to_owned(), usage_details(model_reply.reply.usage));
            Json(Value::Object(answer)).into_response()
        }
        Err(error) => failure(&error),
    }
}

/// The beginning of every answer. The time is constant, so that answers repeat.
fn head(model_reply: &ModelReply, object: &str) -> Map<String, Value> {
    let head = json!({ "id": "chatcmpl-recorded", "object": object, "created": 0, "model": model_reply.model });
    head.as_object().cloned().unwrap_or_default()
}

/// The reply as a stream with one chunk of content.
fn stream(model_reply: &ModelReply, counts: bool) -> Response {
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = head(model_reply, "chat.completion.chunk");
        chunk.insert("choices".to_owned(), choices);
        chunk.extend(usage.map(|usage| ("usage".to_owned(), usage)));
        format!("data: {}\n\n", Value::Object(chunk))
    };
    let mut delta = message(&model_reply.reply);
    // In streams, tool calls have an index.
    for (place, call) in
        delta.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
    {
        call["index"] = json!(place);
    }
    let mut text = chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), None);
    text += &chunk(
        json!([{ "index": 0, "delta": {}, "finish_reason": finish(&model_reply.reply) }]),
        None,
    );
    if counts {
        text += &chunk(json!([]), Some(usage_details(model_reply.reply.usage)));
    }
    text += "data: [DONE]\n\n";
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

fn message(reply: &Reply) -> Value {
    if let Some(message) = &reply.message {
        return message.clone();
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), json!(reply.text));
    let apart = [("refusal", &reply.refusal), ("reasoning_content", &reply.reasoning)];
    for (key, text) in apart {
        message.extend(text.as_ref().map(|text| (key.to_owned(), json!(text))));
    }
    Value::Object(message)
}

fn finish(reply: &Reply) -> &str {
    reply.finish.as_deref().unwrap_or("stop")
}

fn usage_details(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": { "cached_tokens": usage.cached_tokens },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
    })
}

fn failure(error: &Error) -> Response {
    let (status, kind) = match error {
        Error::NotRecorded { .. } => (StatusCode::NOT_FOUND, "not_recorded"),
        Error::TooLong { .. } => (StatusCode::BAD_REQUEST, "context_length_exceeded"),
        Error::Refused { status, .. } => {
            let refused = StatusCode::from_u16(*status).ok().filter(|status| !status.is_success());
            (refused.unwrap_or(StatusCode::BAD_REQUEST), "refused")
        }
        Error::Unanswered { .. } | Error::Garbage { .. } => (StatusCode::BAD_GATEWAY, "unanswered"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
    };
    refusal(status, kind, &format!("failed to {error}"))
}

/// An error in OpenAI's format.
fn refusal(status: StatusCode, kind: &str, why: &str) -> Response {
    let error = json!({ "message": why, "type": kind, "code": kind, "param": null });
    (status, Json(json!({ "error": error }))).into_response()
}
