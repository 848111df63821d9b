//! The clients of a gateway: over TCP, over a Unix socket, or within this process.

use std::io;
use std::sync::Arc;

use doors::{Admission, Door, Ends, LocalGateway};
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;

use crate::Gateway;
use crate::gateway::Shared;
use crate::proxy::listener;

/// How much of an answer is in memory between the gateway and its own client.
const OWN_BUFFER: usize = 64 << 10;

/// A client's connection: over TCP, over a Unix socket, or within this process.
pub(crate) type ClientStream = Either<TcpStream, Either<UnixStream, DuplexStream>>;

impl From<&Gateway> for Door {
    fn from(gateway: &Gateway) -> Door {
        gateway.door()
    }
}

impl LocalGateway for Shared {
    fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        admission: Admission,
        closed: CancellationToken,
    ) {
        let tasks = self.tasks.clone();
        tasks.spawn(async move {
            let clients = listener::run(Listener::Tcp(listener), admission, self);
            closed.run_until_cancelled(clients).await
        });
    }
}

/// What clients come from.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// The next client, with the ends of its connection where they have addresses.
    pub(crate) async fn accept(&self) -> io::Result<(ClientStream, Option<Ends>)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, ends) = doors::accept(listener).await?;
                Ok((Either::Left(stream), Some(ends)))
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Either::Right(Either::Left(stream)), None))
            }
        }
    }
}

/// The two ends of a connection within this process: the client's and the gateway's.
pub(crate) fn within() -> (DuplexStream, ClientStream) {
    let (client, gateway) = tokio::io::duplex(OWN_BUFFER);
    (client, Either::Right(Either::Right(gateway)))
}
