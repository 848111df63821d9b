//! The list of gyms, for who has the key.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::http::refusal;
use crate::server::{Health, Server};
use crate::{Front, key, probe};

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gym {
    url: String,
}

/// An error answer.
struct Refusal(StatusCode, String);

type Answer = Result<axum::Json<Value>, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        refusal(self.0, &self.1)
    }
}

pub(crate) fn routes() -> MethodRouter<Arc<Front>> {
    get(list).post(register).delete(leave)
}

fn check(front: &Front, headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match given.and_then(|value| value.strip_prefix("Bearer ")) {
        Some(given) if key::same(given, &front.key) => Ok(()),
        _ => {
            let error = "the list of gyms needs the front's key: send `Authorization: Bearer KEY`";
            Err(Refusal(StatusCode::UNAUTHORIZED, error.to_owned()))
        }
    }
}

/// The gym that a request names.
fn named(body: &[u8]) -> Result<Arc<Server>, Refusal> {
    let gym = serde_json::from_slice(body).map_err(|error| error.to_string());
    let url = gym.and_then(|Gym { url }| {
        let parsed = url.parse::<Url>();
        parsed.map_err(|error| format!("{url:?} is no URL: {error}"))
    });
    let server = url.and_then(|url| Server::new(&url, false).map_err(|error| format!("failed to {error}")));
    server.map_err(|why| {
        let error = format!("the request cannot be read: {why}; it is {{\"url\": \"http://HOST:PORT\"}}");
        Refusal(StatusCode::BAD_REQUEST, error)
    })
}

async fn list(State(front): State<Arc<Front>>, headers: HeaderMap) -> Answer {
    check(&front, &headers)?;
    let entry = |server: Arc<Server>| {
        let state = server.state();
        let (health, why) = match state.health {
            Health::Up if state.is_leaving => ("leaving", None),
            Health::Up => ("up", None),
            Health::Down(why) => ("down", Some(why)),
            Health::Unfit(why) => ("unfit", Some(why)),
        };
        let (places, taken) = (state.report.places, state.taken);
        json!({ "url": server.url, "state": health, "why": why, "places": places, "taken": taken })
    };
    let servers: Vec<Value> = front.pool.all().into_iter().map(entry).collect();
    Ok(axum::Json(json!({ "servers": servers })))
}

async fn register(State(front): State<Arc<Front>>, headers: HeaderMap, body: Bytes) -> Answer {
    check(&front, &headers)?;
    let (server, is_new) = front.pool.add(named(&body)?);
    if !server.state().is_up() {
        probe::look(&front, &server).await;
    }
    let health = server.state().health;
    if is_new && health == Health::Up {
        probe::follow(&front, server.clone());
    } else if is_new {
        front.pool.remove(&server);
    }
    match health {
        Health::Up => Ok(axum::Json(json!({ "url": server.url, "servers": front.pool.size().0 }))),
        Health::Down(why) | Health::Unfit(why) => {
            let error = format!("{} cannot be used: {why}", server.url);
            Err(Refusal(StatusCode::UNPROCESSABLE_ENTITY, error))
        }
    }
}

async fn leave(State(front): State<Arc<Front>>, headers: HeaderMap, body: Bytes) -> Answer {
    check(&front, &headers)?;
    let named = named(&body)?;
    let Some(server) = front.pool.find(&named.url) else {
        let error = format!("{} is not on the list of gyms", named.url);
        return Err(Refusal(StatusCode::NOT_FOUND, error));
    };
    server.change(|state| state.is_leaving = true);
    server.look.notify_one();
    Ok(axum::Json(json!({ "url": server.url, "open_sessions": server.state().open() })))
}
