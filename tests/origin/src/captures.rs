//! Recordings of other webs, served under their own hosts as if they were live.

use std::collections::BTreeSet;
use std::convert::Infallible;

use camino::Utf8PathBuf;
use gateway::{Episode, Replay, ReplayOptions, RequestHead, Scheme};
use http::{Response, StatusCode, Version, header, request};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use snapshots::index::ReplaySet;

use crate::Error;

/// The recordings, opened. Requests that they lack are answered with status 404.
#[derive(Debug)]
pub(crate) struct Captures {
    replay: Replay,
    hosts: BTreeSet<String>,
}

impl Captures {
    pub(crate) fn open(files: &[Utf8PathBuf]) -> Result<Captures, Error> {
        let set = ReplaySet::open(files, None, &mut |_, _| {}).map_err(Error::Captures)?;
        let hosts = set.hosts().map_err(Error::Captures)?;
        // No certificate can name anything else.
        let is_name = |host: &String| {
            host.contains('.')
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
        };
        let options =
            ReplayOptions { announce: false, list_nearest: false, ..ReplayOptions::default() };
        Ok(Captures {
            replay: Replay::new(set, options),
            hosts: hosts.into_iter().filter(is_name).collect(),
        })
    }

    /// Their hosts.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(String::as_str)
    }

    /// The recorded response; `None` for a host of no recording.
    pub(crate) async fn answer(
        &self,
        request: &request::Parts,
        body: &Bytes,
        secure: bool,
    ) -> Option<Response<BoxBody<Bytes, Infallible>>> {
        let named = request.headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let authority = request.uri.authority().map(|authority| authority.as_str()).or(named)?;
        let host =
            authority.rsplit_once(':').map_or(authority, |(host, _)| host).to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            return None;
        }
        let scheme = if secure { Scheme::Https } else { Scheme::Http };
        let path = request.uri.path_and_query().map_or("/", |path| path.as_str());
        let head = RequestHead {
            method: request.method.clone(),
            url: format!("{}://{host}{path}", scheme.as_str()),
            scheme,
            port: scheme.default_port(),
            host,
            version: Version::HTTP_11,
            headers: request.headers.clone(),
        };
        let reply = self.replay.answer(&head, body, &Episode::new());
        let mut response = match reply.body.collect().await {
            Ok(body) => Response::new(Full::new(body.to_bytes()).boxed()),
            Err(_) => return Some(empty(StatusCode::BAD_GATEWAY)),
        };
        *response.status_mut() = reply.status;
        *response.headers_mut() = reply.headers;
        // The body is whole now, and the connection frames it.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        Some(response)
    }
}

fn empty(status: StatusCode) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = status;
    response
}
