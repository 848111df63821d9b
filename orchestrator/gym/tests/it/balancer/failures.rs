//! Gyms that die, clients that break off, and the end.

use std::sync::atomic::Ordering;

use axum::body::Body;
use gym::balancer::Totals;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::balancer::fake_gym::FakeGym;
use crate::balancer::harness::{Balancer, PATIENCE};

#[tokio::test(flavor = "multi_thread")]
async fn a_gym_that_dies_costs_its_own_sessions_and_is_used_again_when_it_is_back() {
    let (dies, lives) = (FakeGym::open(2).await, FakeGym::open(2).await);
    let balancer = Balancer::open(&[&dies, &lives]).await;
    let mut sessions = [balancer.reset().await, balancer.reset().await, balancer.reset().await];
    let port = dies.address.port().to_string();
    sessions.sort_by_key(|session| !session.starts_with(&port));
    let hangs = balancer.step(&sessions[0], "hang");
    let kill = async {
        balancer.step(&sessions[2], "noop").await;
        dies.kill();
    };
    let ((status, lost), ()) = tokio::join!(hangs, kill);
    let error = lost["error"].as_str().unwrap();
    assert!(
        status == 502 && error.contains(&sessions[0]) && error.contains(&dies.url()),
        "{status} {error}"
    );
    // Told once; then it is known to have ended, as clients that clear up expect.
    let (status, lost) = balancer.post("/close", json!({ "session": sessions[0] })).await;
    assert!(
        status == 410 && lost["error"].as_str().unwrap().contains(&dies.url()),
        "{status} {lost}"
    );
    assert_eq!(balancer.step(&sessions[2], "noop").await.0, 200);
    let others = [balancer.reset().await, sessions[2].clone()];
    assert!(!others[0].starts_with(&port));
    balancer.measures(&format!("sandbox_front_server_up{{server=\"{}\"}} 0", dies.url())).await;
    for session in others.iter().take(1).chain(&sessions[2..]) {
        assert_eq!(balancer.step(session, "end").await.0, 200);
    }

    let back = FakeGym::at(dies.address, 5, "demo").await;
    balancer.measures("sandbox_front_places{state=\"free\"} 7").await;
    let sessions = futures_util::future::join_all((0..7).map(|_| balancer.reset())).await;
    assert_eq!((back.count_open(), lives.count_open()), (5, 2));
    for session in sessions {
        balancer.step(&session, "end").await;
    }
    assert!(balancer.end().await.lost >= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_passed_on_as_they_come() {
    let gym = FakeGym::open(1).await;
    let balancer = Balancer::open(&[&gym]).await;
    let uri = format!("{}/stream", balancer.address.url);
    let answer =
        balancer.client.request(Request::get(uri).body(Body::empty()).unwrap()).await.unwrap();
    let mut body = answer.into_body();
    let first = tokio::time::timeout(PATIENCE, body.frame()).await.unwrap();
    assert_eq!(first.unwrap().unwrap().into_data().unwrap(), "first");
    // A gym that is gone sends no more, whatever becomes of its connection.
    let ended = json!({ "url": gym.url(), "ended": true });
    let key = format!("Bearer {}", balancer.key);
    assert_eq!(
        balancer.send(Method::DELETE, "/servers", &[("authorization", &key)], &ended).await.0,
        200
    );
    assert!(tokio::time::timeout(PATIENCE, body.frame()).await.unwrap().unwrap().is_err());
    balancer.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_lets_sessions_end_and_begins_no_others() {
    let gym = FakeGym::open(2).await;
    let balancer = Balancer::open(&[&gym]).await;
    let session = balancer.reset().await;
    balancer.interrupt.cancel();
    let (status, refused) = balancer.post("/reset", json!({ "task": "t" })).await;
    assert!(status == 503 && refused["error"].to_string().contains("closing"), "{refused}");
    assert_eq!(balancer.step(&session, "noop").await.0, 200);
    assert!(!balancer.serving.is_finished());
    assert_eq!(balancer.step(&session, "end").await.0, 200);
    assert_eq!(balancer.end().await, Totals { sessions: 1, lost: 0, unfinished: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn web_pages_and_too_large_requests_are_refused() {
    let gym = FakeGym::open(1).await;
    let balancer = Balancer::open(&[&gym]).await;
    for header in
        [("origin", "https://evil.test"), ("sec-fetch-site", "cross-site"), ("host", "evil.test")]
    {
        for path in ["/metrics", "/servers", "/tasks", "/reset"] {
            let (status, _) = balancer.send(Method::GET, path, &[header], &Value::Null).await;
            assert_eq!(status, 403, "{path} {header:?}");
        }
    }
    let (status, _) = balancer.post("/step", json!({ "session": "x".repeat(2 << 20) })).await;
    assert_eq!(status, 413);
    balancer.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_that_of_the_gym_that_names_it() {
    let (first, second) = (FakeGym::open(1).await, FakeGym::open(1).await);
    let before = Balancer::open(&[&second]).await;
    let session = before.reset().await;
    let balancer = Balancer::open(&[&first, &second]).await;
    // The first gym cannot read it, and says so; it does not have the session for that.
    let (status, refused) = balancer.post("/step", json!({ "session": session })).await;
    assert!(
        status == 400 && refused["error"].as_str().unwrap().contains("missing field"),
        "{refused}"
    );
    assert_eq!(balancer.step(&session, "noop").await.1["port"], second.address.port());
    // No gym has such an id, so any is asked, and the balancer does not remember it.
    let (status, refused) = balancer.step(&"x".repeat(129), "noop").await;
    assert_eq!((status, &refused["error"]), (404, &json!("the gym has no such session")));
    // Gyms that have joined may register later with a balancer that is new.
    let (status, refused) = balancer.step("nobody's", "noop").await;
    assert!(status == 503 && refused["error"].as_str().unwrap().contains("ask again"), "{refused}");
    balancer.step(&session, "end").await;
    balancer.end().await;
    before.interrupt.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gym_that_was_killed_and_is_back_has_lost_its_sessions() {
    let gym = FakeGym::open(1).await;
    let balancer = Balancer::open(&[&gym]).await;
    let session = balancer.reset().await;
    gym.kill();
    balancer.measures("sandbox_front_servers{state=\"up\"} 0").await;
    let back = FakeGym::at(gym.address, 2, "demo").await;
    balancer.measures("sandbox_front_places{state=\"free\"} 2").await;
    for _ in 0..2 {
        let (status, lost) = balancer.step(&session, "noop").await;
        assert!(status == 410 && lost["error"].as_str().unwrap().contains(&back.url()), "{lost}");
    }
    assert_eq!(balancer.end().await.lost, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_that_kills_gyms_kills_two_at_most() {
    let gyms = [FakeGym::open(1).await, FakeGym::open(1).await, FakeGym::open(1).await];
    let balancer = Balancer::open(&gyms.each_ref()).await;
    let (status, refused) = balancer.post("/reset", json!({ "task": "deadly" })).await;
    assert!(
        status == 502 && refused["error"].as_str().unwrap().contains("does not answer"),
        "{refused}"
    );
    let deaths: usize = gyms.iter().map(|gym| gym.inner.deaths.load(Ordering::SeqCst)).sum();
    assert_eq!(deaths, 2);
    // Those cannot be reached, so that another reset comes to the third.
    let session = balancer.reset().await;
    balancer.step(&session, "end").await;
    balancer.end().await;
}

/// The status of the answer to these bytes, in which HOST is the balancer's address and KEY its
/// key.
async fn raw(balancer: &Balancer, request: &str) -> String {
    let url = balancer.address.url.trim_start_matches("http://");
    let (address, key) = url.split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = request.replace("HOST", address).replace("KEY", key);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut status)).await.unwrap().unwrap();
    String::from_utf8(status.to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_not_the_gyms_fault() {
    let gym = FakeGym::open(1).await;
    let balancer = Balancer::open(&[&gym]).await;
    let bearer = "authorization: Bearer KEY\r\n";
    for line in ["OPTIONS *", "CONNECT HOST"] {
        assert_eq!(
            raw(&balancer, &format!("{line} HTTP/1.1\r\nhost: HOST\r\n\r\n")).await,
            "HTTP/1.1 401"
        );
        let with_key = format!("{line} HTTP/1.1\r\nhost: HOST\r\n{bearer}\r\n");
        assert_eq!(raw(&balancer, &with_key).await, "HTTP/1.1 400");
    }
    let head = "PUT /KEY/upload HTTP/1.1\r\nhost: HOST\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_eq!(raw(&balancer, &format!("{head}1\r\nx\r\n0\r\n\r\n")).await, "HTTP/1.1 200");
    assert_eq!(raw(&balancer, &format!("{head}1\r\nx\r\nno length\r\n")).await, "HTTP/1.1 400");
    balancer.measures("sandbox_front_errors_total{kind=\"unanswered\"} 0").await;
    // Requests at which the gym hangs up are answered, and cost no other client anything.
    for _ in 0..5 {
        let (status, refused) = balancer.get("/hang-up").await;
        assert_eq!(status, 502, "{refused}");
        let (status, answer) = balancer.get("/tasks").await;
        assert_eq!(status, 200, "{answer}");
    }
    balancer.measures("sandbox_front_servers{state=\"up\"} 1").await;
    // A preference of the client's connection is not that of the balancer's.
    let headers =
        [("connection", "prefer"), ("prefer", "wait=0"), ("content-type", "application/json")];
    let session = json!({ "task": "t" });
    let (status, begun) = balancer.send(Method::POST, "/reset", &headers, &session).await;
    assert_eq!(status, 200, "{begun}");
    let (status, full) = balancer.send(Method::POST, "/reset", &headers, &session).await;
    assert!(status == 503 && full.contains("within 0 s"), "{full}");
    balancer.interrupt.cancel();
}
