//! A balancer over gyms without browsers.

#![allow(clippy::unwrap_used)]

mod failures;
mod fake_gym;
mod harness;

use std::sync::atomic::Ordering;

use camino::Utf8Path;
use fake_gym::FakeGym;
use gym::balancer::{Membership, Totals};
use harness::{Balancer, PATIENCE, SHORT};
use http::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_spread_by_load_and_stay_where_they_are() {
    let (small, large) = (FakeGym::open(2).await, FakeGym::open(6).await);
    let balancer = Balancer::open(&[&small, &large]).await;
    assert_eq!((balancer.address.servers, balancer.address.places), (2, 8));
    let sessions: Vec<String> =
        futures_util::future::join_all((0..8).map(|_| balancer.reset())).await;
    assert_eq!((small.count_open(), large.count_open()), (2, 6));
    for session in &sessions {
        for _ in 0..3 {
            let (status, done) = balancer.step(session, "noop").await;
            assert!(
                status == 200 && session.starts_with(&done["port"].to_string()),
                "{session}: {done}"
            );
        }
    }
    // The ninth waits until a place is free, which it is at once when an episode ends.
    let (ninth, ended) = tokio::join!(balancer.reset(), balancer.step(&sessions[3], "end"));
    assert_eq!(ended.1["reward"], 1.0);
    assert_eq!(ninth.split('-').next(), sessions[3].split('-').next());
    assert_eq!(balancer.post("/close", json!({ "session": ninth })).await.0, 200);
    // What has ended is asked for in its own gym, and no place is freed twice.
    assert_eq!(balancer.post("/close", json!({ "session": sessions[3] })).await.0, 404);
    for session in sessions.iter().filter(|session| **session != sessions[3]) {
        assert_eq!(balancer.post("/close", json!({ "session": session })).await.0, 200);
    }
    assert_eq!((small.count_open(), large.count_open()), (0, 0));
    balancer.measures("sandbox_front_places{state=\"free\"} 8").await;
    let expected = Totals { sessions: 9, lost: 0, unfinished: 0 };
    assert_eq!(balancer.end().await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_larger_than_all_places_is_served_in_turn() {
    let gyms = [FakeGym::open(1).await, FakeGym::open(2).await];
    let balancer = Balancer::open(&[&gyms[0], &gyms[1]]).await;
    let play = async || {
        let session = balancer.reset().await;
        assert_eq!(balancer.step(&session, "noop").await.0, 200);
        assert_eq!(balancer.step(&session, "end").await.0, 200);
    };
    futures_util::future::join_all((0..60).map(|_| play())).await;
    assert_eq!(gyms.each_ref().map(|gym| gym.inner.peak.load(Ordering::SeqCst)), [1, 2]);
    assert_eq!(balancer.end().await.sessions, 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_balancer_answers_as_a_full_gym() {
    let gym = FakeGym::open(1).await;
    let balancer = Balancer::over(&[gym.url()], SHORT).await.unwrap();
    let session = balancer.reset().await;
    let (status, full) = balancer.post("/reset", json!({ "task": "t" })).await;
    let error = full["error"].as_str().unwrap();
    assert!(
        status == 503 && error.starts_with("no slot became free within 0.3 s; close sessions"),
        "{error}"
    );
    assert!(full["info"]["result"].is_null());
    let patient = [("prefer", "wait=0"), ("content-type", "application/json")];
    let (status, full) =
        balancer.send(Method::POST, "/reset", &patient, &json!({ "task": "t" })).await;
    assert!(status == 503 && full.contains("within 0 s"), "{full}");
    balancer.step(&session, "end").await;
    // Who uses a gym beside the balancer takes its places as well.
    gym.inner.others.store(1, Ordering::SeqCst);
    assert_eq!(balancer.post("/reset", json!({ "task": "t" })).await.0, 503);
    // An episode that does not begin gives its place back.
    gym.inner.others.store(0, Ordering::SeqCst);
    balancer.measures("sandbox_front_places{state=\"free\"} 1").await;
    for _ in 0..3 {
        let (status, broken) = balancer.post("/reset", json!({ "task": "broken" })).await;
        assert_eq!((status, &broken["error"]), (500, &json!("it is broken")));
    }
    let session = balancer.reset().await;
    balancer.step(&session, "end").await;
    balancer.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gyms_come_and_leave_for_who_has_the_key() {
    let balancer = Balancer::over(&[], SHORT).await.unwrap();
    let (status, none) = balancer.post("/reset", json!({ "task": "t" })).await;
    assert!(
        status == 503 && none["error"].to_string().contains("no gym answers (none is registered)"),
        "{none}"
    );
    assert_eq!(balancer.get("/tasks").await.0, 503);
    let (one, other) = (FakeGym::open(1).await, FakeGym::open(1).await);
    for (method, key) in [(Method::POST, "wrong"), (Method::DELETE, ""), (Method::GET, "wrong")] {
        let (status, refused) = balancer.administer(method, key, &one.url()).await;
        assert!(status == 401 && refused.contains("Bearer KEY"), "{status} {refused}");
    }
    let register = async |url: &str| balancer.administer(Method::POST, &balancer.key, url).await;
    assert_eq!(register(&one.url()).await.0, 200);
    assert_eq!(register(&one.url()).await.0, 200, "once more changes nothing");
    assert_eq!(balancer.get("/tasks").await, (200, json!({ "suite": "demo" }).to_string()));
    let elsewhere = FakeGym::at(([127, 0, 0, 1], 0).into(), 1, "another").await;
    let gone = FakeGym::open(1).await;
    gone.kill();
    let no_gym = format!("{}/x/y", one.url());
    for (url, expected, why) in [
        (elsewhere.url(), 422, "its tasks are not those of"),
        (gone.url(), 503, "cannot be used"),
        (balancer.address.url.clone(), 422, "it is no gym"),
        (no_gym, 400, "more in it than host, port and key"),
        ("nonsense".to_owned(), 400, "is no URL"),
    ] {
        let (status, refused) = register(&url).await;
        assert!(status == expected && refused.contains(why), "{url}: {status} {refused}");
    }
    let session = balancer.reset().await;
    assert_eq!(register(&other.url()).await.0, 200);
    let (status, left) = balancer.administer(Method::DELETE, &balancer.key, &one.url()).await;
    assert!(status == 200 && left.contains("\"open_sessions\":1"), "{left}");
    // Its session goes on; new ones go elsewhere.
    let second = balancer.reset().await;
    assert!(second.starts_with(&other.address.port().to_string()));
    assert_eq!(balancer.post("/reset", json!({ "task": "t" })).await.0, 503);
    let again = async |url: &str| {
        let key = format!("Bearer {}", balancer.key);
        let body = json!({ "url": url, "again": true });
        balancer.send(Method::POST, "/servers", &[("authorization", &key)], &body).await.1
    };
    assert!(again(&one.url()).await.contains("\"leaving\":true"), "it stays off");
    assert!(again(&other.url()).await.contains("\"leaving\":false"));
    assert_eq!(balancer.step(&session, "end").await.0, 200);
    balancer.measures("sandbox_front_servers{state=\"up\"} 1").await;
    assert_eq!(balancer.administer(Method::DELETE, &balancer.key, &one.url()).await.0, 404);
    balancer.step(&second, "end").await;
    balancer.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gym_joins_and_leaves_by_itself_and_a_new_balancer_finds_its_sessions() {
    let gym = FakeGym::open(2).await;
    let balancer = Balancer::over(&[], PATIENCE).await.unwrap();
    let interrupt = CancellationToken::new();
    let url = balancer.address.url.parse().unwrap();
    let wrong = balancer.address.key.with_extension("wrong");
    let member = |key: &Utf8Path| {
        Membership::new(&url, key.to_owned(), crate::balancer::fake_gym::key()).unwrap()
    };
    std::fs::copy(&balancer.address.key, &wrong).unwrap();
    std::fs::write(&wrong, "wrong").unwrap();
    let refused = gym::balancer::stay(&member(&wrong), gym.address, &interrupt).await.unwrap_err();
    assert!(refused.to_string().contains("name the file of its key with --join-key"), "{refused}");
    // A key that is not there yet is waited for, as a balancer is.
    let later = balancer.address.key.with_extension("later");
    let (membership, until, address) = (member(&later), interrupt.clone(), gym.address);
    let staying =
        tokio::spawn(async move { gym::balancer::stay(&membership, address, &until).await });
    std::fs::hard_link(&balancer.address.key, &later).unwrap();
    let session = balancer.reset().await;
    let anew = Balancer::open(&[&gym]).await;
    assert_eq!(anew.step(&session, "noop").await.0, 200, "the gym knows the session");
    assert_eq!(anew.step(&session, "end").await.0, 200);
    interrupt.cancel();
    staying.await.unwrap().unwrap();
    balancer.measures("sandbox_front_servers{state=\"up\"} 0").await;
    balancer.end().await;
    anew.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_gym_is_refused_at_the_start_and_what_is_not_there_yet_is_waited_for() {
    let gym = FakeGym::open(1).await;
    let other = FakeGym::at(([127, 0, 0, 1], 0).into(), 1, "another").await;
    let balancer = Balancer::open(&[&gym]).await;
    for (urls, why) in [
        (vec![balancer.address.url.clone()], "it is no gym: GET /metrics has status 200"),
        (vec![gym.url(), other.url()], "a balancer serves one suite"),
        (vec!["https://127.0.0.1:1".to_owned()], "it is not of plain HTTP"),
    ] {
        let error = Balancer::over(&urls, PATIENCE).await.err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
    }
    balancer.end().await;
    let later = FakeGym::open(1).await;
    later.kill();
    // Whatever addresses the name has, the gym is at one of them.
    let url = format!("http://localhost:{}", later.address.port());
    let balancer = Balancer::over(&[url], PATIENCE).await.unwrap();
    assert_eq!(balancer.address.servers, 0);
    let comes = async { FakeGym::at(later.address, 1, "demo").await };
    let (session, gym) = tokio::join!(balancer.reset(), comes);
    assert_eq!(gym.count_open(), 1);
    balancer.step(&session, "end").await;
    balancer.end().await;
}
