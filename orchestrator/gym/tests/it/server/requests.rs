//! Requests over HTTP, and their answers.

use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use crate::fake::Mood;
use crate::server::{Gym, PATIENCE};

/// Method, path, headers and body of a request; status and text of its answer.
type Wrong<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, u16, &'a str);

#[tokio::test]
async fn wrong_requests_are_told_what_is_wrong() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    const JSON: (&str, &str) = ("content-type", "application/json");
    let long = format!(r#"{{"task":"{}"}}"#, "x".repeat(1 << 20));
    let cases: &[Wrong<'_>] = &[
        ("GET", "/nonesuch", &[], "", 404, "POST /reset"),
        ("GET", "/reset", &[], "", 405, ""),
        ("POST", "/reset", &[], r#"{"task":"bike.one"}"#, 415, "application/json"),
        ("POST", "/reset", &[("content-type", "text/plain")], "{}", 415, "text/plain"),
        ("POST", "/reset", &[JSON], "{", 400, "cannot be read"),
        ("POST", "/reset", &[JSON], "{}", 400, "missing field `task`"),
        ("POST", "/reset", &[JSON], r#"{"task":"bike.one","tsk":1}"#, 400, "unknown field `tsk`"),
        ("POST", "/reset", &[JSON], r#"{"task":"bike.one","observe":{"axtre":{}}}"#, 400, "axtre"),
        ("POST", "/reset", &[JSON], r#"{"task":"bike.one","repeat":0}"#, 400, "counted from 1"),
        ("POST", "/reset", &[JSON], r#"{"task":"car"}"#, 404, "GET /tasks"),
        ("POST", "/step", &[JSON], r#"{"session":"x","action":"noop()"}"#, 404, "POST /reset"),
        ("POST", "/step", &[JSON], r#"{"session":"x"}"#, 400, "missing field `action`"),
        ("POST", "/close", &[JSON], r#"{"session":"x"}"#, 404, "POST /reset"),
        (
            "POST",
            "/reset",
            &[JSON, ("origin", "https://evil.test")],
            r#"{"task":"bike.one"}"#,
            403,
            "Origin",
        ),
        (
            "GET",
            "/tasks",
            &[("origin", "https://evil.test")],
            "",
            403,
            "Origin is https://evil.test",
        ),
        ("GET", "/tasks", &[("sec-fetch-site", "cross-site")], "", 403, "Sec-Fetch-Site"),
        ("GET", "/tasks", &[("host", "evil.test")], "", 403, "the Host evil.test"),
        (
            "POST",
            "/reset",
            &[JSON, ("host", "evil.test:80")],
            r#"{"task":"bike.one"}"#,
            403,
            "the Host evil.test:80",
        ),
        ("POST", "/reset", &[JSON], &long, 413, ""),
    ];
    for (method, path, headers, body, status, message) in cases {
        let (got, said) = gym.send(method, path, headers, body).await;
        assert_eq!(got, *status, "{method} {path} {headers:?}: {said}");
        assert!(said.to_string().contains(message), "{method} {path} {headers:?}: {said}");
    }
    let session = gym.reset("bike.one").await;
    let (_, answer) = gym.step(&session, "clik('1')").await;
    assert!(
        answer["observation"]["last_action_error"].as_str().unwrap().contains("clik"),
        "{answer}"
    );
}

#[tokio::test]
async fn measurements_are_those_of_what_was_done() {
    let gym = Gym::open(&Mood::default(), |options, _| options.workers = 2).await;
    let session = gym.reset("bike.one").await;
    gym.step(&session, "click('1')").await;
    let metrics = async || {
        let request =
            http::Request::get(format!("{}/metrics", gym.url)).body(Full::default()).unwrap();
        let answer = gym.client.request(request).await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    };
    let has = |text: &str, lines: &[&str]| {
        for line in lines {
            assert!(text.lines().any(|own| own == *line), "{line}: {text}");
        }
    };
    let text = metrics().await;
    has(
        &text,
        &[
            "sandbox_gym_places{state=\"free\"} 1",
            "sandbox_gym_places{state=\"taken\"} 1",
            "sandbox_gym_sessions_open 1",
            "sandbox_gym_steps_total 1",
            "sandbox_gym_step_duration_seconds_count 1",
            "sandbox_gym_resets_total 1",
            "sandbox_gym_reset_duration_seconds_count 1",
            "sandbox_gym_errors_total{kind=\"request\"} 0",
        ],
    );
    assert_eq!(gym.step(&session, "send_msg_to_user('a red bicycle')").await.0, 200);
    assert_eq!(gym.step(&session, "noop()").await.0, 410);
    assert_eq!(gym.post("/reset", json!({ "task": "car" })).await.0, 404);
    assert_eq!(gym.send("GET", "/metrics", &[("origin", "https://evil.test")], "").await.0, 403);
    has(
        &metrics().await,
        &[
            "sandbox_gym_places{state=\"free\"} 2",
            "sandbox_gym_sessions_open 0",
            "sandbox_gym_steps_total 2",
            "sandbox_gym_resets_total 1",
            "sandbox_gym_errors_total{kind=\"request\"} 1",
            "sandbox_gym_errors_total{kind=\"forbidden\"} 1",
            "sandbox_gym_errors_total{kind=\"session_ended\"} 1",
        ],
    );
    gym.end().await;
}

#[tokio::test]
async fn headers_name_the_session_and_bound_the_wait() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    let ask = async |path: &str, body: Value| {
        let request = http::Request::post(format!("{}{path}", gym.url))
            .header("content-type", "application/json")
            .header("prefer", "respond-async, wait=0")
            .body(Full::from(body.to_string()))
            .unwrap();
        let answer =
            tokio::time::timeout(PATIENCE / 2, gym.client.request(request)).await.unwrap().unwrap();
        let text =
            |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        (answer.status().as_u16(), text("sandbox-session"), text("sandbox-episode"))
    };
    let (status, session, episode) = ask("/reset", json!({ "task": "bike.one" })).await;
    let open = (session.clone(), Some("open".to_owned()));
    assert!(status == 200 && session.is_some() && episode == open.1);
    // It does not wait for the place.
    assert_eq!(ask("/reset", json!({ "task": "bike.two" })).await, (503, None, None));
    let step = |action: &str| json!({ "session": session, "action": action });
    assert_eq!(ask("/step", step("click('1')")).await, (200, open.0, open.1));
    let ended = (session.clone(), Some("ended".to_owned()));
    for (path, body, status) in [
        ("/step", step("send_msg_to_user('x')"), 200),
        ("/step", step("noop()"), 410),
        ("/close", json!({ "session": session }), 200),
    ] {
        assert_eq!(ask(path, body).await, (status, ended.0.clone(), ended.1.clone()), "{path}");
    }
    // What is no session of the gym is not repeated.
    for text in [session.clone().unwrap(), "x".repeat(500_000), "no\nheader".to_owned()] {
        assert_eq!(ask("/close", json!({ "session": text })).await, (404, None, ended.1.clone()));
    }
    gym.end().await;
}
