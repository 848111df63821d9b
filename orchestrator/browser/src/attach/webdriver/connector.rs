//! Connections to chromedriver, for HTTP clients.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::http::Uri;
use hyper_util::rt::TokioIo;
use processes::own_network::server::Dialer;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tower::Service;

/// Connects to chromedriver, whatever address is asked for: there is nothing else.
#[derive(Debug, Clone)]
pub(super) struct Connector(pub(super) Arc<Dialer>);

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let dialer = Arc::clone(&self.0);
        Box::pin(async move {
            let stream =
                spawn_blocking(move || dialer.connect()).await.map_err(io::Error::other)??;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(TcpStream::from_std(stream)?))
        })
    }
}
