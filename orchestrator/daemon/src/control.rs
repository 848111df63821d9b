//! The daemon's control API: HTTP with JSON over its Unix socket.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use camino::Utf8PathBuf;
use futures_util::stream;
use http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use sites::{LoginSession, Site};
use tokio_util::sync::CancellationToken;

use crate::site_router::SiteRouter;
use crate::status::FORMAT;
use crate::{DaemonStatus, Error, Folder};

/// The state that the handlers share.
#[derive(Clone)]
pub(crate) struct ControlState {
    pub(crate) router: Arc<SiteRouter>,
    pub(crate) folder: Folder,
    pub(crate) manifests: Utf8PathBuf,
    pub(crate) certificate: Option<Utf8PathBuf>,
    pub(crate) reset: String,
    pub(crate) warnings: Arc<Mutex<Vec<String>>>,
    pub(crate) stop: CancellationToken,
}

#[derive(Deserialize)]
struct Lines {
    lines: usize,
}

type Refusal = (StatusCode, String);

pub(crate) fn router(state: ControlState) -> Router {
    Router::new()
        .route("/status", get(status))
        .route("/add", post(add))
        .route("/reset/{site}", post(reset))
        .route("/logs/{site}", get(logs))
        .route("/logs/{site}/follow", get(follow))
        .route("/login/{site}/{account}", post(login))
        .route("/stop", post(stop))
        .with_state(state)
}

fn refusal(error: Error) -> Refusal {
    match &error {
        Error::Sites(lack) if lack.is_gone() => {
            (StatusCode::SERVICE_UNAVAILABLE, error.to_string())
        }
        _ => (StatusCode::CONFLICT, error.to_string()),
    }
}

async fn status(State(state): State<ControlState>) -> Json<DaemonStatus> {
    let sites = state.router.sites();
    let proxy = state.router.proxy().unwrap_or_default();
    let engine = state.router.group.engine_problem().map(|problem| problem.to_string());
    let warnings = state.warnings.lock().clone();
    let (direct, instances) = (state.router.direct(), state.router.settings.instances);
    let ControlState { reset, certificate, manifests, .. } = state;
    let manifests = Some(manifests);
    let (format, pid) = (FORMAT, std::process::id());
    Json(DaemonStatus {
        format,
        pid,
        proxy,
        reset,
        engine,
        certificate,
        manifests,
        direct,
        instances,
        warnings,
        sites,
    })
}

/// Adds the sites with these names. The client need not wait for the result.
async fn add(
    State(state): State<ControlState>,
    Json(names): Json<Vec<String>>,
) -> Result<(), Refusal> {
    let added = tokio::spawn(async move {
        let sites = chosen(&state, &names)?;
        if sites.iter().any(|site| site.driver.container().is_some()) {
            state.folder.note_containers()?;
        }
        state.router.add(sites).await
    });
    let added = added.await.unwrap_or_else(|error| Err(Error::Talk(error.to_string())));
    added.map_err(refusal)
}

fn chosen(state: &ControlState, names: &[String]) -> Result<Vec<Site>, Error> {
    let all = Site::load_all(&state.manifests);
    let mut sites = all.map_err(|error| Error::Refused(format!("read the sites: {error}")))?;
    sites.retain(|site| names.contains(&site.name));
    // The gateway reads certificate authorities only when it starts.
    match sites.iter().find(|site| site.authority_file().is_some()) {
        Some(site) => Err(Error::Refused(format!(
            "add {}: its `authority` is read only when the sites start; end them with `sandbox down`, then \
             name it with the others to `sandbox up`",
            site.name
        ))),
        None => Ok(sites),
    }
}

/// Returns the duration of the reset in milliseconds.
async fn reset(
    State(state): State<ControlState>,
    Path(site): Path<String>,
) -> Result<Json<f64>, Refusal> {
    let took = state.router.reset(&site).await.map_err(refusal)?;
    Ok(Json(took.as_secs_f64() * 1000.0))
}

async fn logs(
    State(state): State<ControlState>,
    Path(site): Path<String>,
    Query(Lines { lines }): Query<Lines>,
) -> Result<Json<BTreeMap<u32, Vec<String>>>, Refusal> {
    let said =
        state.router.group.logs(&site, lines).await.map_err(|error| refusal(error.into()))?;
    Ok(Json(said.into_iter().collect()))
}

/// Streams one JSON line for each output line of an instance: the instance's number and the line.
/// Ends with the daemon.
async fn follow(
    State(state): State<ControlState>,
    Path(site): Path<String>,
    Query(Lines { lines }): Query<Lines>,
) -> Result<Body, Refusal> {
    let heard = state.router.group.follow(&site, lines).map_err(|error| refusal(error.into()))?;
    let body = stream::unfold(heard, async |mut heard| {
        let line = heard.recv().await?;
        let line = serde_json::to_string(&line).map(|text| text + "\n");
        Some((line, heard))
    });
    Ok(Body::from_stream(body))
}

async fn login(
    State(state): State<ControlState>,
    Path((site, account)): Path<(String, String)>,
) -> Result<Json<LoginSession>, Refusal> {
    state.router.login(&site, &account).await.map(Json).map_err(refusal)
}

async fn stop(State(state): State<ControlState>) -> StatusCode {
    state.stop.cancel();
    StatusCode::ACCEPTED
}
