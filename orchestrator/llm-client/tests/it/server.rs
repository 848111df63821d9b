//! Tests with a real server on loopback: retries, refusals, cassettes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use camino::Utf8PathBuf;
use llm_client::{
    Cassette, Chat, Client, Error, Message, Model, Reply, Role, Sampling, Settings, Usage,
};

/// Starts a server that answers request `n` (from 0) with `answer`. Returns its address and a
/// counter.
async fn serve(answer: fn(u32, HeaderMap) -> (StatusCode, String)) -> (String, Arc<AtomicU32>) {
    let requests = Arc::new(AtomicU32::new(0));
    let count = requests.clone();
    let handle = post(move |headers: HeaderMap| async move {
        answer(count.fetch_add(1, Ordering::SeqCst), headers)
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        axum::serve(listener, Router::new().route("/v1/chat/completions", handle)).await
    });
    (address, requests)
}

fn said(text: &str) -> String {
    format!(
        r#"{{"choices":[{{"message":{{"content":"{text}"}}}}],"usage":{{"prompt_tokens":3,"completion_tokens":1}}}}"#
    )
}

fn client(base_url: String) -> Client {
    let key = Some("secret-key".to_owned());
    Client::new(&Settings { key, within: Duration::from_secs(10), ..Settings::to(base_url) })
        .unwrap()
}

fn chat(text: &str) -> Chat {
    let sampling = Sampling { temperature: Some(0.0), max_tokens: Some(5), ..Sampling::default() };
    Chat { messages: vec![Message::text(Role::User, text)], sampling, attempt: 0, repeat: 0 }
}

#[tokio::test]
async fn what_a_server_gets_over_is_tried_again() {
    let (address, requests) = serve(|number, headers| {
        assert_eq!(headers["authorization"], "Bearer secret-key");
        match number {
            0 => (StatusCode::TOO_MANY_REQUESTS, "slowly".to_owned()),
            1 => (StatusCode::BAD_GATEWAY, String::new()),
            _ => (StatusCode::OK, said("yes")),
        }
    })
    .await;
    let reply = client(address).ask("m", &chat("a")).await.unwrap();
    assert_eq!(
        reply,
        Reply {
            usage: Usage { prompt_tokens: 3, completion_tokens: 1, ..Usage::default() },
            ..Reply::says("yes")
        }
    );
    assert_eq!(requests.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn what_is_wrong_stays_wrong_and_no_key_is_told() {
    let (address, requests) =
        serve(|_, _| (StatusCode::UNAUTHORIZED, "no such key".to_owned())).await;
    let error = client(address).ask("m", &chat("a")).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("401") && text.contains("no such key") && !text.contains("secret-key"),
        "{text}"
    );
    assert_eq!(requests.load(Ordering::SeqCst), 1);
    let (address, _) = serve(|_, _| (StatusCode::OK, "{}".to_owned())).await;
    assert!(matches!(client(address).ask("m", &chat("a")).await, Err(Error::Garbage { .. })));
    for url in ["api.test", "ftp://api.test", ""] {
        assert!(matches!(Client::new(&Settings::to(url)), Err(Error::Address { .. })), "{url}");
    }
}

#[tokio::test]
async fn a_recorded_reply_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().join("c.jsonl")).unwrap();
    let (address, requests) =
        serve(|number, _| (StatusCode::OK, said(&format!("reply {number}")))).await;
    let live = Model {
        name: Some("m".to_owned()),
        cassette: Some(Arc::new(Cassette::record(&path).unwrap())),
        client: Some(client(address)),
        ..Model::default()
    };
    for (text, expect) in [("a", "reply 0"), ("b", "reply 1"), ("a", "reply 0")] {
        assert_eq!(live.ask(&chat(text)).await.unwrap().reply.text, expect);
    }
    assert_eq!(requests.load(Ordering::SeqCst), 2);
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept.lines().count() == 2 && !kept.contains("secret-key"), "{kept}");

    let offline = |name: Option<&str>| Model {
        name: name.map(str::to_owned),
        cassette: Some(Arc::new(Cassette::open(&path).unwrap())),
        ..Model::default()
    };
    assert_eq!(offline(None).ask(&chat("b")).await.unwrap().reply.text, "reply 1");
    assert_eq!(offline(Some("m")).ask(&chat("b")).await.unwrap().reply.text, "reply 1");
    assert!(matches!(offline(Some("other")).ask(&chat("b")).await, Err(Error::NotRecorded { .. })));
    assert!(matches!(offline(None).ask(&chat("c")).await, Err(Error::NotRecorded { .. })));
}

#[test]
fn a_line_of_a_later_version_is_refused_and_the_first_needs_no_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().join("c.jsonl")).unwrap();
    Cassette::record(&path).unwrap().add("m", &chat("a"), Reply::says("1")).unwrap();
    let line = std::fs::read_to_string(&path).unwrap();
    assert!(!line.contains("format"), "{line}");
    std::fs::write(&path, line.replacen('{', "{\"format\":1,", 1)).unwrap();
    assert!(Cassette::open(&path).unwrap().find(None, &chat("a")).is_some());
    std::fs::write(&path, line + "{\"format\":2,\"other\":\"keys\"}\n").unwrap();
    let error = Cassette::open(&path).unwrap_err().to_string();
    let why = "line 2: it has format 2.0, and this version reads 1.x; use a newer sandbox";
    assert!(error.ends_with(why), "{error}");
}

#[test]
fn a_line_that_was_cut_short_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().join("c.jsonl")).unwrap();
    let reply = |text: &str| Reply::says(text);
    Cassette::record(&path).unwrap().add("m", &chat("a"), reply("1")).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}{}", &whole[..20])).unwrap();
    assert_eq!(
        Cassette::open(&path).unwrap().find(None, &chat("a")),
        Some(("m".to_owned(), reply("1")))
    );
    let again = Cassette::record(&path).unwrap();
    assert!(matches!(Cassette::record(&path), Err(Error::InUse { .. })));
    again.add("m", &chat("b"), reply("2")).unwrap();
    assert_eq!(again.add("m", &chat("b"), reply("3")).unwrap(), reply("2"));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    std::fs::write(&path, "{}\n").unwrap();
    assert!(matches!(Cassette::open(&path), Err(Error::Malformed { line: 1, .. })));
}
