//! An HTTP server for a run's report and episodes, for this machine only (`sandbox show`).
//!
//! ```text
//! GET /  /report.html                    the report             rendered on request
//! GET /trace.html                        the list of episodes   rendered on request
//! GET /episodes/<task>-<n>/trace.html    one episode            rendered on request
//! GET /run.json, /episodes/.../<file>    files in the run's folder
//! GET /episodes/.../requests/<seq>       a recorded exchange, with `show --suite`
//! ```
//!
//! *Invariants:* It writes nothing. It never serves files outside of the run's folder, even through
//! links, or files with secrets of the owner. It answers only those who have the key in its
//! address ([`host_check`]).

mod files;
mod pages;
pub mod recorded;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use camino::{Utf8Path, Utf8PathBuf};
use host_check::{Guard, Key};
use http::{Method, StatusCode, header};
use percent_encoding::percent_decode_str;
use snapshots::index::ReplaySet;
use tokio::net::TcpListener;

use crate::html::words::link;
use crate::stored::RunFolder;
use crate::{Error, viewer};

/// A run with a listening socket.
pub struct RunServer {
    run: Utf8PathBuf,
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
    snapshots: Option<Arc<ReplaySet>>,
}

/// The sources of the responses.
struct Shown {
    run: Utf8PathBuf,
    snapshots: Option<Arc<ReplaySet>>,
}

/// A page to open in a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page<'a> {
    /// The report.
    Report,
    /// The list of episodes.
    Episodes,
    /// One episode, by any name that [`viewer::find`] accepts.
    Episode(&'a str),
}

impl RunServer {
    /// Listens at this port of 127.0.0.1. Port 0 selects a free port.
    ///
    /// # Errors
    /// When the folder has no run, or the port is in use.
    pub async fn bind(run: &Utf8Path, port: u16) -> Result<RunServer, Error> {
        RunFolder::open(run)?.run()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(address, Key::random()).without_key_at("/favicon.ico");
        Ok(RunServer { run: run.to_owned(), listener, address, guard, snapshots: None })
    }

    /// The same, with links from requests to the exchanges in these snapshots.
    #[must_use]
    pub fn with_snapshots(self, snapshots: ReplaySet) -> RunServer {
        RunServer { snapshots: Some(Arc::new(snapshots)), ..self }
    }

    /// The listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a page.
    ///
    /// # Errors
    /// When the run has no such episode. The error names existing ones.
    pub fn url(&self, page: Page<'_>) -> Result<String, Error> {
        let path = match page {
            Page::Report => String::new(),
            Page::Episodes => viewer::NAME.to_owned(),
            Page::Episode(name) => {
                let folder = RunFolder::open(&self.run)?;
                let episodes = folder.episodes()?;
                let id = viewer::find(&folder, &episodes, name)?.id();
                link(&format!("episodes/{}/{}", id.folder_name(), viewer::NAME))
            }
        };
        Ok(format!("{}/{path}", self.guard.url()))
    }

    /// Serves requests until the future is dropped.
    pub async fn serve(self) {
        let router = router(Shown { run: self.run, snapshots: self.snapshots }, self.guard);
        host_check::serve(self.listener, router, std::future::pending()).await;
    }
}

fn router(shown: Shown, guard: Guard) -> Router {
    let router = Router::new().fallback(answer).with_state(Arc::new(shown));
    guard.before(router, IntoResponse::into_response)
}

async fn answer(State(shown): State<Arc<Shown>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let allowed = [(header::ALLOW, "GET, HEAD")];
        return (StatusCode::METHOD_NOT_ALLOWED, allowed, "this server only shows a run\n")
            .into_response();
    }
    let Some(parts) = parts(request.uri().path()) else { return nothing() };
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let run = &shown.run;
    match parts.as_slice() {
        [] | ["report.html"] => pages::report(run).await,
        ["trace.html"] => pages::episodes(run).await,
        ["episodes", episode, "trace.html"] => {
            pages::episode(run, episode, shown.snapshots.is_some()).await
        }
        ["episodes", episode, "requests", seq] => {
            let (Some(snapshots), Ok(seq)) = (shown.snapshots.clone(), seq.parse()) else {
                return nothing();
            };
            let (shown, episode) = (Arc::clone(&shown), (*episode).to_owned());
            let exchange = tokio::task::spawn_blocking(move || {
                recorded::exchange(&shown.run, &snapshots, &episode, seq)
            });
            exchange.await.unwrap_or_else(|_| nothing())
        }
        ["run.json"] | ["episodes", _, _] | ["episodes", _, "downloads", _] => {
            files::file(run, &parts).await
        }
        // Browsers request it on their own.
        ["favicon.ico"] => StatusCode::NO_CONTENT.into_response(),
        _ => nothing(),
    }
}

/// The names in a path. `None` if a name could lead elsewhere or is hidden.
fn parts(path: &str) -> Option<Vec<String>> {
    let names = path.strip_prefix('/')?;
    if names.is_empty() {
        return Some(Vec::new());
    }
    let name = |part: &str| {
        let name = percent_decode_str(part).decode_utf8().ok()?.into_owned();
        let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        is_plain.then_some(name)
    };
    names.split('/').map(name).collect()
}

fn nothing() -> Response {
    (StatusCode::NOT_FOUND, "there is no such page or file in this run; the report is at the address that `sandbox show` printed\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_names_that_lead_nowhere_else() {
        let names = |path| parts(path).map(|names| names.join(" | "));
        assert_eq!(names("/"), Some(String::new()));
        assert_eq!(
            names("/episodes/a%252E1-1/trace.html").unwrap(),
            "episodes | a%2E1-1 | trace.html"
        );
        for path in [
            "",
            "x",
            "//",
            "/a/",
            "/a//b",
            "/..",
            "/../x",
            "/a/../b",
            "/%2e%2e/x",
            "/a%2fb",
            "/..%2f..%2fx",
            "/.x",
            "/a/.x",
            "/a%00",
            "/%ff",
            "/./x",
        ] {
            assert_eq!(names(path), None, "{path}");
        }
    }
}
