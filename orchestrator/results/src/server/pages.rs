//! Renders a run's pages on request from the current files.

use ::files::below;
use axum::response::{IntoResponse, Response};
use camino::{Utf8Path, Utf8PathBuf};
use http::{StatusCode, header};

use super::nothing;
use crate::stored::RunFolder;
use crate::{Error, report, viewer};

/// The report.
pub(super) async fn report(run: &Utf8Path) -> Response {
    drawn(run, |folder| report::draw(&folder)).await
}

/// The list of episodes.
pub(super) async fn episodes(run: &Utf8Path) -> Response {
    drawn(run, |folder| viewer::draw_list(&folder.run()?, &folder.episodes()?)).await
}

/// One episode, by the name of its folder; with links to recorded exchanges where they are served.
pub(super) async fn episode(run: &Utf8Path, name: &str, recorded: bool) -> Response {
    if below::folder(run, &format!("episodes/{name}")).is_err() {
        return nothing();
    }
    let name = name.to_owned();
    drawn(run, move |folder| {
        let record = folder.record_named(&name)?;
        viewer::draw_one(&folder.run()?, &record, &folder.episode(&record.id()), recorded)
    })
    .await
}

/// Renders a page on a blocking thread, because it reads files.
async fn drawn(
    run: &Utf8Path,
    draw: impl FnOnce(RunFolder) -> Result<String, Error> + Send + 'static,
) -> Response {
    // In a run from elsewhere, the folder of episodes may be a link.
    if below::folder(run, "episodes").is_err() {
        return nothing();
    }
    let run: Utf8PathBuf = run.to_owned();
    let page = tokio::task::spawn_blocking(move || draw(RunFolder::open(&run)?)).await;
    match page {
        Ok(Ok(html)) => page_of(html),
        Ok(Err(error)) => failed(&format!("failed to {}", error_text::with_causes(&error))),
        Err(_) => failed("failed to draw the page: it was broken off"),
    }
}

fn page_of(html: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        // The page itself has the rest of the policy; these directives work only in headers.
        (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'; base-uri 'none'"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, html).into_response()
}

fn failed(why: &str) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")).into_response()
}
