//! A balancer to ask, and a client.

use std::time::{Duration, Instant};

use axum::body::Body;
use camino::Utf8PathBuf;
use gym::balancer::{BalancerAddress, Error, Settings, Totals};
use http::{Method, Request};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::balancer::fake_gym::FakeGym;

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const SHORT: Duration = Duration::from_millis(300);

pub(crate) struct Balancer {
    _folder: tempfile::TempDir,
    pub(crate) address: BalancerAddress,
    pub(crate) key: String,
    pub(crate) client: Client<HttpConnector, Body>,
    pub(crate) interrupt: CancellationToken,
    pub(crate) serving: JoinHandle<Result<Totals, Error>>,
}

impl Balancer {
    pub(crate) async fn open(gyms: &[&FakeGym]) -> Balancer {
        let urls: Vec<String> = gyms.iter().map(|gym| gym.url()).collect();
        Balancer::over(&urls, PATIENCE).await.unwrap()
    }

    pub(crate) async fn over(gyms: &[String], place_within: Duration) -> Result<Balancer, Error> {
        let folder = tempfile::tempdir().unwrap();
        let key = Utf8PathBuf::from_path_buf(folder.path().join("balancer.key")).unwrap();
        let settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            place_within,
            drain_within: PATIENCE,
            key: key.clone(),
        };
        let gyms: Vec<_> = gyms.iter().map(|url| url.parse().unwrap()).collect();
        let interrupt = CancellationToken::new();
        let until = interrupt.clone();
        let (say, said) = oneshot::channel();
        let serving = tokio::spawn(async move {
            gym::balancer::serve(settings, &gyms, until, |listening| {
                say.send(listening.clone()).unwrap()
            })
            .await
        });
        let Ok(address) = said.await else { return Err(serving.await.unwrap().unwrap_err()) };
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        let key = std::fs::read_to_string(&key).unwrap().trim().to_owned();
        Ok(Balancer { _folder: folder, address, key, client, interrupt, serving })
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, String) {
        let mut request =
            Request::builder().method(method).uri(format!("{}{path}", self.address.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
        let answer = self.client.request(request.body(body).unwrap());
        let answer = tokio::time::timeout(PATIENCE, answer).await.unwrap().unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let (status, body) =
            self.send(Method::POST, path, &[("content-type", "application/json")], &body).await;
        (status, serde_json::from_str(&body).unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        self.send(Method::GET, path, &[], &Value::Null).await
    }

    pub(crate) async fn administer(&self, method: Method, key: &str, url: &str) -> (u16, String) {
        let key = format!("Bearer {key}");
        self.send(method, "/servers", &[("authorization", &key)], &json!({ "url": url })).await
    }

    pub(crate) async fn reset(&self) -> String {
        let (status, begun) = self.post("/reset", json!({ "task": "t" })).await;
        assert_eq!(status, 200, "{begun}");
        begun["session"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn step(&self, session: &str, action: &str) -> (u16, Value) {
        self.post("/step", json!({ "session": session, "action": action })).await
    }

    /// Waits until the measurements have this line.
    pub(crate) async fn measures(&self, line: &str) {
        let since = Instant::now();
        loop {
            let (_, text) = self.get("/metrics").await;
            if text.lines().any(|own| own == line) {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{line}: {text}");
        }
    }

    pub(crate) async fn end(self) -> Totals {
        self.interrupt.cancel();
        tokio::time::timeout(PATIENCE, self.serving).await.unwrap().unwrap().unwrap()
    }
}
