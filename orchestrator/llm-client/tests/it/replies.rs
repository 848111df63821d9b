//! Tests with a scripted server that plays many kinds: replies, refusals and rejected parameters.

use std::io::Write as _;
use std::time::{Duration, Instant};

use fake_model::{ModelRequest, Reply as Answer, Server};
use llm_client::{Chat, Client, Error, Fault, Message, Reply, Role, Sampling, Settings, Usage};
use serde_json::{Value, json};

fn chat() -> Chat {
    let sampling = Sampling { temperature: Some(0.0), max_tokens: Some(5), ..Sampling::default() };
    Chat { messages: vec![Message::text(Role::User, "a")], sampling, attempt: 0, repeat: 0 }
}

async fn exchange(
    script: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
) -> (Result<Reply, Error>, Vec<ModelRequest>) {
    let server = Server::start(script).unwrap();
    let settings = Settings { patience: Duration::from_secs(3), ..Settings::to(server.base_url()) };
    let reply = Client::new(&settings).unwrap().ask("m", &chat()).await;
    (reply, server.requests())
}

/// Sends a chat to a server that answers with this body.
async fn replied(body: Value) -> Reply {
    exchange(move |_| Answer::json(200, body.clone())).await.0.unwrap()
}

async fn said(message: Value, finish: &str) -> Reply {
    replied(json!({ "choices": [{ "message": message, "finish_reason": finish }] })).await
}

