//! Serves the files of a run unchanged, in chunks.
//!
//! A downloaded file may be a page with scripts, which would run in our origin. So only images and
//! texts of the run are shown. The browser saves all other files, and no file may run scripts.

use ::files::below;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use camino::{Utf8Path, Utf8PathBuf};
use http::{HeaderName, HeaderValue, header};
use tokio_util::io::ReaderStream;

use super::nothing;

/// Files for the owner of the run only, because they may contain log-ins. Other users of the
/// machine can reach loopback, too.
const SECRET: [&str; 2] = ["storage_state.json", "network.har"];

/// Number of bytes read at a time.
const PIECE: usize = 64 << 10;

/// The response with a file's content.
pub(super) async fn file(run: &Utf8Path, names: &[&str]) -> Response {
    let name = names.last().copied().unwrap_or_default();
    if SECRET.contains(&name) {
        return nothing();
    }
    let (run, path) =
        (run.to_owned(), names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let opened = tokio::task::spawn_blocking(move || opened(&run, &path)).await;
    let Ok(Ok((file, size))) = opened else { return nothing() };
    // Four names lead to a download, which browsers have to save: it may be a page with scripts.
    let kind = if names.len() == 4 { None } else { kind(name) };
    let body =
        Body::from_stream(ReaderStream::with_capacity(tokio::fs::File::from_std(file), PIECE));
    let mut answer = (headers(kind), body).into_response();
    answer.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    answer
}

fn opened(run: &Utf8PathBuf, names: &[String]) -> std::io::Result<(std::fs::File, u64)> {
    let file = below::file(run, &names.join("/"))?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

/// The content type of a file that browsers may show. `None` if they must save it.
fn kind(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        "json" | "jsonl" | "txt" => Some("text/plain; charset=utf-8"),
        _ => None,
    }
}

pub(super) fn headers(kind: Option<&'static str>) -> [(HeaderName, HeaderValue); 5] {
    let disposition = if kind.is_some() { "inline" } else { "attachment" };
    [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(kind.unwrap_or("application/octet-stream")),
        ),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ]
}
