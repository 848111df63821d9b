//! The HTTP interface of a gym. Bodies are JSON. Errors are objects with `error`, which says what
//! to do.

use std::sync::Arc;
use std::time::Instant;

use agents::Reply;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use browser::{ObservationOptions, ScreenshotOptions};
use host_check::Guard;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use play::{Environment, blocking};
use results::{EpisodeRecord, Outcome};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::client::{EpisodeEnd, SPEECH, StepOutcome, StepRequest};
use super::metrics::CONTENT_TYPE;
use super::observation::ObservationSettings;
use super::session::Session;
use super::state::{CLOSING, GymServer, NoSession, StartedSession};
use crate::protocol::{ENDED, EPISODE, OPEN, SESSION, preferred_wait};

/// Maximum size of a request.
const BODY_LIMIT: usize = 1 << 20;
/// The path for health checks. Its answer has no content, and needs no key.
const HEALTH: &str = "/health";

/// An error answer.
struct Refusal {
    status: StatusCode,
    error: String,
    /// The result of the episode, if it has ended.
    result: Option<Box<EpisodeRecord>>,
}

type Answer = Result<Json<Value>, Refusal>;
type Rooms<E> = State<Arc<GymServer<E>>>;

fn refusal(status: StatusCode, error: impl Into<String>) -> Refusal {
    Refusal { status, error: error.into(), result: None }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.error, "info": { "result": self.result } });
        (self.status, Json(body)).into_response()
    }
}

pub(super) fn router<E: Environment>(server: Arc<GymServer<E>>, guard: Guard) -> Router {
    let router = Router::new()
        .route("/tasks", get(tasks::<E>))
        .route("/metrics", get(metrics::<E>))
        .route("/reset", post(reset::<E>))
        .route("/step", post(step::<E>))
        .route("/close", post(close::<E>))
        .route(HEALTH, get(async || StatusCode::NO_CONTENT))
        .fallback(|| async {
            refusal(
                StatusCode::NOT_FOUND,
                "there is GET /tasks and /metrics, and POST /reset, /step and /close",
            )
        })
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(server.clone());
    guard
        .without_key_at(HEALTH)
        .before(router, shut)
        // Outermost, so that what the guard refuses counts, too.
        .layer(middleware::from_fn_with_state(server, count_errors::<E>))
}

async fn count_errors<E: Environment>(
    State(server): Rooms<E>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    server.metrics.answer(response.status());
    response
}

