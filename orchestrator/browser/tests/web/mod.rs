//! A web of the tests' own: one HTTP proxy that answers for every host, and the pages it knows.

#![allow(clippy::unwrap_used, dead_code)]

use std::{
    collections::HashMap,
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use hyper::{
    Request, Response,
    body::{Body, Bytes, Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::JoinHandle};

/// The pages by `host/path`, and what has been asked for.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Web {
    /// Serves `pages`; the type is told by the end of the path.
    pub(crate) async fn serve(pages: &[(&str, &str)]) -> Self {
        let pages: HashMap<String, String> =
            pages.iter().map(|&(place, body)| (place.to_owned(), body.to_owned())).collect();
        let (pages, log) = (Arc::new(pages), Arc::new(Mutex::new(Vec::new())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::clone(&log);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (pages, asked) = (Arc::clone(&pages), Arc::clone(&asked));
                let service = service_fn(move |request| {
                    let answer = answer(&request, &pages, &asked);
                    async move { Ok::<_, Infallible>(answer) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, log, task }
    }

    /// All requests so far, as `METHOD url`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A body in one piece, after which there may be silence.
struct Paged {
    text: Option<Bytes>,
    endless: bool,
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
            None if self.endless => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

fn answer(
    request: &Request<Incoming>,
    pages: &HashMap<String, String>,
    asked: &Mutex<Vec<String>>,
) -> Response<Paged> {
    asked.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
    let place = format!("{}{}", request.uri().host().unwrap_or_default(), request.uri().path());
    let body = pages.get(&place);
    let kind = match place.rsplit('.').next() {
        Some("js") => "text/javascript",
        // Begins and never ends.
        Some("stream") => "text/event-stream",
        Some("json") => "application/json",
        _ => "text/html; charset=utf-8",
    };
    let cookie = request.headers().get("cookie").map(|value| value.to_str().unwrap_or_default().to_owned());
    let text = body.map(|body| body.replace("%COOKIE%", &cookie.unwrap_or_default()));
    Response::builder()
        .status(if body.is_some() { 200 } else { 404 })
        .header("content-type", kind)
        .header("cache-control", "max-age=3600")
        .body(Paged {
            text: Some(Bytes::from(text.unwrap_or_default())),
            endless: place.ends_with(".stream"),
        })
        .unwrap()
}
