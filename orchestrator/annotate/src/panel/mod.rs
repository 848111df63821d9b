//! The panel: a page on loopback in which the person writes the goal, mends the steps and marks key
//! nodes. It stands in the person's own browser, and not in the one under work.
//!
//! ```text
//! GET  /KEY/                 the page
//! GET  /KEY/view?since=N     what it shows, once that is newer than version N
//! GET  /KEY/picture/STEP     the picture of a step
//! POST /KEY/edit             a change
//! POST /KEY/undo, save, discard, start-over, play
//! ```
//!
//! *Invariants:* [`host_check`] refuses whoever does not have the key, and what pages of others
//! send. Texts of pages are only ever shown as text.

pub(crate) mod view;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host_check::{Guard, Key};
use http::{HeaderName, StatusCode, header};
use minijinja::{Environment, context};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::Error;
use crate::draft::edit::Edit;
use crate::workbench::{PanelCommand, Workbench};

/// How long a page waits for something new.
const WAIT: Duration = Duration::from_secs(25);

const STYLE: &str =
    concat!(include_str!("../../../results/src/html/base.css"), include_str!("panel.css"));
const SCRIPT: &str = include_str!("panel.js");

/// The panel of a workbench. It serves as long as it is not dropped.
#[derive(Debug)]
pub struct Panel {
    url: String,
    serving: AbortHandle,
}

impl Drop for Panel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Panel {
    /// Serves the panel at a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port is free, or the page cannot be made.
    pub(crate) async fn open(workbench: Arc<Workbench>) -> Result<Panel, Error> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(address, Key::random()).without_key_at("/favicon.ico");
        let url = format!("{}/", guard.url());
        let router = router(workbench, page()?, guard);
        let serving = tokio::spawn(async move {
            host_check::serve(listener, router, std::future::pending()).await;
        });
        Ok(Panel { url, serving: serving.abort_handle() })
    }

    /// Returns the address of the panel, with its key.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The page, which has everything that it needs inside.
fn page() -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.add_template("panel.html", include_str!("panel.html"))?;
    let page = environment.get_template("panel.html")?.render(context! {
        style => STYLE,
        script => SCRIPT,
    })?;
    Ok(page)
}

/// Nothing but the page's own script and style, and its own server.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; img-src 'self'; connect-src 'self'; style-src 'sha256-{}'; script-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn router(workbench: Arc<Workbench>, page: String, guard: Guard) -> Router {
    let policy = policy();
    let shown = move || {
        let (page, policy) = (page.clone(), policy.clone());
        async move {
            let fields = [
                (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
                (header::CONTENT_SECURITY_POLICY, policy),
                (header::REFERRER_POLICY, "no-referrer".to_owned()),
                (header::CACHE_CONTROL, "no-store".to_owned()),
            ];
            (fields, page).into_response()
        }
    };
    let wish = |wish: PanelCommand| {
        post(async move |State(workbench): State<Arc<Workbench>>| {
            workbench.wish(wish);
            StatusCode::ACCEPTED
        })
    };
    let router = Router::new()
        // Browsers ask for it on their own.
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .route("/", get(shown))
        .route("/view", get(view))
        .route("/picture/{step}", get(picture))
        .route("/edit", post(edit))
        .route("/undo", post(undo))
        .route("/save", wish(PanelCommand::Save))
        .route("/discard", wish(PanelCommand::Discard))
        .route("/start-over", wish(PanelCommand::StartOver))
        .route("/play", wish(PanelCommand::Play))
        .with_state(workbench);
    guard.before(router, IntoResponse::into_response)
}

#[derive(Deserialize)]
struct SinceQuery {
    #[serde(default)]
    since: u64,
}

async fn view(
    State(workbench): State<Arc<Workbench>>,
    Query(SinceQuery { since }): Query<SinceQuery>,
) -> Response {
    let view = workbench.view(since, WAIT).await;
    ([(header::CACHE_CONTROL, "no-store")], axum::Json(view)).into_response()
}

async fn picture(State(workbench): State<Arc<Workbench>>, Path(step): Path<u32>) -> Response {
    const NO_SNIFFING: HeaderName = header::X_CONTENT_TYPE_OPTIONS;
    match workbench.picture(step) {
        Some(png) => {
            ([(header::CONTENT_TYPE, "image/png"), (NO_SNIFFING, "nosniff")], png).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn edit(State(workbench): State<Arc<Workbench>>, body: Bytes) -> Response {
    let edit: Edit = match serde_json::from_slice(&body) {
        Ok(edit) => edit,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    match workbench.edit(edit) {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(refusal)) => (StatusCode::CONFLICT, refusal).into_response(),
        Err(error) => failed(&error),
    }
}

async fn undo(State(workbench): State<Arc<Workbench>>) -> Response {
    match workbench.undo() {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &Error) -> Response {
    let text = format!("failed to {}", error_text::with_causes(error));
    (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
}