/// Returns the answer for clients without the key, and for web pages of the user's own browser.
fn shut(refused: host_check::Refusal) -> Response {
    refusal(refused.status(), refused.to_string()).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    task: String,
    /// The number of the attempt. Defaults to the next one.
    repeat: Option<u32>,
    /// Accepted because Gymnasium's environments have it. It has no effect: all attempts begin
    /// alike.
    #[serde(default, rename = "seed")]
    _seed: Option<u64>,
    /// Additional observation formats besides BrowserGym's.
    observe: Option<ObservationOptions>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    session: String,
    action: String,
    /// The agent's reason.
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Close {
    session: String,
}

fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Refusal> {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        let error =
            format!("the request's content-type is {kind:?}; send JSON, as application/json");
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    serde_json::from_slice(body).map_err(|error| {
        refusal(StatusCode::BAD_REQUEST, format!("the request cannot be read: {error}"))
    })
}

async fn tasks<E: Environment>(State(server): Rooms<E>) -> Json<Value> {
    let task = |task: &tasks::Task| {
        json!({
            "id": task.id, "goal": task.goal.to_string(), "start_url": task.start_url, "max_steps": task.max_steps,
            "sites": task.sites, "tags": task.tags,
        })
    };
    let world = &server.suite.world;
    Json(json!({
        "suite": server.suite.name, "clock": world.clock, "seed": world.seed,
        "tasks": server.tasks.iter().map(task).collect::<Vec<_>>(),
    }))
}

async fn metrics<E: Environment>(State(server): Rooms<E>) -> Response {
    let text = blocking(move || server.metrics.text(server.load())).await;
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}

/// Names the session of an answer, and whether its episode goes on, for programs that pass requests
/// on and do not read bodies.
fn in_session<E: Environment>(server: &GymServer<E>, session: &str, answer: Answer) -> Response {
    let found = server.sessions.find(session);
    // A client may ask for any text. Only an id is repeated, also of what has just been closed.
    let is_own = answer.is_ok() || found.is_some();
    let mut response = answer.into_response();
    let is_open = matches!(found, Some(Session::Open(_)));
    let state = HeaderValue::from_static(if is_open { OPEN } else { ENDED });
    response.headers_mut().insert(EPISODE, state);
    if let (true, Ok(session)) = (is_own, HeaderValue::from_str(session)) {
        response.headers_mut().insert(SESSION, session);
    }
    response
}

async fn reset<E: Environment>(
    State(server): Rooms<E>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let since = Instant::now();
    let Reset { task: id, repeat, observe, .. } = read(&headers, &body)?;
    let Some(task) = server.tasks.iter().find(|task| task.id == id) else {
        let meant =
            suggestions::did_you_mean(&id, server.tasks.iter().map(|task| task.id.as_str()));
        let error = format!("there is no task {id:?} here{meant}; GET /tasks lists the tasks");
        return Err(refusal(StatusCode::NOT_FOUND, error));
    };
    if repeat == Some(0) {
        return Err(refusal(StatusCode::BAD_REQUEST, "repeat is 0; attempts are counted from 1"));
    }
    let wants_pictures =
        observe.as_ref().is_some_and(|observe| observe.screenshot != ScreenshotOptions::default());
    if wants_pictures && !server.options.screenshots {
        return Err(refusal(
            StatusCode::BAD_REQUEST,
            "this gym takes no screenshots; do not ask for them",
        ));
    }
    let observing = ObservationSettings::new(task.world(&server.suite.world).clock, observe);
    let place_within = server.settings.place_within;
    let within = preferred_wait(&headers).map_or(place_within, |wait| wait.min(place_within));
    let begun = server.begin(task, repeat, observing, within).await;
    let StartedSession { session, episode, first } = begun.map_err(no_session)?;
    let info = |score: Option<f64>| {
        json!({
            "task": task.id, "repeat": episode.repeat, "max_steps": task.max_steps, "seed": server.suite.world.seed,
            "score": score, "task_info": {},
        })
    };
    match first.await {
        Ok(StepOutcome::Seen(seen, score)) => {
            server.metrics.reset(since.elapsed());
            let answer = json!({ "session": session, "observation": &*seen, "info": info(score) });
            Ok(in_session(&server, &session, Ok(Json(answer))))
        }
        Ok(StepOutcome::EpisodeEnd(over)) => {
            let kind = over.record.outcome.kind();
            let error = match &over.record.outcome {
                Outcome::Error { message } | Outcome::AgentFailed { message, .. } => {
                    format!("{id} did not begin: {message}")
                }
                _ => format!("{id} was over before the first action: {kind}"),
            };
            Err(Refusal {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                error,
                result: Some(Box::new(over.record)),
            })
        }
        Ok(StepOutcome::Failed(error)) => Err(failed(&server, error)),
        Err(_) => Err(refusal(StatusCode::SERVICE_UNAVAILABLE, CLOSING)),
    }
}

fn no_session(why: NoSession) -> Refusal {
    match why {
        NoSession::Full(waited) => {
            let waited = waited.as_secs_f64();
            let error = format!(
                "no slot became free within {waited} s; close sessions that are done, or start the gym with more --workers"
            );
            refusal(StatusCode::SERVICE_UNAVAILABLE, error)
        }
        NoSession::Taken(id) => {
            let error = format!(
                "attempt {} at {} exists already; choose another, or omit `repeat` for the next",
                id.repeat, id.task
            );
            refusal(StatusCode::CONFLICT, error)
        }
        NoSession::Closing => refusal(StatusCode::SERVICE_UNAVAILABLE, CLOSING),
        NoSession::Results(error) => {
            let error = format!("failed to {}", error_text::with_causes(&error));
            refusal(StatusCode::INTERNAL_SERVER_ERROR, error)
        }
    }
}

fn failed<E: Environment>(server: &GymServer<E>, error: String) -> Refusal {
    let closing = server.interrupt.is_cancelled();
    let status =
        if closing { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR };
    refusal(status, error)
}

async fn step<E: Environment>(
    State(server): Rooms<E>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let since = Instant::now();
    let step: Step = read(&headers, &body)?;
    let session = step.session.clone();
    let answer = act(&server, step).await;
    if answer.is_ok() {
        server.metrics.step(since.elapsed());
    }
    Ok(in_session(&server, &session, answer))
}

async fn act<E: Environment>(server: &GymServer<E>, step: Step) -> Answer {
    let Step { session, action, reason } = step;
    let way = match server.sessions.find(&session) {
        Some(Session::Open(way)) => way,
        Some(Session::Ended(result)) => return Err(ended(&session, result)),
        None => return Err(unknown(&session)),
    };
    let Ok(way) = way.try_lock_owned() else {
        let error = format!("session {session} has a step in progress; wait for its answer");
        return Err(refusal(StatusCode::CONFLICT, error));
    };
    let (answer, turn) = oneshot::channel();
    let reply = SPEECH.read_reply(action, reason);
    if way.send(StepRequest { reply, answer }).await.is_err() {
        // The episode has just ended, for example because the client was silent.
        return Err(ended(&session, None));
    }
    match turn.await {
        Ok(StepOutcome::Seen(seen, score)) => Ok(Json(json!({
            "observation": &*seen, "reward": 0.0, "terminated": false, "truncated": false,
            "info": { "score": score, "task_info": {} },
        }))),
        Ok(StepOutcome::EpisodeEnd(over)) => last(*over),
        Ok(StepOutcome::Failed(error)) => Err(failed(server, error)),
        Err(_) => Err(ended(&session, None)),
    }
}

/// The answer to the last action. An unjudged score counts as 0, and `info` has no score.
fn last(over: EpisodeEnd) -> Answer {
    let EpisodeEnd { observation, record } = over;
    let truncated = match &record.outcome {
        Outcome::Answered | Outcome::Infeasible | Outcome::Stopped | Outcome::Done => false,
        Outcome::MaxSteps | Outcome::Stuck | Outcome::TimedOut => true,
        Outcome::Error { message } | Outcome::AgentFailed { message, .. } => {
            let (status, error) = (StatusCode::INTERNAL_SERVER_ERROR, message.clone());
            return Err(Refusal { status, error, result: Some(Box::new(record)) });
        }
    };
    Ok(Json(json!({
        "observation": observation, "reward": record.score.unwrap_or(0.0), "terminated": !truncated, "truncated": truncated,
        "info": { "score": record.score, "task_info": {}, "result": record },
    })))
}

async fn close<E: Environment>(
    State(server): Rooms<E>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let Close { session } = read(&headers, &body)?;
    let answer = stop(&server, &session).await;
    Ok(in_session(&server, &session, answer))
}

async fn stop<E: Environment>(server: &GymServer<E>, session: &str) -> Answer {
    let result = match server.sessions.find(session) {
        Some(Session::Ended(result)) => result,
        None => return Err(unknown(session)),
        Some(Session::Open(way)) => {
            // Wait for a step in progress.
            let way = way.lock_owned().await;
            let (answer, turn) = oneshot::channel();
            let reply = Reply::Stop { reason: None };
            let sent = way.send(StepRequest { reply, answer }).await;
            match (sent, turn.await) {
                (Ok(()), Ok(StepOutcome::EpisodeEnd(over))) => Some(Box::new(over.record)),
                (Ok(()), Ok(StepOutcome::Failed(error))) => return Err(failed(server, error)),
                // The episode has ended meanwhile.
                _ => match server.sessions.find(session) {
                    Some(Session::Ended(result)) => result,
                    _ => None,
                },
            }
        }
    };
    server.sessions.forget(session);
    Ok(Json(json!({ "result": result })))
}

fn unknown(session: &str) -> Refusal {
    let error = format!("there is no session {session:?} (any more); POST /reset begins one");
    refusal(StatusCode::NOT_FOUND, error)
}

fn ended(session: &str, result: Option<Box<EpisodeRecord>>) -> Refusal {
    let how = result.as_ref().map(|record| {
        let outcome = &record.outcome;
        format!(" ({})", outcome.failure().unwrap_or_else(|| outcome.kind()))
    });
    let error = format!(
        "session {session} has ended{}; POST /reset begins another",
        how.unwrap_or_default()
    );
    Refusal { status: StatusCode::GONE, error, result }
}
