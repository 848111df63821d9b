//! A front over gyms without browsers.

#![allow(clippy::unwrap_used)]

mod gym;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::body::Body;
use camino::Utf8PathBuf;
use front::{Error, FrontAddress, Membership, Settings, Totals};
use futures_util::{SinkExt as _, StreamExt as _};
use gym::FakeGym;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(300);

struct Front {
    _folder: tempfile::TempDir,
    address: FrontAddress,
    key: String,
    client: Client<HttpConnector, Body>,
    interrupt: CancellationToken,
    serving: JoinHandle<Result<Totals, Error>>,
}

impl Front {
    async fn open(gyms: &[&FakeGym]) -> Front {
        let urls: Vec<String> = gyms.iter().map(|gym| gym.url()).collect();
        Front::over(&urls, PATIENCE).await.unwrap()
    }

    async fn over(gyms: &[String], place_within: Duration) -> Result<Front, Error> {
        let folder = tempfile::tempdir().unwrap();
        let key = Utf8PathBuf::from_path_buf(folder.path().join("front.key")).unwrap();
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
            front::serve(settings, &gyms, until, |listening| say.send(listening.clone()).unwrap()).await
        });
        let Ok(address) = said.await else { return Err(serving.await.unwrap().unwrap_err()) };
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        let key = front::read_key(&key).unwrap();
        Ok(Front { _folder: folder, address, key, client, interrupt, serving })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.address.url));
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

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let (status, body) =
            self.send(Method::POST, path, &[("content-type", "application/json")], &body).await;
        (status, serde_json::from_str(&body).unwrap())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        self.send(Method::GET, path, &[], &Value::Null).await
    }

    async fn administer(&self, method: Method, key: &str, url: &str) -> (u16, String) {
        let key = format!("Bearer {key}");
        self.send(method, "/servers", &[("authorization", &key)], &json!({ "url": url })).await
    }

    async fn reset(&self) -> String {
        let (status, begun) = self.post("/reset", json!({ "task": "t" })).await;
        assert_eq!(status, 200, "{begun}");
        begun["session"].as_str().unwrap().to_owned()
    }

    async fn step(&self, session: &str, action: &str) -> (u16, Value) {
        self.post("/step", json!({ "session": session, "action": action })).await
    }

    /// Waits until the measurements have this line.
    async fn measures(&self, line: &str) {
        let since = Instant::now();
        loop {
            let (_, text) = self.get("/metrics").await;
            if text.lines().any(|own| own == line) {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{line}: {text}");
        }
    }

    async fn end(self) -> Totals {
        self.interrupt.cancel();
        tokio::time::timeout(PATIENCE, self.serving).await.unwrap().unwrap().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_spread_by_load_and_stay_where_they_are() {
    let (small, large) = (FakeGym::open(2).await, FakeGym::open(6).await);
    let front = Front::open(&[&small, &large]).await;
    assert_eq!((front.address.servers, front.address.places), (2, 8));
    let sessions: Vec<String> = futures_util::future::join_all((0..8).map(|_| front.reset())).await;
    assert_eq!((small.count_open(), large.count_open()), (2, 6));
    for session in &sessions {
        for _ in 0..3 {
            let (status, done) = front.step(session, "noop").await;
            assert!(status == 200 && session.starts_with(&done["port"].to_string()), "{session}: {done}");
        }
    }
    // The ninth waits until a place is free, which it is at once when an episode ends.
    let (ninth, ended) = tokio::join!(front.reset(), front.step(&sessions[3], "end"));
    assert_eq!(ended.1["reward"], 1.0);
    assert_eq!(ninth.split('-').next(), sessions[3].split('-').next());
    assert_eq!(front.post("/close", json!({ "session": ninth })).await.0, 200);
    // What has ended is asked for in its own gym, and no place is freed twice.
    assert_eq!(front.post("/close", json!({ "session": sessions[3] })).await.0, 404);
    for session in sessions.iter().filter(|session| **session != sessions[3]) {
        assert_eq!(front.post("/close", json!({ "session": session })).await.0, 200);
    }
    assert_eq!((small.count_open(), large.count_open()), (0, 0));
    front.measures("sandbox_front_places{state=\"free\"} 8").await;
    let expected = Totals { sessions: 9, lost: 0, unfinished: 0 };
    assert_eq!(front.end().await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_larger_than_all_places_is_served_in_turn() {
    let gyms = [FakeGym::open(1).await, FakeGym::open(2).await];
    let front = Front::open(&[&gyms[0], &gyms[1]]).await;
    let play = async || {
        let session = front.reset().await;
        assert_eq!(front.step(&session, "noop").await.0, 200);
        assert_eq!(front.step(&session, "end").await.0, 200);
    };
    futures_util::future::join_all((0..60).map(|_| play())).await;
    assert_eq!(gyms.each_ref().map(|gym| gym.inner.peak.load(Ordering::SeqCst)), [1, 2]);
    assert_eq!(front.end().await.sessions, 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gym_that_dies_costs_its_own_sessions_and_is_used_again_when_it_is_back() {
    let (dies, lives) = (FakeGym::open(2).await, FakeGym::open(2).await);
    let front = Front::open(&[&dies, &lives]).await;
    let mut sessions = [front.reset().await, front.reset().await, front.reset().await];
    let port = dies.address.port().to_string();
    sessions.sort_by_key(|session| !session.starts_with(&port));
    let hangs = front.step(&sessions[0], "hang");
    let kill = async {
        front.step(&sessions[2], "noop").await;
        dies.kill();
    };
    let ((status, lost), ()) = tokio::join!(hangs, kill);
    let error = lost["error"].as_str().unwrap();
    assert!(status == 502 && error.contains(&sessions[0]) && error.contains(&dies.url()), "{status} {error}");
    // Told once; then it is known to have ended, as clients that clear up expect.
    let (status, lost) = front.post("/close", json!({ "session": sessions[0] })).await;
    assert!(status == 410 && lost["error"].as_str().unwrap().contains(&dies.url()), "{status} {lost}");
    assert_eq!(front.step(&sessions[2], "noop").await.0, 200);
    let others = [front.reset().await, sessions[2].clone()];
    assert!(!others[0].starts_with(&port));
    front.measures(&format!("sandbox_front_server_up{{server=\"{}\"}} 0", dies.url())).await;
    for session in others.iter().take(1).chain(&sessions[2..]) {
        assert_eq!(front.step(session, "end").await.0, 200);
    }

    let back = FakeGym::at(dies.address, 5, "demo").await;
    front.measures("sandbox_front_places{state=\"free\"} 7").await;
    let sessions = futures_util::future::join_all((0..7).map(|_| front.reset())).await;
    assert_eq!((back.count_open(), lives.count_open()), (5, 2));
    for session in sessions {
        front.step(&session, "end").await;
    }
    assert!(front.end().await.lost >= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_front_answers_as_a_full_gym() {
    let gym = FakeGym::open(1).await;
    let front = Front::over(&[gym.url()], SHORT).await.unwrap();
    let session = front.reset().await;
    let (status, full) = front.post("/reset", json!({ "task": "t" })).await;
    let error = full["error"].as_str().unwrap();
    assert!(
        status == 503 && error.starts_with("no slot became free within 0.3 s; close sessions"),
        "{error}"
    );
    assert!(full["info"]["result"].is_null());
    let patient = [("prefer", "wait=0"), ("content-type", "application/json")];
    let (status, full) = front.send(Method::POST, "/reset", &patient, &json!({ "task": "t" })).await;
    assert!(status == 503 && full.contains("within 0 s"), "{full}");
    front.step(&session, "end").await;
    // Who uses a gym beside the front takes its places as well.
    gym.inner.others.store(1, Ordering::SeqCst);
    assert_eq!(front.post("/reset", json!({ "task": "t" })).await.0, 503);
    // An episode that does not begin gives its place back.
    gym.inner.others.store(0, Ordering::SeqCst);
    front.measures("sandbox_front_places{state=\"free\"} 1").await;
    for _ in 0..3 {
        let (status, broken) = front.post("/reset", json!({ "task": "broken" })).await;
        assert_eq!((status, &broken["error"]), (500, &json!("it is broken")));
    }
    let session = front.reset().await;
    front.step(&session, "end").await;
    front.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_socket_is_a_session_of_its_own() {
    let (one, other) = (FakeGym::open(1).await, FakeGym::open(1).await);
    let front = Front::open(&[&one, &other]).await;
    let url = front.address.url.replace("http", "ws") + "/ws";
    let connect = async || {
        let (mut socket, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
        let port: u16 = socket.next().await.unwrap().unwrap().to_text().unwrap().parse().unwrap();
        (socket, port)
    };
    let ((mut first, port), (mut second, _)) = (connect().await, connect().await);
    assert_eq!((one.count_open(), other.count_open()), (1, 1));
    let large = "x".repeat(3 << 20);
    for socket in [&mut first, &mut second] {
        socket.send(large.clone().into()).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap().to_text().unwrap(), large);
    }
    let (third, ()) = tokio::join!(connect(), async { first.close(None).await.unwrap() });
    assert_eq!(third.1, port, "the place of the first is free again");
    let dies = if port == one.address.port() { &one } else { &other };
    dies.kill();
    let mut third = third.0;
    let last = tokio::time::timeout(PATIENCE, third.next()).await.unwrap().unwrap().unwrap();
    let Message::Close(Some(told)) = last else { panic!("{last}") };
    assert!(u16::from(told.code) == 1011 && told.reason.contains(&dies.url()), "{told}");
    second.send("still there".into()).await.unwrap();
    assert_eq!(second.next().await.unwrap().unwrap().to_text().unwrap(), "still there");
    second.close(None).await.unwrap();
    front.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_passed_on_as_they_come() {
    let gym = FakeGym::open(1).await;
    let front = Front::open(&[&gym]).await;
    let uri = format!("{}/stream", front.address.url);
    let answer = front.client.request(Request::get(uri).body(Body::empty()).unwrap()).await.unwrap();
    let first = tokio::time::timeout(PATIENCE, answer.into_body().frame()).await.unwrap();
    assert_eq!(first.unwrap().unwrap().into_data().unwrap(), "first");
    front.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gyms_come_and_leave_for_who_has_the_key() {
    let front = Front::over(&[], SHORT).await.unwrap();
    let (status, none) = front.post("/reset", json!({ "task": "t" })).await;
    assert!(
        status == 503 && none["error"].to_string().contains("no gym answers (none is registered)"),
        "{none}"
    );
    assert_eq!(front.get("/tasks").await.0, 503);
    let (one, other) = (FakeGym::open(1).await, FakeGym::open(1).await);
    for (method, key) in [(Method::POST, "wrong"), (Method::DELETE, ""), (Method::GET, "wrong")] {
        let (status, refused) = front.administer(method, key, &one.url()).await;
        assert!(status == 401 && refused.contains("Bearer KEY"), "{status} {refused}");
    }
    let register = async |url: &str| front.administer(Method::POST, &front.key, url).await;
    assert_eq!(register(&one.url()).await.0, 200);
    assert_eq!(register(&one.url()).await.0, 200, "once more changes nothing");
    assert_eq!(front.get("/tasks").await, (200, json!({ "suite": "demo" }).to_string()));
    let elsewhere = FakeGym::at(([127, 0, 0, 1], 0).into(), 1, "another").await;
    let gone = FakeGym::open(1).await;
    gone.kill();
    let no_gym = format!("{}/x", one.url());
    for (url, expected, why) in [
        (elsewhere.url(), 422, "its tasks are not those of"),
        (gone.url(), 422, "cannot be used"),
        (front.address.url.clone(), 422, "it is no gym"),
        (no_gym, 400, "more in it than host and port"),
        ("nonsense".to_owned(), 400, "is no URL"),
    ] {
        let (status, refused) = register(&url).await;
        assert!(status == expected && refused.contains(why), "{url}: {status} {refused}");
    }
    let session = front.reset().await;
    assert_eq!(register(&other.url()).await.0, 200);
    let (status, left) = front.administer(Method::DELETE, &front.key, &one.url()).await;
    assert!(status == 200 && left.contains("\"open_sessions\":1"), "{left}");
    // Its session goes on; new ones go elsewhere.
    let second = front.reset().await;
    assert!(second.starts_with(&other.address.port().to_string()));
    assert_eq!(front.post("/reset", json!({ "task": "t" })).await.0, 503);
    assert_eq!(front.step(&session, "end").await.0, 200);
    front.measures("sandbox_front_servers{state=\"up\"} 1").await;
    assert_eq!(front.administer(Method::DELETE, &front.key, &one.url()).await.0, 404);
    front.step(&second, "end").await;
    front.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gym_joins_and_leaves_by_itself_and_a_new_front_finds_its_sessions() {
    let gym = FakeGym::open(2).await;
    let front = Front::over(&[], PATIENCE).await.unwrap();
    let interrupt = CancellationToken::new();
    let member = |front: &Front, key: &str| Membership {
        front: front.address.url.parse().unwrap(),
        key: key.to_owned(),
        listens: gym.address,
    };
    let refused = front::stay(&member(&front, "wrong"), &interrupt).await.unwrap_err();
    assert!(refused.to_string().contains("name the file of its key with --join-key"), "{refused}");
    let (membership, until) = (member(&front, &front.key), interrupt.clone());
    let staying = tokio::spawn(async move { front::stay(&membership, &until).await });
    let session = front.reset().await;
    let anew = Front::open(&[&gym]).await;
    assert_eq!(anew.step(&session, "noop").await.0, 200, "the gym knows the session");
    assert_eq!(anew.step("nobody's", "noop").await.0, 404);
    assert_eq!(anew.step(&session, "end").await.0, 200);
    interrupt.cancel();
    staying.await.unwrap().unwrap();
    front.measures("sandbox_front_servers{state=\"up\"} 0").await;
    front.end().await;
    anew.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_gym_is_refused_at_the_start_and_what_is_not_there_yet_is_waited_for() {
    let gym = FakeGym::open(1).await;
    let other = FakeGym::at(([127, 0, 0, 1], 0).into(), 1, "another").await;
    let front = Front::open(&[&gym]).await;
    for (urls, why) in [
        (vec![front.address.url.clone()], "it is no gym: GET /metrics has status 200"),
        (vec![gym.url(), other.url()], "a front serves one suite"),
        (vec!["https://127.0.0.1:1".to_owned()], "it is not of plain HTTP"),
    ] {
        let error = Front::over(&urls, PATIENCE).await.err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
    }
    front.end().await;
    let later = FakeGym::open(1).await;
    later.kill();
    let front = Front::over(&[later.url()], PATIENCE).await.unwrap();
    assert_eq!(front.address.servers, 0);
    let comes = async { FakeGym::at(later.address, 1, "demo").await };
    let (session, gym) = tokio::join!(front.reset(), comes);
    assert_eq!(gym.count_open(), 1);
    front.step(&session, "end").await;
    front.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_lets_sessions_end_and_begins_no_others() {
    let gym = FakeGym::open(2).await;
    let front = Front::open(&[&gym]).await;
    let session = front.reset().await;
    front.interrupt.cancel();
    let (status, refused) = front.post("/reset", json!({ "task": "t" })).await;
    assert!(status == 503 && refused["error"].to_string().contains("closing"), "{refused}");
    assert_eq!(front.step(&session, "noop").await.0, 200);
    assert!(!front.serving.is_finished());
    assert_eq!(front.step(&session, "end").await.0, 200);
    assert_eq!(front.end().await, Totals { sessions: 1, lost: 0, unfinished: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages_and_too_large_requests_are_refused() {
    let gym = FakeGym::open(1).await;
    let front = Front::open(&[&gym]).await;
    for header in [("origin", "https://evil.test"), ("sec-fetch-site", "cross-site"), ("host", "evil.test")] {
        for path in ["/metrics", "/servers", "/tasks", "/reset"] {
            let (status, _) = front.send(Method::GET, path, &[header], &Value::Null).await;
            assert_eq!(status, 403, "{path} {header:?}");
        }
    }
    let (status, _) = front.post("/step", json!({ "session": "x".repeat(2 << 20) })).await;
    assert_eq!(status, 413);
    front.end().await;
}
