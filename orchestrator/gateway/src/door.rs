//! The doors of a gateway: listeners, and who may come in by each.
//!
//! Loopback is no boundary: every program and every user of a machine reaches it. So a door either
//! is where only the right client can get to (in a network namespace, or behind a Unix socket in a
//! folder of mode 0700), or it asks who comes: for a key, or the system.
//!
//! A refused client gets an answer, and leaves nothing in any ledger.

use std::net::SocketAddr;
use std::sync::Arc;
use std::{fmt, io};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use camino::Utf8PathBuf;
use http::HeaderMap;
use http::header::PROXY_AUTHORIZATION;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::either::Either;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::gateway::Shared;
use crate::proxy::listener;
use crate::{Gateway, unix};

/// How much of an answer is in memory between the gateway and its own client.
const OWN_BUFFER: usize = 64 << 10;

/// A client's connection: over TCP, over a Unix socket, or within this process.
pub(crate) type ClientStream = Either<TcpStream, Either<UnixStream, DuplexStream>>;

/// A secret that a client shows as the password of the proxy, under any user name.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key with this text, which goes into URLs as it is.
    pub fn new(text: impl Into<String>) -> Key {
        Key(text.into())
    }

    /// A key that nobody guesses.
    pub fn random() -> Key {
        let bytes: [u8; 16] = rand::random();
        Key(hex::encode(bytes))
    }

    /// The URL of a proxy with this key at an address, as clients take it.
    pub fn in_url(&self, address: SocketAddr) -> String {
        format!("http://sandbox:{}@{address}", self.0)
    }

    /// The key itself.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a request shows it.
    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(PROXY_AUTHORIZATION).iter().filter_map(|value| {
            let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
            let decoded = BASE64_STANDARD.decode(rest.trim()).ok()?;
            let colon = decoded.iter().position(|&byte| byte == b':')?;
            scheme.eq_ignore_ascii_case("basic").then(|| decoded[colon + 1..].to_vec())
        });
        shown.any(|password| self.is(&password))
    }

    /// Whether this is the key.
    pub fn is(&self, shown: &[u8]) -> bool {
        let right = self.0.as_bytes();
        // No early end, so that the time tells nothing.
        shown.len() == right.len()
            && shown.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

/// It is a secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Both ends of a client's connection.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// The client's.
    pub client: SocketAddr,
    /// Ours.
    pub server: SocketAddr,
}

/// Tells whether the client of a connection may come in.
pub type PeerCheck = Arc<dyn Fn(Ends) -> bool + Send + Sync>;

/// Who may come in by a door.
#[derive(Clone)]
pub enum Admission {
    /// Whoever gets there.
    Anyone,
    /// Who shows the key.
    Key(Key),
    /// Whose connection passes a check, such as of the process that has made it.
    Peer(PeerCheck),
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Admission::Anyone => "Anyone",
            Admission::Key(_) => "Key",
            Admission::Peer(_) => "Peer",
        })
    }
}

impl Admission {
    /// Whether a request may come in.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        match self {
            Admission::Key(key) => key.is_shown(headers),
            Admission::Anyone | Admission::Peer(_) => true,
        }
    }

    /// Whether the client of a connection may come in.
    pub(crate) async fn admits_peer(&self, ends: Ends) -> bool {
        match self {
            Admission::Peer(check) => {
                let check = Arc::clone(check);
                tokio::task::spawn_blocking(move || check(ends)).await.unwrap_or(false)
            }
            Admission::Anyone | Admission::Key(_) => true,
        }
    }
}

/// Where the connections of a browser lead.
#[derive(Clone)]
pub struct Door(Place);

#[derive(Clone)]
enum Place {
    Gateway(Arc<Shared>),
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

impl From<&Gateway> for Door {
    fn from(gateway: &Gateway) -> Door {
        gateway.door()
    }
}

/// A listener that leads through a door. Dropping it closes the listener; connections go on.
#[derive(Debug)]
pub struct Entrance(#[expect(dead_code, reason = "its end is what counts")] DropGuard);

impl Door {
    pub(crate) fn of(shared: Arc<Shared>) -> Door {
        Door(Place::Gateway(shared))
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
            Place::Gateway(shared) => {
                let tasks = shared.tasks.clone();
                tasks.spawn(async move {
                    closed
                        .run_until_cancelled(listener::run(
                            Listener::Tcp(listener),
                            admission,
                            shared,
                        ))
                        .await
                });
            }
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
                if let Some(rest) = listener::rest_after(&error) {
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
                let (stream, ends) = accept(listener).await?;
                Ok((Either::Left(stream), Some(ends)))
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Either::Right(Either::Left(stream)), None))
            }
        }
    }
}

async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, Ends)> {
    let (stream, client) = listener.accept().await?;
    let server = stream.local_addr()?;
    // A client that is gone already is found out by its first byte.
    let _ = stream.set_nodelay(true);
    Ok((stream, Ends { client, server }))
}

/// The two ends of a connection within this process: the client's and the gateway's.
pub(crate) fn within() -> (DuplexStream, ClientStream) {
    let (client, gateway) = tokio::io::duplex(OWN_BUFFER);
    (client, Either::Right(Either::Right(gateway)))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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

    #[test]
    fn a_key_is_shown_as_the_password_of_any_user() {
        let key = Key::new("s3cret-Key_1");
        let shown = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap_or_else(|error| panic!("{error}"));
            key.is_shown(&HeaderMap::from_iter([(PROXY_AUTHORIZATION, value)]))
        };
        let basic = |pair: &str| format!("Basic {}", BASE64_STANDARD.encode(pair));
        for right in ["sandbox:s3cret-Key_1", ":s3cret-Key_1", "any body:s3cret-Key_1"] {
            assert!(shown(&basic(right)), "{right}");
        }
        assert!(shown(&basic("a:s3cret-Key_1").replace("Basic", "bAsIc")));
        for wrong in [
            "sandbox:",
            "s3cret-Key_1",
            "s3cret-Key_1:",
            "sandbox:s3cret-Key_",
            "sandbox:s3cret-Key_12",
        ] {
            assert!(!shown(&basic(wrong)), "{wrong}");
        }
        for wrong in ["", "Basic", "Basic !", "Bearer s3cret-Key_1", "s3cret-Key_1"] {
            assert!(!shown(wrong), "{wrong}");
        }
        assert!(!key.is_shown(&HeaderMap::new()));
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