#[tokio::test]
async fn content_may_be_a_list_of_parts() {
    let parts = json!([
        { "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] },
        { "type": "text", "text": "click " },
        "[1]",
    ]);
    let reply = said(json!({ "content": parts }), "stop").await;
    assert_eq!((reply.text.as_str(), reply.reasoning.as_deref()), ("click [1]", Some("hm")));
}

#[tokio::test]
async fn usage_may_be_null_or_a_fraction_and_has_details() {
    let with =
        |usage: Value| json!({ "choices": [{ "message": { "content": "a" } }], "usage": usage });
    assert_eq!(replied(with(Value::Null)).await.usage, Usage::default());
    let odd = json!({ "prompt_tokens": 12.0, "completion_tokens": null, "total_tokens": "x" });
    assert_eq!(replied(with(odd)).await.usage, Usage { prompt_tokens: 12, ..Usage::default() });
    let details = json!({
        "prompt_tokens": 12, "completion_tokens": 7,
        "prompt_tokens_details": { "cached_tokens": 8 }, "completion_tokens_details": { "reasoning_tokens": 5 },
    });
    let expect =
        Usage { prompt_tokens: 12, completion_tokens: 7, cached_tokens: 8, reasoning_tokens: 5 };
    assert_eq!(replied(with(details)).await.usage, expect);
}

#[tokio::test]
async fn what_is_packed_is_unpacked() {
    let body = json!({ "choices": [{ "message": { "content": "packed" } }] }).to_string();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(body.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let coding = || vec![("content-encoding", "gzip".to_owned())];
    let (reply, _) = exchange(move |_| Answer::Answers(200, coding(), packed.clone())).await;
    assert_eq!(reply.unwrap().text, "packed");
    let broken = |_: &ModelRequest| {
        Answer::Answers(200, vec![("content-encoding", "gzip".to_owned())], b"no".to_vec())
    };
    assert!(matches!(exchange(broken).await.0, Err(Error::Garbage { .. })));
}

#[tokio::test]
async fn half_of_a_pair_costs_no_reply() {
    let body = r#"{"choices":[{"message":{"content":"yes \ud83d"}}]}"#;
    let (reply, _) = exchange(move |_| Answer::Answers(200, Vec::new(), body.into())).await;
    assert_eq!(reply.unwrap().text, "yes \u{fffd}");
}

#[tokio::test]
async fn an_error_may_call_itself_a_success() {
    let (reply, all) = exchange(|request| match request.number {
        0 => Answer::json(200, json!({ "error": { "message": "upstream failed", "code": 502 } })),
        1 => Answer::choice(
            json!({ "error": { "message": "again", "code": 502 }, "message": { "content": "" } }),
        ),
        _ => Answer::Says("yes".to_owned()),
    })
    .await;
    assert_eq!((reply.unwrap().text.as_str(), all.len()), ("yes", 3));
    let (reply, all) = exchange(|_| {
        Answer::json(200, json!({ "error": { "message": "invalid model", "code": 404 } }))
    })
    .await;
    assert!(matches!(reply, Err(Error::Refused { status: 404, .. })) && all.len() == 1);
}

#[tokio::test]
async fn a_reply_that_was_cut_refused_or_empty_is_known_for_it() {
    let cut =
        said(json!({ "content": "click [", "reasoning_content": "it is long" }), "length").await;
    assert_eq!((cut.fault, cut.finish.as_deref()), (Some(Fault::Cut), Some("length")));
    assert_eq!(cut.reasoning.as_deref(), Some("it is long"));
    let refused = said(json!({ "content": null, "refusal": "I cannot" }), "stop").await;
    assert_eq!(
        (refused.fault, refused.refusal.as_deref()),
        (Some(Fault::Refused), Some("I cannot"))
    );
    assert_eq!(
        said(json!({ "content": null }), "content_filter").await.fault,
        Some(Fault::Refused)
    );
    assert_eq!(said(json!({ "content": "" }), "stop").await.fault, Some(Fault::Empty));
    let thinks = said(json!({ "content": "<think>click [1]</think>stop [2]" }), "stop").await;
    assert_eq!((thinks.fault, thinks.words()), (None, "stop [2]"));
}

#[tokio::test]
async fn what_no_patience_mends_is_asked_once() {
    for (status, error) in [
        (
            429,
            json!({ "message": "You exceeded your current quota", "type": "insufficient_quota" }),
        ),
        (500, json!({ "message": "image input is not supported - hint: use a model with eyes" })),
    ] {
        let answer = Answer::json(status, json!({ "error": error }));
        let (reply, all) = exchange(move |_| answer.clone()).await;
        assert!(
            matches!(reply, Err(Error::Refused { .. })) && all.len() == 1,
            "{status}: {reply:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_begins_to_run_is_waited_for() {
    // More attempts than other failures get. The server requests the pauses.
    let (reply, all) = exchange(|request| match request.number {
        0..8 => Answer::Answers(
            503,
            vec![("retry-after", "0.02".to_owned())],
            b"Loading model".to_vec(),
        ),
        _ => Answer::Says("yes".to_owned()),
    })
    .await;
    assert_eq!((reply.unwrap().text.as_str(), all.len()), ("yes", 9));
    let began = Instant::now();
    let busy = |_: &ModelRequest| {
        Answer::Answers(503, vec![("retry-after", "1".to_owned())], b"busy".to_vec())
    };
    let (reply, _) = exchange(busy).await;
    assert!(
        matches!(reply, Err(Error::Unanswered { .. })) && began.elapsed() < Duration::from_secs(10)
    );
}

#[tokio::test]
async fn settings_that_a_server_refuses_are_left_out_from_then_on() {
    let server = Server::start(|request| {
        let refuse = |param: &str, message: &str| {
            Answer::json(
                400,
                json!({ "error": { "message": message, "param": param, "code": "unsupported_value" } }),
            )
        };
        if request.body.get("max_tokens").is_some() {
            return refuse(
                "max_tokens",
                "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            );
        }
        if request.body.get("temperature").is_some() {
            return refuse("temperature", "'temperature' does not support 0 with this model.");
        }
        Answer::Says(request.body["max_completion_tokens"].to_string())
    })
    .unwrap();
    let client = Client::new(&Settings::to(server.base_url())).unwrap();
    let mut texts = Vec::new();
    for _ in 0..2 {
        texts.push(client.ask("o", &chat()).await.unwrap().text);
    }
    assert_eq!((texts, server.requests().len()), (vec!["5".to_owned(), "5".to_owned()], 4));
}

#[tokio::test]
async fn an_address_may_have_a_query_and_a_head_of_its_own() {
    let server = Server::start(|_| Answer::Says("yes".to_owned())).unwrap();
    let base = server.base_url().replace("/v1", "/deployments/gpt?api-version=2024-06-01");
    let settings = Settings {
        key: Some("secret-key".to_owned()),
        key_header: Some("api-key".to_owned()),
        headers: vec![("x-team".to_owned(), "web".to_owned())],
        ..Settings::to(base)
    };
    let client = Client::new(&settings).unwrap();
    client.ask("m", &chat()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.path, "/deployments/gpt/chat/completions?api-version=2024-06-01");
    assert_eq!(
        (&request.headers["api-key"], &request.headers["x-team"]),
        (&"secret-key".parse().unwrap(), &"web".parse().unwrap())
    );
    assert_eq!(request.key, None);
    assert!(!format!("{client:?}").contains("secret-key"));
    let odd = Settings {
        headers: vec![("a b".to_owned(), String::new())],
        ..Settings::to("http://a.test")
    };
    assert!(matches!(Client::new(&odd), Err(Error::Header { .. })));
}
