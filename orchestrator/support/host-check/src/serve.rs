//! Serves a router with deadlines, so that a client that stalls holds nothing for long.
//!
//! ```text
//! head: of the first request from the connection on, of others from their first byte on
//! body: for each part, and for the whole
//! idle: between two requests
//! ```
//!
//! A response has no deadline: a log may be followed for days.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::serve::Listener;
use futures_util::task::AtomicWaker;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep_until};
use tower::ServiceExt as _;

/// How many connections a server has at a time. Each takes a descriptor, of which browsers need
/// many; others wait to be accepted.
const MOST_CONNECTIONS: usize = 2048;

/// The deadlines of a server.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// For the head of a request.
    pub head: Duration,
    /// For each part of a body.
    pub part: Duration,
    /// For a whole body.
    pub body: Duration,
    /// For the next request.
    pub idle: Duration,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        let seconds = Duration::from_secs;
        Deadlines { head: seconds(15), part: seconds(15), body: seconds(120), idle: seconds(600) }
    }
}

/// Serves requests until `until` is ready, and those under way to their end.
pub async fn serve<L: Listener>(listener: L, router: Router, until: impl Future<Output = ()>)
where
    L::Io: Unpin,
{
    serve_within(Deadlines::default(), listener, router, until).await;
}

/// As [`serve`], with other deadlines.
pub async fn serve_within<L: Listener>(
    deadlines: Deadlines,
    mut listener: L,
    router: Router,
    until: impl Future<Output = ()>,
) where
    L::Io: Unpin,
{
    let (stop, stopped) = watch::channel(false);
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    tokio::pin!(until);
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await.0, place)
        };
        let (io, place) = tokio::select! {
            () = &mut until => break,
            accepted = accepted => accepted,
        };
        let serving = connection(deadlines, io, router.clone(), stopped.clone());
        tokio::spawn(async move {
            serving.await;
            drop(place);
        });
    }
    drop((listener, stopped));
    stop.send_replace(true);
    // Every connection holds a receiver.
    stop.closed().await;
}

async fn connection<I>(deadlines: Deadlines, io: I, router: Router, stopped: watch::Receiver<bool>)
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let phase = Arc::new(Phase::default());
    let io = Timed::new(io, deadlines, phase.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        phase.now.store(SERVING, Ordering::Relaxed);
        let turn = Turn(phase.clone());
        let router = router.clone();
        async move {
            let request = request.map(|body| Arriving::new(Body::new(body), deadlines));
            let (request, mut rest) = doors::kept(request);
            let request = request.map(Body::new);
            let response: Response<Body> = match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            rest.read().await;
            Ok::<_, Infallible>(response.map(|body| Answering { body, _turn: turn }))
        }
    });
    let serving = http1::Builder::new().serve_connection(TokioIo::new(io), service).with_upgrades();
    let mut told = stopped.clone();
    let stopping = async move {
        // A server that is gone has stopped, too.
        let _ = told.wait_for(|is_stopped| *is_stopped).await.is_ok();
    };
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = stopping => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    // Whoever stops the server waits until no connection holds this.
    drop(stopped);
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection has ended");
    }
}

/// What a connection waits for.
const HEAD: u8 = 0;
const SERVING: u8 = 1;
const IDLE: u8 = 2;

/// What a connection waits for now, and its reader, which must set another deadline when a request
/// is over.
#[derive(Default)]
struct Phase {
    now: AtomicU8,
    reader: AtomicWaker,
}

/// A request under way; then the connection is idle.
struct Turn(Arc<Phase>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.now.store(IDLE, Ordering::Relaxed);
        self.0.reader.wake();
    }
}

/// A connection whose reads have the deadline of what it waits for.
struct Timed<I> {
    io: I,
    deadlines: Deadlines,
    phase: Arc<Phase>,
    /// The phase whose deadline `timer` is.
    timed: u8,
    timer: Pin<Box<Sleep>>,
}

impl<I> Timed<I> {
    fn new(io: I, deadlines: Deadlines, phase: Arc<Phase>) -> Timed<I> {
        Timed {
            io,
            deadlines,
            phase,
            timed: HEAD,
            timer: Box::pin(sleep_until(Instant::now() + deadlines.head)),
        }
    }

