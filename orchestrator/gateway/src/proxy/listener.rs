//! Accepting clients, and speaking HTTP with them.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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
    sync::Semaphore,
    time::Instant,
};

use super::{client_io::ClientIo, service, target::Via};
use crate::{gateway::Shared, limits::MAX_HEAD};

/// Accepts until the gateway drains. At the bound on connections, further ones wait in the kernel's queue.
pub(crate) async fn run(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            () = shared.draining.cancelled() => return,
            accepted = accepted => accepted,
        };
        let tcp = match accepted {
            Ok((tcp, _)) => tcp,
            Err(error) => {
                // Out of descriptors, or the client is gone already. The next accept waits for the next client.
                tracing::warn!(%error, "a client could not be accepted");
                tokio::task::yield_now().await;
                continue;
            }
        };
        if tcp.set_nodelay(true).is_err() {
            continue;
        }
        let shared = shared.clone();
        shared.tasks.clone().spawn(async move {
            let io = ClientIo::new(tcp, shared.limits.client_stall);
            serve_http1(shared, Via::Proxy, io).await;
            drop(place);
        });
    }
}

/// Serves HTTP/1.1 on a connection until the client, an upgrade or the gateway's end takes it away.
pub(super) async fn serve_http1<S>(shared: Arc<Shared>, via: Via, io: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let via = Arc::new(via);
    let serve = {
        let shared = shared.clone();
        service_fn(move |request| {
            let (shared, via) = (shared.clone(), via.clone());
            async move { Ok::<_, Infallible>(service::serve(shared, &via, request).await) }
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

/// Serves HTTP/2 on a connection until it ends. A client that has not asked for anything in the time for a head is dropped; hyper sets no such
/// bound before the first request.
pub(super) async fn serve_http2<S>(shared: Arc<Shared>, via: Via, io: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let via = Arc::new(via);
    let asked = Arc::new(AtomicBool::new(false));
    let serve = {
        let (shared, asked) = (shared.clone(), asked.clone());
        service_fn(move |request| {
            asked.store(true, Ordering::Relaxed);
            let (shared, via) = (shared.clone(), via.clone());
            async move { Ok::<_, Infallible>(service::serve(shared, &via, request).await) }
        })
    };
    let connection = http2::Builder::new(Streams(shared.clone()))
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HEAD as u32)
        .max_concurrent_streams(256)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(4 << 20)
        .max_send_buf_size(256 * 1024)
        .keep_alive_interval(shared.limits.client_head)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(io), serve);
    tokio::pin!(connection);
    let first = tokio::time::sleep_until(Instant::now() + shared.limits.client_head);
    tokio::pin!(first);
    let (mut draining, mut waiting) = (false, true);
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = shared.cut.cancelled() => return,
            () = shared.draining.cancelled(), if !draining => {
                draining = true;
                connection.as_mut().graceful_shutdown();
            }
            () = first.as_mut(), if waiting => {
                waiting = false;
                if !asked.load(Ordering::Relaxed) {
                    return;
                }
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
        self.0.tasks.spawn(self.0.cut.clone().run_until_cancelled_owned(stream));
    }
}
