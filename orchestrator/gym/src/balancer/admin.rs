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

use crate::balancer::http::refusal;
use crate::balancer::server::{Health, Server};
use crate::balancer::{Balancer, probe};

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gym {
    url: String,
    /// It was on the list before, so it stays off if it was taken off.
    #[serde(default)]
    again: bool,
    /// It has ended, and its sessions with it.
    #[serde(default)]
    ended: bool,
}

/// An error answer.
struct Refusal(StatusCode, String);

type Answer = Result<axum::Json<Value>, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        refusal(self.0, &self.1)
    }
}

pub(crate) fn routes() -> MethodRouter<Arc<Balancer>> {
    get(list).post(register).delete(leave)
}

fn check(balancer: &Balancer, headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match given.and_then(|value| value.strip_prefix("Bearer ")) {
        Some(given) if host_check::key::same(given, &balancer.key) => Ok(()),
        _ => {
            let error =
                "the list of gyms needs the balancer's key: send `Authorization: Bearer KEY`";
            Err(Refusal(StatusCode::UNAUTHORIZED, error.to_owned()))
        }
    }
}

/// A request, and the gym that it names.
fn read(body: &[u8]) -> Result<(Gym, Arc<Server>), Refusal> {
    let read = || {
        let gym: Gym = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let url: Url =
            gym.url.parse().map_err(|error| format!("{:?} is no URL: {error}", gym.url))?;
        let server = Server::new(&url, false).map_err(|error| format!("failed to {error}"))?;
        Ok((gym, server))
    };
    read().map_err(|why: String| {
        let error = format!(
            "the request cannot be read: {why}; it is {{\"url\": \"http://HOST:PORT/KEY\"}}"
        );
        Refusal(StatusCode::BAD_REQUEST, error)
    })
}

async fn list(State(balancer): State<Arc<Balancer>>, headers: HeaderMap) -> Answer {
    check(&balancer, &headers)?;
    let entry = |server: Arc<Server>| {
        let state = server.state();
        let (health, why) = match state.health {
            Health::Up if state.is_leaving => ("leaving", None),
            Health::Up => ("up", None),
            Health::Down(why) => ("down", Some(why)),
            Health::Unfit(why) => ("unfit", Some(why)),
        };
        let (places, in_use) = (state.report.places, state.in_use);
        json!({ "url": server.url, "state": health, "why": why, "places": places, "taken": in_use })
    };
    let servers: Vec<Value> = balancer.pool.all().into_iter().map(entry).collect();
    Ok(axum::Json(json!({ "servers": servers })))
}

async fn register(
    State(balancer): State<Arc<Balancer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    check(&balancer, &headers)?;
    let (gym, server) = read(&body)?;
    // One that this balancer does not know was taken off and forgotten, unless the balancer is new.
    let is_off = || {
        balancer.pool.find(&server.url).map_or(!balancer.is_young(), |one| one.state().is_leaving)
    };
    if gym.again && is_off() {
        return Ok(axum::Json(json!({ "url": server.url, "leaving": true })));
    }
    let prefix = server.state().prefix;
    let (server, is_new) = balancer.pool.add(server);
    // One that was started anew may have another key.
    server.change(|state| (state.is_leaving, state.prefix) = (false, prefix));
    if !server.state().is_up() {
        probe::look(&balancer, &server).await;
    }
    let health = server.state().health;
    if is_new && health == Health::Up {
        probe::follow(&balancer, server.clone());
    } else if is_new {
        balancer.pool.remove(&server);
    }
    let (status, why) = match health {
        Health::Up => {
            let servers = balancer.pool.size().0;
            return Ok(axum::Json(
                json!({ "url": server.url, "servers": servers, "leaving": false }),
            ));
        }
        // It may answer later.
        Health::Down(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
        Health::Unfit(why) => (StatusCode::UNPROCESSABLE_ENTITY, why),
    };
    Err(Refusal(status, format!("{} cannot be used: {why}", server.url)))
}

async fn leave(State(balancer): State<Arc<Balancer>>, headers: HeaderMap, body: Bytes) -> Answer {
    check(&balancer, &headers)?;
    let (gym, named) = read(&body)?;
    let Some(server) = balancer.pool.find(&named.url) else {
        let error = format!("{} is not on the list of gyms", named.url);
        return Err(Refusal(StatusCode::NOT_FOUND, error));
    };
    let open = if gym.ended { 0 } else { server.state().open() };
    if gym.ended {
        server.is_gone.send_replace(true);
        balancer.pool.remove(&server);
    } else {
        server.change(|state| state.is_leaving = true);
        server.look.notify_one();
    }
    Ok(axum::Json(json!({ "url": server.url, "open_sessions": open })))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[tokio::test]
    async fn a_gym_that_was_taken_off_stays_off_unless_the_balancer_is_new() {
        let mut balancer = Balancer::new("key".to_owned(), Duration::ZERO);
        let headers: HeaderMap =
            [(header::AUTHORIZATION, "Bearer key".parse().unwrap())].into_iter().collect();
        // Nobody listens there: a gym that is looked at is down.
        let again = Bytes::from_static(br#"{"url":"http://127.0.0.1:1","again":true}"#);
        let first = Bytes::from_static(br#"{"url":"http://127.0.0.1:1"}"#);
        let ask = async |balancer: &Arc<Balancer>, body: &Bytes| {
            register(State(balancer.clone()), headers.clone(), body.clone())
                .await
                .map_err(|why| why.0)
        };
        let young = Arc::new(balancer);
        assert_eq!(ask(&young, &again).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
        balancer = Arc::into_inner(young).unwrap();
        balancer.started =
            Instant::now().checked_sub(crate::balancer::join::REGISTERED_WITHIN).unwrap();
        let old = Arc::new(balancer);
        assert_eq!(ask(&old, &again).await.unwrap().0["leaving"], true);
        assert_eq!(ask(&old, &first).await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
