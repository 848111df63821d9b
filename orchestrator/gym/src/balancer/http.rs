//! The HTTP interface: that of a gym, and the list of gyms.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use host_check::{Guard, Key};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::balancer::forward::Failure;
use crate::balancer::pool::NoCapacity;
use crate::balancer::server::{Lease, Server};
use crate::balancer::sessions::LONGEST_ID;
use crate::balancer::{Balancer, admin, forward, metrics};
use crate::protocol::{ENDED, EPISODE, NO_WAIT, OPEN, PREFER, SESSION, preferred_wait};

/// Maximum size of a request whose session is read from its body: that of a gym.
const BODY_LIMIT: usize = 1 << 20;

/// The guard of a balancer with this key to its list of gyms. That key is not for clients.
pub(crate) fn guard(at: SocketAddr, key: &str) -> Guard {
    Guard::new(at, Key::derived(key, "front")).without_key_at("/servers")
}

pub(crate) fn router(balancer: Arc<Balancer>, guard: Guard) -> Router {
    let router = Router::new()
        .route("/metrics", get(metrics::answer))
        .route("/servers", admin::routes())
        .fallback(pass_on)
        .with_state(balancer);
    guard.before(router, |refused| refusal(refused.status(), &refused.to_string()))
}

/// An error in the form of a gym.
pub(crate) fn refusal(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error, "info": { "result": null } }))).into_response()
}

async fn pass_on(State(balancer): State<Arc<Balancer>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    if !head.uri.path().starts_with('/') {
        let error =
            format!("{:?} is no path; that of a request begins with /", head.uri.to_string());
        return refusal(StatusCode::BAD_REQUEST, &error);
    }
    let wait = preferred_wait(&head.headers);
    forward::strip_request(&mut head.headers);
    // Only posted bodies name a session. Everything else is passed on as a stream.
    if head.method != Method::POST {
        return anywhere(&balancer, &head, body).await;
    }
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        let error = format!("the request is larger than {BODY_LIMIT} bytes, or broke off");
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, &error);
    };
    let started = Instant::now();
    match (head.uri.path(), session_of(&body)) {
        ("/reset", _) => reset(&balancer, &mut head, body, wait).await,
        (path, Some(session)) => {
            let is_step = path == "/step";
            let answer = in_session(&balancer, &head, body, &session).await;
            if is_step && answer.status().is_success() {
                balancer.counts.step(started.elapsed());
            }
            answer
        }
        _ => anywhere(&balancer, &head, body.into()).await,
    }
}

/// The session that a request names in its body. No gym has one with a longer id.
fn session_of(body: &Bytes) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        session: String,
    }
    let session = serde_json::from_slice(body).ok().map(|Named { session }| session);
    session.filter(|session| session.len() <= LONGEST_ID)
}

/// Answers a request that any gym can answer.
async fn anywhere(balancer: &Balancer, head: &Parts, body: Body) -> Response {
    let Some(server) = balancer.pool.least_busy() else {
        return no_capacity(balancer, &NoCapacity::NoServer, balancer.place_within);
    };
    let answer = balancer.upstream.send(&server, head, body).await;
    answer.unwrap_or_else(|failure| no_answer(balancer, &server, &failure))
}

fn no_answer(balancer: &Balancer, server: &Server, failure: &Failure) -> Response {
    match failure {
        Failure::Client(why) => {
            refusal(StatusCode::BAD_REQUEST, &format!("the request cannot be passed on: {why}"))
        }
        Failure::Unreachable(why) | Failure::BrokenOff(why) => {
            balancer.counts.error("unanswered");
            let error = format!(
                "the gym at {} does not answer ({why}); ask again, and another may",
                server.url
            );
            refusal(StatusCode::BAD_GATEWAY, &error)
        }
    }
}

/// Begins a session in the least busy gym. A gym that is full all the same, or cannot be reached,
/// is passed over. If a reset has broken off at two gyms, the reset may be the cause, so no third
/// gym gets it.
async fn reset(
    balancer: &Balancer,
    head: &mut Parts,
    body: Bytes,
    wait: Option<Duration>,
) -> Response {
    let within = wait.map_or(balancer.place_within, |wait| wait.min(balancer.place_within));
    let until = tokio::time::Instant::now() + within;
    // The wait for a place is here, because another gym may have one first.
    head.headers.insert(PREFER, HeaderValue::from_static(NO_WAIT));
    let _waits = balancer.counts.wait();
    let mut is_last = false;
    loop {
        let lease = match balancer.pool.lease(until).await {
            Ok(lease) => lease,
            Err(why) => return no_capacity(balancer, &why, within),
        };
        match balancer.upstream.send(&lease.server, head, body.clone().into()).await {
            // The gym has clients besides this balancer, so its last place may be gone.
            Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => {
                lease.end().mark_full()
            }
            Ok(answer) => {
                begin(balancer, &answer, lease);
                return answer;
            }
            Err(Failure::Unreachable(_)) => {}
            Err(Failure::BrokenOff(_)) if !is_last => is_last = true,
            Err(failure) => return no_answer(balancer, &lease.server, &failure),
        }
    }
}

fn begin(balancer: &Balancer, answer: &Response, lease: Lease) {
    if let (Some(id), Some(OPEN)) = (text(answer, &SESSION), text(answer, &EPISODE)) {
        balancer.counts.session();
        balancer.sessions.open(id, lease);
    }
}

