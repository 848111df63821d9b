//! Tests of the recording proxy, called as programs call it, and of HTTP proxies on the way to a
//! server.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use fake_model::{Reply as Answer, Server};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use http_client::Route;
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::TokioExecutor;
use llm_client::{
    Cassette, Chat, Client, Error, Message, Model, Price, Proxy, Role, Sampling, Settings,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

async fn post(base: &str, body: &Value) -> (u16, String) {
    let http: Http<_, Full<bytes::Bytes>> = Http::builder(TokioExecutor::new()).build_http();
    let request = Request::post(format!("{base}/chat/completions"))
        .header("content-type", "application/json");
    let response = http.request(request.body(Full::from(body.to_string())).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    (
        status,
        String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec())
            .unwrap(),
    )
}

async fn begin(model: Model) -> (String, Arc<Proxy>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::new(model);
    let serving = proxy.clone();
    let (say, said) = tokio::sync::oneshot::channel();
    let listening = |url: &str| say.send(url.to_owned()).unwrap();
    let key = host_check::Key::random();
    tokio::spawn(
        async move { serving.serve(listener, key, listening, std::future::pending()).await },
    );
    (said.await.unwrap(), proxy)
}

#[tokio::test]
async fn programs_have_cassettes_usage_and_cost() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().join("c.jsonl")).unwrap();
    let tools = json!([{ "type": "function", "function": { "name": "click" } }]);
    let picture =
        json!([{ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } }]);
    let body = json!({ "model": "gpt", "messages": [{ "role": "user", "content": picture }], "tools": tools });
    let call = json!([{ "id": "1", "type": "function", "function": { "name": "click", "arguments": "{}" } }]);
    let mut first = Vec::new();
    {
        let message = json!({ "role": "assistant", "content": null, "tool_calls": call });
        let server = Server::start(move |request| {
            assert_eq!(request.body["tools"][0]["function"]["name"], "click");
            let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 10 + request.number });
            let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
            Answer::json(200, json!({ "choices": [choice], "usage": usage }))
        })
        .unwrap();
        let price = Some(Price { prompt: 1.0, completion: 100.0, cached: None });
        let cassette = Some(Arc::new(Cassette::record(&path).unwrap()));
        let client = Some(Client::new(&Settings::to(server.base_url())).unwrap());
        let (base, proxy) = begin(Model { client, cassette, price, ..Model::default() }).await;
        for _ in 0..2 {
            let (status, text) = post(&base, &body).await;
            assert_eq!(status, 200, "{text}");
            first.push(text);
        }
        let reply: Value = serde_json::from_str(&first[0]).unwrap();
        assert_eq!(reply["choices"][0]["message"]["tool_calls"], call);
        assert_eq!(
            (&reply["model"], &reply["usage"]["total_tokens"]),
            (&json!("gpt"), &json!(1010))
        );
        let totals = &proxy.totals()["gpt"];
        assert_eq!((totals.calls, totals.recorded, totals.usage.prompt_tokens), (2, 0, 2000));
        assert!((totals.cost.unwrap() - 0.0041).abs() < 1e-9);
    }
    // Repeat without a server: the same replies in the same order, also as a stream. Unrecorded
    // requests go nowhere.
    assert!(!std::fs::read_to_string(&path).unwrap().contains("base64"));
    let offline =
        Model { cassette: Some(Arc::new(Cassette::open(&path).unwrap())), ..Model::default() };
    let (base, proxy) = begin(offline).await;
    assert_eq!(post(&base, &body).await.1, first[0]);
    let mut streamed = body.clone();
    streamed["stream"] = json!(true);
    let (_, text) = post(&base, &streamed).await;
    assert!(text.contains("chat.completion.chunk") && text.ends_with("data: [DONE]\n\n"), "{text}");
    let (status, text) = post(&base, &body).await;
    assert!(status == 404 && text.contains("not_recorded"), "{text}");
    let totals = &proxy.totals()["gpt"];
    assert_eq!((totals.calls, totals.recorded, totals.failed), (2, 2, 1));
}

#[tokio::test]
async fn failures_are_told_as_openai_tells_them() {
    let server =
        Server::start(|_| Answer::json(401, json!({ "error": { "message": "no such key" } })))
            .unwrap();
    let client = Some(Client::new(&Settings::to(server.base_url())).unwrap());
    let (base, _) = begin(Model { client, ..Model::default() }).await;
    let (status, text) = post(&base, &json!({ "model": "m", "messages": [] })).await;
    let error: Value = serde_json::from_str(&text).unwrap();
    assert!(
        status == 401 && error["error"]["message"].as_str().unwrap().contains("no such key"),
        "{text}"
    );
    assert_eq!(post(&base, &json!({ "model": "m", "n": 2 })).await.0, 400);
    assert_eq!(post(&base, &json!([1])).await.0, 400);
}

/// An HTTP proxy that answers CONNECT with this head and returns the request that it received.
async fn tunnel(head: &'static str) -> (String, tokio::sync::oneshot::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://user:p%40ss@{}", listener.local_addr().unwrap());
    let (sender, received) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 4096];
        let read = stream.read(&mut buffer).await.unwrap();
        let _ = sender.send(String::from_utf8_lossy(&buffer[..read]).into_owned());
        stream.write_all(head.as_bytes()).await.unwrap();
        // TLS follows. Its first bytes are enough.
        let _ = stream.read(&mut buffer).await;
    });
    (address, received)
}

#[tokio::test]
async fn https_goes_through_the_proxy() {
    let chat = Chat {
        messages: vec![Message::text(Role::User, "a")],
        sampling: Sampling::default(),
        attempt: 0,
        repeat: 0,
    };
    let (proxy, received) = tunnel("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
    let settings = Settings {
        route: Route { proxy: Some(proxy), ..Route::default() },
        within: Duration::from_secs(1),
        ..Settings::to("https://models.test/v1")
    };
    let error = Client::new(&settings).unwrap().ask("m", &chat).await.unwrap_err().to_string();
    // The first attempt gets the 407; later attempts find no listener.
    let request = received.await.unwrap();
    assert!(request.starts_with("CONNECT models.test:443 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n"), "{request}");
    assert!(!error.contains("p%40ss") && !error.contains("p@ss"), "{error}");
    for bad in ["socks5://127.0.0.1:1", "http://"] {
        let route = Route { proxy: Some(bad.to_owned()), ..Route::default() };
        let settings = Settings { route, ..Settings::to("https://models.test/v1") };
        let error = Client::new(&settings).err();
        assert!(matches!(error, Some(Error::Route(http_client::Error::Proxy { .. }))), "{bad}");
    }
    let route = Route { certificates: Some("/nowhere.pem".into()), ..Route::default() };
    let missing = Client::new(&Settings { route, ..Settings::to("https://a.test") }).err();
    assert!(matches!(missing, Some(Error::Route(http_client::Error::Certificates { .. }))));
}
