//! A site that serves a folder of files, read-only.
//!
//! The files are listed once, when the folder is opened. A request names one of them or gets a 404.
//! Each is opened by its place below the folder's handle, so nothing leads out of the folder, even
//! if somebody puts a link there later. Symbolic links are left out.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware::{map_request, map_response};
use camino::{Utf8Path, Utf8PathBuf};
use files::below;
use percent_encoding::percent_decode_str;
use tower::ServiceExt as _;
use tower_http::services::ServeFile;

use crate::web::{http_date, plain};
use crate::{Clock, Error};

/// The file that a folder's URL shows.
const INDEX: &str = "index.html";

/// The files of a folder by URL path, such as `/pages/one.html`.
#[derive(Debug, Clone)]
pub struct Files(Arc<Listed>);

#[derive(Debug)]
struct Listed {
    folder: File,
    /// Paths with a leading `/`.
    files: HashSet<String>,
}

impl Files {
    /// Lists a folder recursively. Leaves out symbolic links, and names that are not UTF-8, because
    /// no request can name them.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn open(folder: &Path) -> Result<Files, Error> {
        let unreadable = |source| Error::Folder { path: folder.to_owned(), source };
        let opened = File::open(folder).map_err(unreadable)?;
        let mut files = HashSet::new();
        list(folder, "", &mut files)?;
        Ok(Files(Arc::new(Listed { folder: opened, files })))
    }

    /// The site's router. It answers `GET` and `HEAD`, with ranges. The file extension gives the
    /// content type. The host name does not matter.
    pub fn router(&self, clock: Clock) -> Router {
        let files = self.clone();
        Router::new().fallback(move |request: Request| async move {
            let mut response = files.answer(request).await;
            // Pages must not see when the files were unpacked.
            response.headers_mut().remove(header::LAST_MODIFIED);
            if let Some(date) = http_date(clock.now().as_second()) {
                response.headers_mut().insert(header::DATE, date);
            }
            response
        })
    }

    /// As [`router`](Self::router), with a folder for each host: `https://cdn.test/a.js` is the
    /// file `cdn.test/a.js`. Pages of any origin may use the files, as with real CDNs.
    pub fn router_by_host(&self, clock: Clock) -> Router {
        self.router(clock).layer(map_request(below_host)).layer(map_response(
            |mut response: Response<Body>| async {
                response
                    .headers_mut()
                    .insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
                response
            },
        ))
    }

    async fn answer(&self, request: Request) -> Response<Body> {
        let Ok(path) = percent_decode_str(request.uri().path()).decode_utf8() else {
            return plain(StatusCode::NOT_FOUND, "404 Not Found");
        };
        let index =
            if path.ends_with('/') { format!("{path}{INDEX}") } else { format!("{path}/{INDEX}") };
        let files = &self.0.files;
        let name = match files.contains(&*path) {
            true => &*path,
            false if path.ends_with('/') && files.contains(&index) => &*index,
            false if !path.ends_with('/') && files.contains(&index) => {
                return with_slash(request.uri().path());
            }
            false => return plain(StatusCode::NOT_FOUND, "404 Not Found"),
        };
        let folder = by_handle(&self.0.folder);
        let Ok(file) = below::file(&folder, name.trim_start_matches('/')) else {
            return plain(StatusCode::NOT_FOUND, "404 Not Found");
        };
        let kind = mime_guess::from_path(name).first_or_octet_stream();
        // The handle lives until the service has opened it anew.
        match ServeFile::new_with_mime(by_handle(&file), &kind).oneshot(request).await {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        }
    }
}

/// A path to what a handle has open, whatever its own path leads to by now.
fn by_handle(handle: &File) -> Utf8PathBuf {
    Utf8Path::new("/proc/self/fd").join(handle.as_raw_fd().to_string())
}

/// Puts the request's host in front of its path.
async fn below_host(mut request: Request) -> Request {
    let named =
        request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = named.split(':').next().unwrap_or_default().to_ascii_lowercase();
    // An invalid path matches no file.
    let path = format!("/{name}{}", request.uri().path());
    *request.uri_mut() = path.parse().unwrap_or_default();
    request
}

/// Redirects to a folder's URL with a slash, so that relative links work.
fn with_slash(path: &str) -> Response<Body> {
    let mut response = plain(StatusCode::MOVED_PERMANENTLY, "301 Moved Permanently");
    // Adds `./` in front, so that the first part of a relative URL cannot be read as a host.
    let name = path.rsplit('/').next().unwrap_or_default();
    match HeaderValue::from_str(&format!("./{name}/")) {
        Ok(place) => response.headers_mut().insert(header::LOCATION, place),
        Err(_) => return plain(StatusCode::NOT_FOUND, "404 Not Found"),
    };
    response
}

fn list(folder: &Path, address: &str, files: &mut HashSet<String>) -> Result<(), Error> {
    let unreadable = |source| Error::Folder { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // The type of the entry itself: a link is neither a folder nor a file.
        let kind = entry.file_type().map_err(unreadable)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let address = format!("{address}/{name}");
        if kind.is_dir() {
            list(&entry.path(), &address, files)?;
        } else if kind.is_file() {
            files.insert(address);
        }
    }
    Ok(())
}