fn text<'a>(answer: &'a Response, name: &HeaderName) -> Option<&'a str> {
    answer.headers().get(name).and_then(|value| value.to_str().ok())
}

fn no_capacity(balancer: &Balancer, why: &NoCapacity, waited: Duration) -> Response {
    let (kind, error) = match why {
        NoCapacity::Full => {
            let waited = waited.as_secs_f64();
            let error = format!(
                "no slot became free within {waited} s; close sessions that are done, or register more gyms"
            );
            ("full", error)
        }
        NoCapacity::NoServer => {
            let error =
                format!("no gym answers ({}); start one with --join", balancer.pool.complaints());
            ("no_server", error)
        }
        NoCapacity::Closing => {
            ("closing", "the balancer is closing, and begins no more sessions".to_owned())
        }
    };
    balancer.counts.error(kind);
    refusal(StatusCode::SERVICE_UNAVAILABLE, &error)
}

/// Answers a request of a session, by the gym that has it.
async fn in_session(balancer: &Balancer, head: &Parts, body: Bytes, session: &str) -> Response {
    let Some(server) = balancer.sessions.find(session) else {
        return unknown(balancer, head, body, session).await;
    };
    let why = match balancer.upstream.send(&server, head, body.into()).await {
        Ok(answer) if is_forgotten(&answer) && !balancer.sessions.has_ended(session) => None,
        Ok(answer) => {
            if text(&answer, &EPISODE).is_some_and(|state| state != OPEN) {
                balancer.sessions.end(session);
            }
            return answer;
        }
        Err(Failure::Unreachable(why) | Failure::BrokenOff(why)) => Some(why),
        Err(failure) => return no_answer(balancer, &server, &failure),
    };
    balancer.counts.error("session_lost");
    let is_news = balancer.sessions.lose(session);
    if is_news {
        balancer.counts.lose();
    }
    let url = &server.url;
    match why {
        None => {
            let error = format!(
                "session {session} was in the gym at {url}, which has started anew since; POST /reset begins another"
            );
            refusal(StatusCode::GONE, &error)
        }
        // It is told once as a failure. After that, the session is known to have ended.
        Some(why) => {
            let status = if is_news { StatusCode::BAD_GATEWAY } else { StatusCode::GONE };
            let error = format!(
                "session {session} is in the gym at {url}, which does not answer ({why}); if it has ended, so has the episode: \
                 POST /reset begins another"
            );
            refusal(status, &error)
        }
    }
}

/// Returns whether a gym has never had the session, or has forgotten it.
fn is_forgotten(answer: &Response) -> bool {
    let (session, episode) = (text(answer, &SESSION), text(answer, &EPISODE));
    answer.status() == StatusCode::NOT_FOUND && session.is_none() && episode == Some(ENDED)
}

/// Answers a request of a session that began before this balancer, or long ago. All gyms are asked,
/// and the one that knows the session has it. If none does, the client gets another of their
/// answers, such as an error in the request.
async fn unknown(balancer: &Balancer, head: &Parts, body: Bytes, session: &str) -> Response {
    let mut other = None;
    for server in balancer.pool.all().into_iter().filter(|server| server.state().is_up()) {
        match balancer.upstream.send(&server, head, body.clone().into()).await {
            Ok(answer) if text(&answer, &SESSION) == Some(session) => {
                if text(&answer, &EPISODE) == Some(OPEN) {
                    balancer.sessions.open(session, balancer.pool.adopt(&server));
                }
                return answer;
            }
            Ok(answer) if answer.status() == StatusCode::NOT_FOUND => {}
            Ok(answer) => other = Some(answer),
            Err(Failure::Unreachable(_) | Failure::BrokenOff(_)) => {}
            Err(failure) => return no_answer(balancer, &server, &failure),
        }
    }
    if let Some(answer) = other {
        return answer;
    }
    // The session may be in a gym that has not registered yet, or is down for a moment. After a 404
    // the client would give it up.
    let is_awaited = |server: &Arc<Server>| !server.state().is_up() && !*server.is_gone.borrow();
    if balancer.is_young() || balancer.pool.all().iter().any(is_awaited) {
        let error = format!(
            "session {session:?} is in no gym that answers yet, and some do not; ask again"
        );
        return refusal(StatusCode::SERVICE_UNAVAILABLE, &error);
    }
    let error =
        format!("there is no session {session:?} in any gym that answers; POST /reset begins one");
    refusal(StatusCode::NOT_FOUND, &error)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_is_awaited_while_gyms_may_come_back_with_it() {
        let mut balancer = Balancer::new("key".to_owned(), Duration::ZERO);
        let (head, ()) = Request::post("/step").body(()).unwrap().into_parts();
        let status =
            async |balancer: &Balancer| unknown(balancer, &head, Bytes::new(), "x").await.status();
        assert_eq!(status(&balancer).await, StatusCode::SERVICE_UNAVAILABLE);
        balancer.started =
            Instant::now().checked_sub(crate::balancer::join::REGISTERED_WITHIN).unwrap();
        assert_eq!(status(&balancer).await, StatusCode::NOT_FOUND);
        let (server, _) =
            balancer.pool.add(Server::new(&"http://127.0.0.1:1".parse().unwrap(), true).unwrap());
        assert_eq!(status(&balancer).await, StatusCode::SERVICE_UNAVAILABLE);
        server.is_gone.send_replace(true);
        assert_eq!(status(&balancer).await, StatusCode::NOT_FOUND);
    }
}