    fn set(&mut self, phase: u8, within: Duration) {
        self.timed = phase;
        self.timer.as_mut().reset(Instant::now() + within);
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Timed<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let read = Pin::new(&mut this.io).poll_read(cx, buf);
        this.phase.reader.register(cx.waker());
        let phase = this.phase.now.load(Ordering::Relaxed);
        if read.is_ready() {
            if phase == IDLE && buf.filled().len() > before {
                this.phase.now.store(HEAD, Ordering::Relaxed);
                this.set(HEAD, this.deadlines.head);
            }
            return read;
        }
        match phase {
            SERVING => {
                this.timed = SERVING;
                return Poll::Pending;
            }
            IDLE if this.timed != IDLE => this.set(IDLE, this.deadlines.idle),
            _ => {}
        }
        this.timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Timed<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().io).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}

/// The body of a request, which must arrive in time.
struct Arriving {
    body: Body,
    within: Duration,
    part: Pin<Box<Sleep>>,
    whole: Pin<Box<Sleep>>,
}

impl Arriving {
    fn new(body: Body, deadlines: Deadlines) -> Arriving {
        let now = Instant::now();
        let (part, whole) = (
            Box::pin(sleep_until(now + deadlines.part)),
            Box::pin(sleep_until(now + deadlines.body)),
        );
        Arriving { body, within: deadlines.part, part, whole }
    }
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.part.as_mut().reset(Instant::now() + this.within);
            return Poll::Ready(frame);
        }
        if this.part.as_mut().poll(cx).is_ready() || this.whole.as_mut().poll(cx).is_ready() {
            let late = io::Error::new(
                io::ErrorKind::TimedOut,
                "the request's body did not arrive in time",
            );
            return Poll::Ready(Some(Err(axum::Error::new(late))));
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response, with whose end the request is answered.
struct Answering {
    body: Body,
    _turn: Turn,
}

impl http_body::Body for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use axum::routing::post;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_secs(60);

    async fn server(deadlines: Deadlines) -> (std::net::SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", post(async |body: Bytes| body));
        let (stop, mut stopped) = watch::channel(false);
        let until = async move { drop(stopped.wait_for(|is_stopped| *is_stopped).await) };
        tokio::spawn(serve_within(deadlines, listener, router, until));
        (address, stop)
    }

    /// What the server says until it hangs up.
    async fn until_closed(stream: &mut TcpStream) -> String {
        let mut said = String::new();
        tokio::time::timeout(LONG / 2, stream.read_to_string(&mut said)).await.unwrap().unwrap();
        said
    }

    #[tokio::test]
    async fn a_client_that_stalls_is_closed_wherever_it_does() {
        let patient = Deadlines { head: LONG, part: LONG, body: LONG, idle: LONG };
        let whole = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
        for (deadlines, sent, expected) in [
            (Deadlines { head: SHORT, ..patient }, "", ""),
            (Deadlines { head: SHORT, ..patient }, "POST / HTTP/1.1\r\nhost", ""),
            (Deadlines { part: SHORT, ..patient }, whole.trim_end_matches('k'), "HTTP/1.1 400"),
            (Deadlines { body: SHORT, ..patient }, whole.trim_end_matches("ok"), "HTTP/1.1 400"),
            (Deadlines { idle: SHORT, ..patient }, whole, "HTTP/1.1 200"),
            // The beginning of a head that came with a request before it counts as idle.
            (Deadlines { idle: SHORT, ..patient }, &format!("{whole}POST /"), "HTTP/1.1 200"),
        ] {
            let (address, _stop) = server(deadlines).await;
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            let said = until_closed(&mut stream).await;
            assert!(
                said.starts_with(expected) && said.is_empty() == expected.is_empty(),
                "{sent:?}: {said}"
            );
        }
    }

    #[tokio::test]
    async fn what_is_under_way_goes_on_to_its_end() {
        let short = Deadlines { head: SHORT, part: LONG, body: LONG, idle: SHORT };
        let (address, stop) = server(short).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\no")
            .await
            .unwrap();
        // Longer than a head may take: a body under way has its own deadlines.
        let mut nothing = [0; 1];
        assert!(tokio::time::timeout(3 * SHORT, stream.read(&mut nothing)).await.is_err());
        stop.send_replace(true);
        stream.write_all(b"k").await.unwrap();
        assert!(until_closed(&mut stream).await.ends_with("ok"));
    }
    #[tokio::test]
    async fn an_answer_comes_also_where_the_body_is_not_wanted() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", post(async || "no, thank you"));
        tokio::spawn(serve(listener, router, std::future::pending()));
        let body = vec![b'a'; 32 << 20];
        // A client that closes its half counts as gone: it asks for the end of the connection.
        let length = body.len();
        let head = format!(
            "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.unwrap();
        assert!(until_closed(&mut stream).await.ends_with("no, thank you"));
    }
}
