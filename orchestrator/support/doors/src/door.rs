//! A door: the way from a listener to a gateway of this process, to one of another process, or to
//! a proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use camino::Utf8PathBuf;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{Admission, Ends, unix};

/// Pause before accepting again when the process or the machine has no file descriptors left. It
/// ends early if a client leaves.
const OUT_OF_FILES: Duration = Duration::from_millis(250);

/// A gateway of this process.
pub trait LocalGateway: Send + Sync {
    /// Serves the clients of a listener until `closed`.
    fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        admission: Admission,
        closed: CancellationToken,
    );
}

/// Where the connections of a browser lead.
#[derive(Clone)]
pub struct Door(Place);

#[derive(Clone)]
enum Place {
    Gateway(Arc<dyn LocalGateway>),
    Socket(Utf8PathBuf),
    Address(SocketAddr),
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Gateway(_) => f.write_str("a gateway"),
            Place::Socket(path) => write!(f, "a gateway at {path}"),
            Place::Address(address) => write!(f, "a proxy at {address}"),
        }
    }
}

impl From<SocketAddr> for Door {
    fn from(address: SocketAddr) -> Door {
        Door(Place::Address(address))
    }
}

/// A listener that leads through a door. Dropping it closes the listener; connections go on.
#[derive(Debug)]
pub struct Entrance(#[expect(dead_code, reason = "its end is what counts")] DropGuard);

impl Door {
    /// To a gateway of this process.
    pub fn of(gateway: Arc<dyn LocalGateway>) -> Door {
        Door(Place::Gateway(gateway))
    }

    /// To a gateway of another process, at this Unix socket.
    pub fn at_socket(path: Utf8PathBuf) -> Door {
        Door(Place::Socket(path))
    }

    /// The address of a proxy that needs no listener of ours.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Place::Address(address) => Some(*address),
            Place::Gateway(_) | Place::Socket(_) => None,
        }
    }

    /// Leads the clients of a listener through the door.
    ///
    /// # Errors
    /// If the listener cannot be used.
    pub fn serve(
        &self,
        listener: std::net::TcpListener,
        admission: Admission,
    ) -> io::Result<Entrance> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let closed = CancellationToken::new();
        let guard = closed.clone().drop_guard();
        match self.0.clone() {
            Place::Gateway(gateway) => gateway.serve(listener, admission, closed),
            Place::Socket(path) => drop(tokio::spawn(async move {
                let connect = || {
                    let path = path.clone();
                    async move { unix::connect(path.as_std_path()).await }
                };
                closed.run_until_cancelled(lead(|| accept(&listener), admission, connect)).await
            })),
            Place::Address(address) => drop(tokio::spawn(async move {
                let connect = || TcpStream::connect(address);
                closed.run_until_cancelled(lead(|| accept(&listener), admission, connect)).await
            })),
        }
        Ok(Entrance(guard))
    }
}

/// Leads each connection that comes by `accept` to where `connect` does, until this is dropped.
async fn lead<A, F, S>(accept: impl Fn() -> A, admission: Admission, connect: impl Fn() -> F)
where
    A: Future<Output = io::Result<(TcpStream, Ends)>>,
    F: Future<Output = io::Result<S>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        let (mut client, ends) = match accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "a browser's connection was not accepted");
                if let Some(rest) = rest_after(&error) {
                    // It ends early where a connection does. This timeout is the delay.
                    let _ = timeout(rest, next(&mut connections)).await;
                }
                continue;
            }
        };
        let (server, admission) = (connect(), admission.clone());
        connections.spawn(async move {
            if admission.admits_peer(ends).await
                && let Ok(mut server) = server.await
            {
                // Whoever hangs up has had its answer, or wants none.
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Waits for the end of a connection; forever where there is none.
async fn next(connections: &mut JoinSet<()>) {
    if connections.join_next().await.is_none() {
        std::future::pending::<()>().await;
    }
}

/// How long to wait before accepting again. No wait if the client failed, because it has left the
/// queue. A moment if the machine failed, because it would fail again at once.
pub fn rest_after(error: &io::Error) -> Option<Duration> {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    (!matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted))
        .then_some(OUT_OF_FILES)
}

/// The next client of a listener, and the ends of its connection.
///
/// # Errors
/// If the client has gone, or the machine has no room for it.
pub async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, Ends)> {
    let (stream, client) = listener.accept().await?;
    let server = stream.local_addr()?;
    // A client that is gone already is found out by its first byte.
    let _ = stream.set_nodelay(true);
    Ok((stream, Ends { client, server }))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn a_connection_that_fails_does_not_close_the_door() -> io::Result<()> {
        use io::ErrorKind::ConnectionAborted;
        // As many open files as there may be, and a client that has gone by then.
        let errors = [io::Error::from_raw_os_error(24), ConnectionAborted.into()];
        let errors = parking_lot::Mutex::new(errors.into_iter());
        let (door, server) =
            (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
        let (address, to) = (door.local_addr()?, server.local_addr()?);
        let accept = || async {
            let error = errors.lock().next();
            error.map_or(Ok(()), Err)?;
            accept(&door).await
        };
        let leading = lead(accept, Admission::Anyone, || TcpStream::connect(to));
        let talking = async {
            TcpStream::connect(address).await?.write_all(b"x").await?;
            server.accept().await?.0.read_u8().await
        };
        tokio::select! {
            () = leading => unreachable!("it leads until it is dropped"),
            said = timeout(std::time::Duration::from_secs(20), talking) => assert_eq!(said??, b'x'),
        }
        Ok(())
    }

    #[tokio::test]
    async fn a_door_leads_to_a_socket_at_any_path() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let deep = folder.path().join("d".repeat(90)).join("e".repeat(90));
        std::fs::create_dir_all(&deep)?;
        let path = Utf8PathBuf::try_from(deep.join("gateway")).map_err(io::Error::other)?;
        let server = unix::bind(path.as_std_path())?;
        server.set_nonblocking(true)?;
        let server = UnixListener::from_std(server)?;
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let _entrance = Door::at_socket(path).serve(listener, Admission::Anyone)?;
        TcpStream::connect(address).await?.write_all(b"x").await?;
        let led = async { server.accept().await?.0.read_u8().await };
        assert_eq!(timeout(std::time::Duration::from_secs(20), led).await??, b'x');
        Ok(())
    }
}
