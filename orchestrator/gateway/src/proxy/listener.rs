//! Accepting clients, and speaking HTTP with them.

use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper::{
    rt::Executor,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    time::Instant,
};

use super::{
    client_io::ClientIo,
    clients::Client,
    service, stalled,
    target::Via,
    wire::{CheckedIo, Wire},
};
use crate::{gateway::Shared, limits::MAX_HEAD};

/// How long accepting rests when the process or the machine has no file left to open, unless a
/// client goes before.
const OUT_OF_FILES: Duration = Duration::from_millis(250);

/// Requests that one connection of HTTP/2 may have under way. Browsers begin with a hundred.
const STREAMS: u32 = 128;

/// A client's connection as its requests see it.
pub(super) struct Connection {
    /// The way requests come.
    pub(super) via: Via,
    /// Whose connection it is.
    pub(super) client: Arc<Client>,
    /// What was wrong with its bytes; of use in HTTP/1 only.
    pub(super) wire: Arc<Wire>,
    requests: AtomicU64,
}

impl Connection {
    fn new(via: Via, client: Arc<Client>) -> Arc<Self> {
        Arc::new(Self { via, client, wire: Arc::default(), requests: AtomicU64::new(0) })
    }

    /// Counts a request; why it is none, if its head was malformed.
    pub(super) fn next_request(&self) -> Option<&'static str> {
        self.wire.refusal(self.requests.fetch_add(1, Ordering::Relaxed))
    }
}

/// Accepts until the gateway drains. At the bound on clients the longest idle makes room; where
/// none is idle, further ones wait in the kernel's queue.
pub(crate) async fn run(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let accepted = async {
            let tcp = listener.accept().await?.0;
            let (client, crowded) = shared.clients.admit().await;
            if crowded && shared.complaints.first("crowded", "") {
                let limit = shared.clients.limit();
                tracing::warn!(limit, "there are more clients than places; the longest idle ones are closed");
            }
            Ok((tcp, client))
        };
        let accepted: io::Result<_> = tokio::select! {
            () = shared.draining.cancelled() => return,
            accepted = accepted => accepted,
        };
        let (tcp, client) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                let rest = rest_after(&error);
                if shared.complaints.first("accept", &error.kind().to_string()) {
                    tracing::warn!(%error, "a client could not be accepted");
                }
                if let Some(rest) = rest {
                    tokio::select! {
                        () = shared.draining.cancelled() => return,
                        () = shared.clients.make_room(rest) => {}
                    }
                }
                continue;
            }
        };
        if tcp.set_nodelay(true).is_err() {
            continue;
        }
        let shared = shared.clone();
        shared.tasks.clone().spawn(async move {
            let io = ClientIo::new(tcp, shared.limits.client_stall);
            serve_http1(shared, Via::Proxy, client, io).await;
        });
    }
}

/// How long to wait before accepting is tried again: not at all where it was the client that
/// failed, who has left the queue; a moment where it was the machine, which would fail again at
/// once.
fn rest_after(error: &io::Error) -> Option<Duration> {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    (!matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)).then_some(OUT_OF_FILES)
}

/// Serves HTTP/1.1 on a connection until the client, an upgrade or the gateway's end takes it away.
pub(super) async fn serve_http1<S>(shared: Arc<Shared>, via: Via, client: Arc<Client>, io: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let own = Connection::new(via, client);
    let io = CheckedIo::new(io, own.wire.clone());
    let serve = {
        let (shared, own) = (shared.clone(), own.clone());
        service_fn(move |request| {
            let (shared, own) = (shared.clone(), own.clone());
            async move { Ok::<_, Infallible>(service::serve(shared, &own, request).await) }
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.client_head)
        .max_header_size(MAX_HEAD)
        .max_buf_size(MAX_HEAD * 4)
        .preserve_header_case(true)
        .auto_date_header(false)
        .half_close(false)
        .serve_connection(TokioIo::new(io), serve)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shared.cut.cancelled() => return,
        () = own.client.closed() => return,
        () = shared.draining.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = shared.cut.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a client's connection ended");
    }
}

/// Serves HTTP/2 on a connection until it ends. A client that has not asked for anything in the
/// time for a head is dropped, and one that asks for nothing more is told to go; hyper sets no such
/// bounds.
pub(super) async fn serve_http2<S>(shared: Arc<Shared>, via: Via, client: Arc<Client>, io: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let own = Connection::new(via, client);
    let asked = Arc::new(AtomicBool::new(false));
    let serve = {
        let (shared, own, asked) = (shared.clone(), own.clone(), asked.clone());
        service_fn(move |request| {
            asked.store(true, Ordering::Relaxed);
            let (shared, own) = (shared.clone(), own.clone());
            async move { Ok::<_, Infallible>(service::serve(shared, &own, request).await) }
        })
    };
    let patience = shared.limits.client_head;
    let connection = http2::Builder::new(Streams(shared.clone()))
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HEAD as u32)
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(4 << 20)
        .max_send_buf_size(64 * 1024)
        .keep_alive_interval(patience)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(io), serve);
    tokio::pin!(connection);
    let idle = tokio::time::sleep_until(Instant::now() + patience);
    tokio::pin!(idle);
    let (mut draining, mut told_to_go) = (false, false);
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = shared.cut.cancelled() => return,
            () = own.client.closed() => return,
            () = shared.draining.cancelled(), if !draining => {
                draining = true;
                connection.as_mut().graceful_shutdown();
            }
            () = idle.as_mut() => {
                let been = own.client.idle_for().unwrap_or_default();
                let left = patience.saturating_sub(been);
                if left.is_zero() {
                    if told_to_go || !asked.load(Ordering::Relaxed) {
                        return;
                    }
                    told_to_go = true;
                    connection.as_mut().graceful_shutdown();
                }
                let next = if left.is_zero() { patience } else { left };
                idle.as_mut().reset(Instant::now() + next);
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a client's connection ended");
    }
}

/// Runs the streams of HTTP/2 connections where the gateway can wait for them, and end them.
#[derive(Clone)]
struct Streams(Arc<Shared>);

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let stream = stalled::unless_stalled(stream, self.0.limits.client_stall);
        self.0.tasks.spawn(self.0.cut.clone().run_until_cancelled_owned(stream));
    }
}
