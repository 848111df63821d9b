//! A gym without browsers: it has places, and sessions that echo.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use futures_util::StreamExt as _;
use http::{HeaderMap, StatusCode};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The key of every gym that has joined.
pub(crate) fn key() -> host_check::Key {
    host_check::Key::derived("secret", "gym")
}

pub(crate) struct FakeGym {
    pub(crate) address: SocketAddr,
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) places: usize,
    suite: String,
    /// The number of places that clients besides the balancer use.
    pub(crate) others: AtomicUsize,
    pub(crate) open: Mutex<BTreeSet<String>>,
    /// The most sessions that were open at a time.
    pub(crate) peak: AtomicUsize,
    starts: AtomicUsize,
    /// Number of resets that have killed it.
    pub(crate) deaths: AtomicUsize,
    port: u16,
    /// Ends all connections, as `kill -9` does.
    killed: CancellationToken,
}

impl FakeGym {
    pub(crate) async fn open(places: usize) -> FakeGym {
        FakeGym::at(([127, 0, 0, 1], 0).into(), places, "demo").await
    }

    pub(crate) async fn at(address: SocketAddr, places: usize, suite: &str) -> FakeGym {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            places,
            suite: suite.to_owned(),
            others: AtomicUsize::new(0),
            open: Mutex::default(),
            peak: AtomicUsize::new(0),
            starts: AtomicUsize::new(0),
            deaths: AtomicUsize::new(0),
            port: address.port(),
            killed: CancellationToken::new(),
        });
        let router = Router::new()
            .route("/metrics", get(metrics))
            .route(
                "/tasks",
                get(async |State(gym): State<Arc<Inner>>| Json(json!({ "suite": gym.suite }))),
            )
            .route("/reset", post(reset))
            .route("/step", post(step))
            .route("/close", post(close))
            .route("/stream", get(stream))
            .route("/upload", any(upload))
            // A request that the gym answers by hanging up.
            .route("/hang-up", any(async || -> StatusCode { panic!("as asked") }))
            .with_state(inner.clone());
        // Clients of a real one must know its key; these may.
        let router =
            Router::new().nest(&format!("/{}", key().text()), router.clone()).merge(router);
        let until = inner.killed.clone();
        tokio::spawn(async move {
            loop {
                let stream = tokio::select! {
                    () = until.cancelled() => return,
                    stream = listener.accept() => stream.unwrap().0,
                };
                let service = hyper_util::service::TowerToHyperService::new(router.clone());
                let until = until.clone();
                tokio::spawn(async move {
                    let builder = hyper::server::conn::http1::Builder::new();
                    let connection = builder.serve_connection(TokioIo::new(stream), service);
                    tokio::select! {
                        () = until.cancelled() => {}
                        _ = connection => {}
                    }
                });
            }
        });
        FakeGym { address, inner }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn kill(&self) {
        self.inner.killed.cancel();
    }

    pub(crate) fn count_open(&self) -> usize {
        self.inner.open.lock().len()
    }
}

impl Inner {
    fn open(&self) -> Option<String> {
        let mut open = self.open.lock();
        if open.len() + self.others.load(Ordering::SeqCst) >= self.places {
            return None;
        }
        let id = format!("{}-{}", self.port, self.starts.fetch_add(1, Ordering::SeqCst));
        open.insert(id.clone());
        self.peak.fetch_max(open.len(), Ordering::SeqCst);
        Some(id)
    }
}

async fn metrics(State(gym): State<Arc<Inner>>) -> String {
    let open = gym.open.lock().len();
    let taken = open + gym.others.load(Ordering::SeqCst);
    format!(
        "sandbox_gym_places{{state=\"free\"}} {}\nsandbox_gym_places{{state=\"taken\"}} {taken}\nsandbox_gym_sessions_open {open}\n",
        gym.places - taken
    )
}

fn answer(status: StatusCode, session: &str, state: &str, body: &Value) -> Response {
    let headers = [("sandbox-session", session), ("sandbox-episode", state)];
    (status, headers, Json(body)).into_response()
}

fn unknown() -> Response {
    let body = json!({ "error": "the gym has no such session" });
    (StatusCode::NOT_FOUND, [("sandbox-episode", "ended")], Json(body)).into_response()
}

async fn reset(State(gym): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    if body["task"] == "broken" {
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({ "error": "it is broken" })))
            .into_response();
    }
    if body["task"] == "deadly" {
        gym.deaths.fetch_add(1, Ordering::SeqCst);
        gym.killed.cancel();
        std::future::pending::<()>().await;
    }
    // It does not wait where it is told so, and it always is.
    assert_eq!(headers.get("prefer").unwrap(), "wait=0");
    match gym.open() {
        Some(id) => answer(StatusCode::OK, &id, "open", &json!({ "session": id })),
        None => (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "error": "full" }))).into_response(),
    }
}

async fn step(State(gym): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Response {
    assert!(
        headers.get("origin").is_none() && headers["host"] == *format!("127.0.0.1:{}", gym.port)
    );
    let body: Value = serde_json::from_slice(&body).unwrap();
    let id = body["session"].as_str().unwrap();
    if body["action"].is_null() {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "missing field `action`" })))
            .into_response();
    }
    if !gym.open.lock().contains(id) {
        return unknown();
    }
    if body["action"] == "hang" {
        std::future::pending::<()>().await;
    }
    if body["action"] == "end" {
        gym.open.lock().remove(id);
        return answer(StatusCode::OK, id, "ended", &json!({ "reward": 1.0 }));
    }
    answer(StatusCode::OK, id, "open", &json!({ "reward": 0.0, "port": gym.port }))
}

async fn close(State(gym): State<Arc<Inner>>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let id = body["session"].as_str().unwrap();
    if gym.open.lock().remove(id) {
        answer(StatusCode::OK, id, "ended", &json!({}))
    } else {
        unknown()
    }
}

/// Reads the body of a request of any method.
async fn upload(_: Bytes) -> StatusCode {
    StatusCode::OK
}

/// A body that never ends.
async fn stream() -> Response {
    let first =
        futures_util::stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"first")) });
    Body::from_stream(first.chain(futures_util::stream::pending())).into_response()
}
