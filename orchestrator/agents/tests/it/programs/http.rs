//! Tests of agents over HTTP, with small servers, correct and incorrect.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agents::program::{Address, Endpoint, Settings};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::*;

type Tested = Result<(), Box<dyn std::error::Error>>;
/// A server's answer to a message.
type Says = fn(&Value) -> Response;

#[derive(Clone)]
struct Server {
    says: Says,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    async fn start(says: Says) -> std::io::Result<(SocketAddr, Server)> {
        let server = Server { says, heard: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/agent", post(hear)).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok((address, server))
    }

    fn heard(&self) -> Vec<Value> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn hear(State(server): State<Server>, Json(message): Json<Value>) -> Response {
    let answer = (server.says)(&message);
    server.heard.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    if answer.headers().contains_key("x-never") {
        std::future::pending::<()>().await;
    }
    answer
}

/// Clicks once, then answers. Answers with invalid text where no answer is needed.
fn good(message: &Value) -> Response {
    match (message["type"].as_str(), message["step"].as_u64()) {
        (Some("hello"), _) => {
            Json(json!({ "protocol": 1, "name": "good", "observe": { "html": true } }))
                .into_response()
        }
        (Some("observation"), Some(1)) => {
            Json(json!({ "action": "click('3')", "reason": "first" })).into_response()
        }
        (Some("observation"), _) => Json(json!({ "stop": true })).into_response(),
        _ => (StatusCode::ACCEPTED, "thanks").into_response(),
    }
}

/// Completes the handshake, then answers the observation with `answer`.
fn to_observation(message: &Value, answer: impl FnOnce() -> Response) -> Response {
    if message["type"] == "observation" { answer() } else { good(message) }
}

async fn play(
    address: &str,
    settings: impl FnOnce(&mut Settings),
) -> Result<Vec<Result<Reply, Error>>, Box<dyn std::error::Error>> {
    let mut given = Settings::to(Endpoint::Server(address.parse::<Address>()?));
    settings(&mut given);
    Ok(play_through(Program::new(given)).await)
}

/// The error of an agent with these answers, with the port replaced.
async fn fails(
    says: Says,
    settings: impl FnOnce(&mut Settings),
) -> Result<(String, Vec<Value>), Box<dyn std::error::Error>> {
    let (address, server) = Server::start(says).await?;
    match play(&format!("http://{address}/agent"), settings).await?.pop() {
        Some(Err(error)) => {
            Ok((error.to_string().replace(&address.port().to_string(), "PORT"), server.heard()))
        }
        other => Err(format!("no error but {other:?}").into()),
    }
}

#[tokio::test]
async fn an_agent_is_greeted_told_asked_and_dismissed_under_one_episode() -> Tested {
    let (address, server) = Server::start(good).await?;
    let url = format!("http://{address}/agent");
    let replies: Vec<Reply> =
        play(&url, |_| {}).await?.into_iter().filter_map(Result::ok).collect();
    let click = Reply::act(Action::click("3"), Some("first".to_owned()));
    assert_eq!(replies, [click, Reply::Stop { reason: None }]);
    let heard = server.heard();
    let kinds: Vec<&str> = heard.iter().filter_map(|message| message["type"].as_str()).collect();
    assert_eq!(kinds, ["hello", "task", "observation", "observation", "end"]);
    let episode = heard[0]["episode"].as_str().ok_or("an id")?;
    assert!(
        episode.len() > 16 && heard.iter().all(|message| message["episode"] == episode),
        "{heard:?}"
    );
    let task = json!({ "type": "task", "task": "rail-01", "goal": "When?", "start_url": "https://rail.test/", "max_steps": 3, "episode": episode });
    assert_eq!(heard[1], task);
    assert_eq!(
        (&heard[2]["url"], &heard[4]["outcome"]),
        (&json!("https://rail.test/"), &json!("stopped"))
    );
    play(&url, |_| {}).await?;
    assert_ne!(server.heard()[5]["episode"], episode, "another episode has another id");
    Ok(())
}

#[tokio::test]
async fn what_goes_wrong_says_what_where_and_what_to_do() -> Tested {
    let (refused, heard) =
        fails(|_| (StatusCode::NOT_FOUND, "no model").into_response(), |_| {}).await?;
    insta::assert_snapshot!(refused, @"get an answer to `hello` from the agent at http://127.0.0.1:PORT/agent: the status is 404 instead of 200; it said: no model");
    assert_eq!(heard.len(), 2, "it is told of the end all the same: {heard:?}");
    let (moved, _) =
        fails(|_| (StatusCode::FOUND, [("location", "/agent")]).into_response(), |_| {}).await?;
    insta::assert_snapshot!(moved, @r#"get an answer to `hello` from the agent at http://127.0.0.1:PORT/agent: the status is 302 instead of 200"#);
    let (garbage, heard) =
        fails(|message| to_observation(message, || "Loading model...".into_response()), |_| {})
            .await?;
    insta::assert_snapshot!(garbage, @r#"understand the agent at http://127.0.0.1:PORT/agent's answer to `observation`: expected value at line 1 column 1; it wrote "Loading model...""#);
    assert_eq!(heard.last().ok_or("something")?["type"], "end");
    let (long, _) = fails(
        |message| to_observation(message, || "x".repeat((1 << 20) + 1).into_response()),
        |_| {},
    )
    .await?;
    insta::assert_snapshot!(long, @r#"read the agent at http://127.0.0.1:PORT/agent's answer to `observation`: the body is longer than 1048576 bytes"#);
    let (other, _) = fails(|_| Json(json!({ "protocol": 2 })).into_response(), |_| {}).await?;
    insta::assert_snapshot!(other, @r#"agree on a protocol with the agent at http://127.0.0.1:PORT/agent: it speaks version 2, this is version 1"#);
    let (ended, _) = fails(
        |message| {
            if message["type"] == "task" {
                StatusCode::IM_A_TEAPOT.into_response()
            } else {
                good(message)
            }
        },
        |_| {},
    )
    .await?;
    insta::assert_snapshot!(ended, @r#"get an answer to `task` from the agent at http://127.0.0.1:PORT/agent: the status is 418 instead of 200"#);
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_slow_or_not_there_is_told_apart() -> Tested {
    let (late, _) = fails(
        |_| [("x-never", "")].into_response(),
        |settings| settings.hello_within = Duration::from_millis(200),
    )
    .await?;
    insta::assert_snapshot!(late, @r#"get an answer to `hello` from the agent at http://127.0.0.1:PORT/agent within 0.2 s"#);
    let (slow, _) = fails(
        |message| to_observation(message, || [("x-never", "")].into_response()),
        |settings| {
            settings.answer_within = Duration::from_millis(200);
        },
    )
    .await?;
    insta::assert_snapshot!(slow, @r#"get an answer to `observation` from the agent at http://127.0.0.1:PORT/agent within 0.2 s"#);
    // Held, so that no other program listens there.
    let nobody = tokio::net::TcpSocket::new_v4()?;
    nobody.bind(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let gone = nobody.local_addr()?;
    let error = play(&format!("http://{gone}/"), |_| {})
        .await?
        .pop()
        .ok_or("a reply")?
        .err()
        .ok_or("an error")?;
    assert!(matches!(error, Error::Unreachable { message_type: "hello", .. }), "{error}");
    assert!(error.to_string().contains("Connection refused"), "{error}");
    Ok(())
}
