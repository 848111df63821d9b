//! What commands ask of a town, as HTTP with JSON over its socket.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use http::StatusCode;
use serde::Deserialize;
use sites::LoggedIn;
use tokio_util::sync::CancellationToken;

use crate::hall::Hall;
use crate::{Error, TownStatus};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) hall: Arc<Hall>,
    pub(crate) reset: String,
    pub(crate) stop: CancellationToken,
}

#[derive(Deserialize)]
struct Lines {
    lines: usize,
}

type Refusal = (StatusCode, String);

pub(crate) fn router(desk: Desk) -> Router {
    Router::new()
        .route("/status", get(status))
        .route("/reset/{site}", post(reset))
        .route("/logs/{site}", get(logs))
        .route("/logs/{site}/follow", get(follow))
        .route("/login/{site}/{account}", post(login))
        .route("/stop", post(stop))
        .with_state(desk)
}

fn refusal(error: Error) -> Refusal {
    match &error {
        Error::Sites(lack) if lack.is_gone() => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        _ => (StatusCode::CONFLICT, error.to_string()),
    }
}

async fn status(State(desk): State<Desk>) -> Json<TownStatus> {
    let sites = desk.hall.sites();
    let proxy = format!("http://{}", desk.hall.proxy());
    let engine = desk.hall.town.engine_problem().map(|problem| problem.to_string());
    Json(TownStatus { pid: std::process::id(), proxy, reset: desk.reset, engine, sites })
}

/// How long it took, in milliseconds.
async fn reset(State(desk): State<Desk>, Path(site): Path<String>) -> Result<Json<f64>, Refusal> {
    let took = desk.hall.reset(&site).await.map_err(refusal)?;
    Ok(Json(took.as_secs_f64() * 1000.0))
}

async fn logs(
    State(desk): State<Desk>,
    Path(site): Path<String>,
    Query(Lines { lines }): Query<Lines>,
) -> Result<Json<BTreeMap<u32, Vec<String>>>, Refusal> {
    let said = desk.hall.town.logs(&site, lines).await.map_err(|error| refusal(error.into()))?;
    Ok(Json(said.into_iter().collect()))
}

/// A line of JSON for each that a copy prints: its number and the line, as long as the town is up.
async fn follow(
    State(desk): State<Desk>,
    Path(site): Path<String>,
    Query(Lines { lines }): Query<Lines>,
) -> Result<Body, Refusal> {
    let heard = desk.hall.town.follow(&site, lines).map_err(|error| refusal(error.into()))?;
    let told = stream::unfold(heard, async |mut heard| {
        let line = heard.recv().await?;
        let told = serde_json::to_string(&line).map(|text| text + "\n");
        Some((told, heard))
    });
    Ok(Body::from_stream(told))
}

async fn login(
    State(desk): State<Desk>,
    Path((site, account)): Path<(String, String)>,
) -> Result<Json<LoggedIn>, Refusal> {
    desk.hall.login(&site, &account).await.map(Json).map_err(refusal)
}

async fn stop(State(desk): State<Desk>) -> StatusCode {
    desk.stop.cancel();
    StatusCode::ACCEPTED
}
