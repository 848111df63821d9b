//! A web for the tests: an HTTP proxy that answers for every host, and its pages.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The pages by `host/path`, and the requests.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    queue: Arc<watch::Sender<VecDeque<String>>>,
    task: JoinHandle<()>,
}

impl Web {
    /// Serves `pages`. The end of the path decides about the type.
    pub(crate) async fn serve(pages: &[(&str, &str)]) -> Self {
        let pages: HashMap<String, String> =
            pages.iter().map(|&(place, body)| (place.to_owned(), body.to_owned())).collect();
        let (pages, log) = (Arc::new(pages), Arc::new(Mutex::new(Vec::new())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::clone(&log);
        let queue = Arc::new(watch::Sender::new(VecDeque::new()));
        let order = Arc::clone(&queue);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (pages, requests) = (Arc::clone(&pages), Arc::clone(&requests));
                let order = Arc::clone(&order);
                let service = service_fn(move |request: Request<Incoming>| {
                    let answer = answer(&request, &pages, &requests);
                    let order = Arc::clone(&order);
                    async move {
                        turn(&order, request.uri().path()).await;
                        Ok::<_, Infallible>(answer)
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, log, queue, task }
    }

    /// From now on these paths are answered in this order, whatever the order of their requests.
    pub(crate) fn answer_in_order(&self, paths: &[&str]) {
        self.queue.send_replace(paths.iter().map(ToString::to_string).collect());
    }

    /// All requests so far, as `METHOD url`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

/// Waits until it is a path's turn.
async fn turn(queue: &watch::Sender<VecDeque<String>>, path: &str) {
    let comes = |queue: &VecDeque<String>| {
        queue.iter().position(|waiting| waiting == path).is_none_or(|before| before == 0)
    };
    queue.subscribe().wait_for(comes).await.unwrap();
    queue.send_if_modified(|queue| {
        let turn = queue.front().is_some_and(|first| first == path);
        turn && queue.pop_front().is_some()
    });
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A body in one piece, after which nothing may follow.
struct Paged {
    text: Option<Bytes>,
    endless: bool,
    /// The body that is repeated, instead of an empty one.
    again: Option<Bytes>,
}

impl Body for Paged {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.text.take() {
            Some(text) => Poll::Ready(Some(Ok(Frame::data(text)))),
            None if self.endless => match self.again.clone() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
                None => Poll::Pending,
            },
            None => Poll::Ready(None),
        }
    }
}

fn answer(
    request: &Request<Incoming>,
    pages: &HashMap<String, String>,
    requests: &Mutex<Vec<String>>,
) -> Response<Paged> {
    requests.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
    // A proxy gets the host in the URL, a server in a header field.
    let host = request.headers().get("host").map(|host| host.to_str().unwrap()).unwrap_or_default();
    let place = format!("{}{}", request.uri().host().unwrap_or(host), request.uri().path());
    let body = pages.get(&place);
    let kind = match place.rsplit('.').next() {
        Some("js") => "text/javascript",
        // It begins and never ends.
        Some("stream") => "text/event-stream",
        Some("endless") => "application/x-ndjson",
        Some("json") => "application/json",
        // A browser saves what it cannot show.
        Some("zip") => "application/zip",
        _ => "text/html; charset=utf-8",
    };
    let header = |name: &str| {
        request.headers().get(name).map_or("", |value| value.to_str().unwrap_or_default())
    };
    let text = body.map(|body| {
        body.replace("%COOKIE%", header("cookie"))
            .replace("%LANGUAGE%", header("accept-language"))
            .replace("%AGENT%", header("user-agent"))
    });
    Response::builder()
        .status(if body.is_some() { 200 } else { 404 })
        .header("content-type", kind)
        .header("cache-control", "max-age=3600")
        .body(Paged {
            text: Some(Bytes::from(text.unwrap_or_default())),
            endless: [".stream", ".endless", "endless.zip"].iter().any(|end| place.ends_with(end)),
            again: place.ends_with("endless.zip").then(|| vec![b'x'; 1 << 20].into()),
        })
        .unwrap()
}
