//! The HTTP interface: that of a gym, and the list of gyms.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use guard::Guard;
use gym_protocol::{EPISODE, NO_WAIT, OPEN, PREFER, SESSION, preferred_wait};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::pool::NoPlace;
use crate::server::Lease;
use crate::{Front, admin, forward, metrics};

/// Maximum size of a request whose session is read from its body: that of a gym.
const BODY_LIMIT: usize = 1 << 20;

pub(crate) fn router(front: Arc<Front>, at: SocketAddr) -> Router {
    let router = Router::new()
        .route("/metrics", get(metrics::answer))
        .route("/servers", admin::routes())
        .fallback(pass_on)
        .with_state(front);
    Guard::new(at).before(router, |refused| refusal(StatusCode::FORBIDDEN, &refused.to_string()))
}

/// An error in the form of a gym.
pub(crate) fn refusal(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error, "info": { "result": null } }))).into_response()
}

async fn pass_on(State(front): State<Arc<Front>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    if forward::is_upgrade(&head.headers)
        && let Some(client) = forward::client_half(&mut head)
    {
        return web_socket(&front, &head, client).await;
    }
    if head.method != Method::POST {
        return anywhere(&front, &head, body).await;
    }
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        let error = format!("the request is larger than {BODY_LIMIT} bytes, or broke off");
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, &error);
    };
    let started = Instant::now();
    match (head.uri.path(), session_of(&body)) {
        ("/reset", _) => reset(&front, &mut head, body).await,
        (path, Some(session)) => {
            let is_step = path == "/step";
            let answer = in_session(&front, &head, body, &session).await;
            if is_step && answer.status().is_success() {
                front.counts.step(started.elapsed());
            }
            answer
        }
        _ => anywhere(&front, &head, body.into()).await,
    }
}

/// The session that a request names in its body.
fn session_of(body: &Bytes) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        session: String,
    }
    serde_json::from_slice(body).ok().map(|Named { session }| session)
}

/// A request that any gym can answer.
async fn anywhere(front: &Front, head: &Parts, body: Body) -> Response {
    let Some(server) = front.pool.least_busy() else {
        return no_place(front, &NoPlace::NoServer, front.place_within);
    };
    match front.upstream.send(&server, head, body).await {
        Ok(answer) => answer,
        Err(why) => {
            server.fell(&why);
            front.counts.error("unanswered");
            let error =
                format!("the gym at {} does not answer ({why}); ask again, and another may", server.url);
            refusal(StatusCode::BAD_GATEWAY, &error)
        }
    }
}

/// Begins a session in the least busy gym. A gym that is full all the same, or does not answer, is
/// passed over: without an answer nobody has the session.
async fn reset(front: &Front, head: &mut Parts, body: Bytes) -> Response {
    let within =
        preferred_wait(&head.headers).map_or(front.place_within, |wait| wait.min(front.place_within));
    let until = tokio::time::Instant::now() + within;
    head.headers.insert(PREFER, HeaderValue::from_static(NO_WAIT));
    let _waits = front.counts.wait();
    loop {
        let lease = match front.pool.lease(until).await {
            Ok(lease) => lease,
            Err(why) => return no_place(front, &why, within),
        };
        match front.upstream.send(&lease.server, head, body.clone().into()).await {
            Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => lease.end().is_full(),
            Ok(answer) => {
                begun(front, &answer, lease);
                return answer;
            }
            Err(why) => lease.end().fell(&why),
        }
    }
}

fn begun(front: &Front, answer: &Response, lease: Lease) {
    let text = |name: HeaderName| answer.headers().get(name).and_then(|value| value.to_str().ok());
    if let (Some(id), Some(OPEN)) = (text(SESSION), text(EPISODE)) {
        front.counts.session();
        front.sessions.open(id, lease);
    }
}

fn no_place(front: &Front, why: &NoPlace, waited: Duration) -> Response {
    let (kind, error) = match why {
        NoPlace::Full => {
            let waited = waited.as_secs_f64();
            let error = format!(
                "no slot became free within {waited} s; close sessions that are done, or register more gyms"
            );
            ("full", error)
        }
        NoPlace::NoServer => {
            let error = format!("no gym answers ({}); start one with --join", front.pool.complaints());
            ("no_server", error)
        }
        NoPlace::Closing => ("closing", "the front is closing, and begins no more sessions".to_owned()),
    };
    front.counts.error(kind);
    refusal(StatusCode::SERVICE_UNAVAILABLE, &error)
}

/// A request of a session, for the gym that has it.
async fn in_session(front: &Front, head: &Parts, body: Bytes, session: &str) -> Response {
    let Some(server) = front.sessions.find(session) else {
        return unknown(front, head, body, session).await;
    };
    match front.upstream.send(&server, head, body.into()).await {
        Ok(answer) => {
            if !goes_on(&answer) {
                front.sessions.end(session);
            }
            answer
        }
        Err(why) => {
            server.fell(&why);
            front.counts.error("session_lost");
            // It is told once as a failure. After that, the session is known to have ended.
            let status = if front.sessions.end(session) {
                front.counts.lose();
                StatusCode::BAD_GATEWAY
            } else {
                StatusCode::GONE
            };
            let error = format!(
                "session {session} is in the gym at {}, which does not answer ({why}); if it has ended, so has the episode: \
                 POST /reset begins another",
                server.url
            );
            refusal(status, &error)
        }
    }
}

/// Whether a session goes on after this answer.
fn goes_on(answer: &Response) -> bool {
    answer.headers().get(EPISODE).is_none_or(|state| state == OPEN)
}

/// A session that was begun before this front, or long ago: the gym that has it is the one that
/// knows it.
async fn unknown(front: &Front, head: &Parts, body: Bytes, session: &str) -> Response {
    for server in front.pool.all().into_iter().filter(|server| server.state().is_up()) {
        match front.upstream.send(&server, head, body.clone().into()).await {
            Ok(answer) if answer.status() == StatusCode::NOT_FOUND => {}
            Ok(answer) => {
                if goes_on(&answer) {
                    front.sessions.open(session, front.pool.adopt(&server));
                }
                return answer;
            }
            Err(why) => server.fell(&why),
        }
    }
    let error = format!("there is no session {session:?} in any gym that answers; POST /reset begins one");
    refusal(StatusCode::NOT_FOUND, &error)
}

/// A WebSocket is a session of its own, in the least busy gym.
async fn web_socket(front: &Front, head: &Parts, client: hyper::upgrade::OnUpgrade) -> Response {
    let until = tokio::time::Instant::now() + front.place_within;
    let _waits = front.counts.wait();
    loop {
        let lease = match front.pool.lease(until).await {
            Ok(lease) => lease,
            Err(why) => return no_place(front, &why, front.place_within),
        };
        match front.upstream.upgrade(&lease.server, head).await {
            Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => lease.end().is_full(),
            Ok(mut answer) => {
                if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
                    front.counts.session();
                    forward::open_tunnel(client, &mut answer, lease);
                }
                return answer;
            }
            Err(why) => lease.end().fell(&why),
        }
    }
}
