//! The common part of the doors for other programs: an HTTP server on the loopback, and a check of
//! its clients.
//!
//! Loopback is no boundary: every program and every user of a machine reaches it, and so do web
//! pages in the user's own browser. So the path of a door's address begins with a key. A door in a
//! network namespace, where only the right client is, needs none.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use ::http::{HeaderMap, Request, Response, StatusCode, header};
use doors::{Kept, Key};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long to wait for free file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// How long a client may take for the head of a request, or be silent between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How many connections there may be. More of them wait until one has ended.
const MAX_CLIENTS: usize = 256;
/// The longest head of a request.
const MAX_HEAD: usize = 64 << 10;

pub(super) type HttpResponse = Response<Full<Bytes>>;
/// The status and the reason of a refused request.
pub(super) type Rejection = (StatusCode, String);
/// The background work of a server.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The place of a door.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The address on which it listens, as its clients see it.
    pub(super) address: SocketAddr,
    /// The beginning of the path; absent if nobody else reaches the door.
    pub(super) key: Option<Key>,
}

impl Place {
    /// The start of the paths: `127.0.0.1:PORT/KEY`.
    pub(super) fn root(&self) -> String {
        match &self.key {
            None => self.address.to_string(),
            Some(key) => format!("{}/{}", self.address, key.text()),
        }
    }

    /// The address for HTTP: `http://127.0.0.1:PORT/KEY`.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.root())
    }

    /// Lets a request in. Returns its path without the key.
    pub(super) fn admit<B>(&self, request: &Request<B>) -> Result<String, Rejection> {
        check_client(request.headers())?;
        let path = request.uri().path();
        let Some(right) = &self.key else { return Ok(path.to_owned()) };
        let (key, rest) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        if right.is(key.trim_start_matches('/').as_bytes()) {
            Ok(format!("/{rest}"))
        } else {
            let why = "the browser's address has a key in its path; use the whole address";
            Err((StatusCode::FORBIDDEN, why.to_owned()))
        }
    }
}

/// Refuses web pages. Pages in the user's own browser can send requests to the loopback, too. They
/// have an `Origin`, or a host name that they have pointed to the loopback.
fn check_client(headers: &HeaderMap) -> Result<(), Rejection> {
    let refused = |why: &str| Err((StatusCode::FORBIDDEN, why.to_owned()));
    if headers.contains_key(header::ORIGIN) {
        return refused("pages cannot drive the browser: the request has an `Origin`");
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = url::Url::parse(&format!("http://{host}/")).ok();
    match host.as_ref().and_then(url::Url::host) {
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_) | url::Host::Domain("localhost")) => Ok(()),
        _ => refused("the browser is driven at its address, 127.0.0.1, and by no other name"),
    }
}

/// Serves the clients of a listener, and owns all tasks, so that they end together with this.
/// `others` are tasks that come up meanwhile.
pub(super) async fn serve<F>(
    listener: TcpListener,
    answer: impl Fn(Request<Kept<Incoming>>) -> F + Clone + Send + Sync + 'static,
    mut others: mpsc::UnboundedReceiver<Task>,
) where
    F: Future<Output = HttpResponse> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if tasks.len() < MAX_CLIENTS => match accepted {
                Ok((stream, _)) => drop(tasks.spawn(serve_client(stream, answer.clone()))),
                Err(error) => {
                    tracing::debug!(%error, "a client's connection was not accepted");
                    // This timeout is the delay.
                    let _ = timeout(ACCEPT_RETRY, std::future::pending::<()>()).await;
                }
            },
            Some(task) = others.recv() => drop(tasks.spawn(task)),
            Some(_) = tasks.join_next() => {}
        }
    }
}

async fn serve_client<F>(stream: TcpStream, answer: impl Fn(Request<Kept<Incoming>>) -> F)
where
    F: Future<Output = HttpResponse>,
{
    // Messages are small, and each of them has somebody waiting.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let (request, mut rest) = doors::kept(request);
        let answer = answer(request);
        async move {
            let response = answer.await;
            rest.read().await;
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.with_upgrades().await {
        tracing::debug!(%error, "a client's connection was lost");
    }
}

/// A listener of the standard library, for the runtime.
pub(super) fn registered(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ::http::HeaderValue;

    use super::*;

    #[test]
    fn pages_are_no_programs() {
        let headers = |pairs: &[(header::HeaderName, &'static str)]| {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
                .collect()
        };
        for host in ["127.0.0.1:9222", "localhost:9222", "[::1]:9222", "localhost"] {
            assert_eq!(check_client(&headers(&[(header::HOST, host)])), Ok(()), "{host}");
        }
        for host in ["rebound.test:9222", "127.0.0.1.rebound.test", "", "localhost.test"] {
            assert!(check_client(&headers(&[(header::HOST, host)])).is_err(), "{host}");
        }
        let page = [(header::HOST, "127.0.0.1:9222"), (header::ORIGIN, "https://a.test")];
        assert!(check_client(&headers(&page)).is_err());
    }

    #[test]
    fn the_path_begins_with_the_key() {
        let place = |key: Option<&str>| Place {
            address: ([127, 0, 0, 1], 80).into(),
            key: key.map(Key::new),
        };
        let admitted = |place: &Place, path: &str| {
            place
                .admit(&Request::get(path).header(header::HOST, "127.0.0.1:80").body(()).unwrap())
                .ok()
        };
        let keyed = place(Some("k3y"));
        assert_eq!(keyed.url(), "http://127.0.0.1:80/k3y");
        for (path, rest) in [("/k3y", "/"), ("/k3y/", "/"), ("/k3y/a/b", "/a/b"), ("//k3y/a", "/a")]
        {
            assert_eq!(admitted(&keyed, path).as_deref(), Some(rest), "{path}");
        }
        for path in ["/", "/a", "/k3", "/k3y0/a", "/a/k3y", "/K3Y/a", "/k3%79/a"] {
            assert_eq!(admitted(&keyed, path), None, "{path}");
        }
        let open = place(None);
        assert_eq!(
            (open.url().as_str(), admitted(&open, "/a/b").as_deref()),
            ("http://127.0.0.1:80", Some("/a/b"))
        );
    }
}
