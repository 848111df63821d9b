//! Accepts clients and serves HTTP on their connections.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use doors::Admission;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::client_io::ClientIo;
use super::clients::Client;
use super::target::Via;
use super::wire::{CheckedIo, Wire};
use super::{service, stalled};
use crate::door::{ClientStream, Listener};
use crate::gateway::Shared;
use crate::limits::MAX_HEAD;

/// The maximum number of concurrent requests on one HTTP/2 connection. Browsers begin with a
/// hundred.
const STREAMS: u32 = 128;

/// A client's connection as its requests see it.
pub(super) struct Connection {
    /// How requests arrive.
    pub(super) via: Via,
    /// The client that owns the connection.
    pub(super) client: Arc<Client>,
    /// Framing errors of its bytes; used in HTTP/1 only.
    pub(super) wire: Arc<Wire>,
    requests: AtomicU64,
}

impl Connection {
    fn new(via: Via, client: Arc<Client>) -> Arc<Self> {
        Arc::new(Self { via, client, wire: Arc::default(), requests: AtomicU64::new(0) })
    }

    /// Counts a request. Returns the reason if its head was malformed.
    pub(super) fn next_request(&self) -> Option<&'static str> {
        self.wire.refusal(self.requests.fetch_add(1, Ordering::Relaxed))
    }
}

/// Accepts clients until the gateway drains. At the client limit the longest idle client is closed.
/// If none is idle, new clients wait in the kernel's queue.
pub(crate) async fn run(listener: Listener, admission: Admission, shared: Arc<Shared>) {
    loop {
        let accepted = async {
            let (stream, ends) = listener.accept().await?;
            Ok((stream, ends, place(&shared).await))
        };
        let accepted: io::Result<_> = tokio::select! {
            () = shared.draining.cancelled() => return,
            accepted = accepted => accepted,
        };
        let (stream, ends, client) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Without files left, every further call would fail at once.
                let rest = doors::rest_after(&error);
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
        let (shared, admission) = (shared.clone(), admission.clone());
        // In a task of its own, so that the check of one client does not delay the next.
        shared.tasks.clone().spawn(async move {
            if let Some(ends) = ends
                && !admission.admits_peer(ends).await
            {
                return;
            }
            serve(shared, client, stream, admission).await;
        });
    }
}

/// Serves a client of this process.
pub(crate) async fn serve_client(shared: &Arc<Shared>, stream: ClientStream, admission: Admission) {
    let client = place(shared).await;
    shared.tasks.spawn(serve(shared.clone(), client, stream, admission));
}

/// A place for a client that has connected.
async fn place(shared: &Shared) -> Arc<Client> {
    let (client, crowded) = shared.clients.admit().await;
    if crowded && shared.complaints.first("crowded", "") {
        let limit = shared.clients.limit();
        tracing::warn!(
            limit,
            "there are more clients than places; the longest idle ones are closed"
        );
    }
    client
}

async fn serve(
    shared: Arc<Shared>,
    client: Arc<Client>,
    stream: ClientStream,
    admission: Admission,
) {
    let io = ClientIo::new(stream, shared.limits.client_stall);
    serve_http1(shared, Via::Proxy(admission), client, io).await;
}

/// Serves HTTP/1.1 on a connection until the client closes it, an upgrade takes it over, or the
/// gateway stops.
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
        // Servers and recordings see headers as the client wrote them. Dates are those of the
        // recording.
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

/// Serves HTTP/2 on a connection until it ends. A client that sends no request within the time for
/// a head is dropped. A client that sends no further request gets GOAWAY. hyper does not set such
/// limits.
pub(super) async fn serve_http2<S>(shared: Arc<Shared>, via: Via, client: Arc<Client>, io: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let own = Connection::new(via, client);
    let served = Arc::new(AtomicBool::new(false));
    let serve = {
        let (shared, own, served) = (shared.clone(), own.clone(), served.clone());
        service_fn(move |request| {
            served.store(true, Ordering::Relaxed);
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
    let (mut draining, mut shutdown_sent) = (false, false);
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
                // While a request is in flight, however long, the client is not idle.
                let been = own.client.idle_for().unwrap_or_default();
                let left = patience.saturating_sub(been);
                if left.is_zero() {
                    // It has ignored GOAWAY, or never sent a request.
                    if shutdown_sent || !served.load(Ordering::Relaxed) {
                        return;
                    }
                    shutdown_sent = true;
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

/// Runs the streams of HTTP/2 connections as tasks that the gateway can await and stop.
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
