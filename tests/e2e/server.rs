//! A server on loopback that a test makes misbehave: it reads one request head a connection, and
//! the test does the rest.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;

/// An address at which nobody listens. It is held until this is dropped, so that no other program
/// gets it meanwhile.
pub(crate) struct Nobody {
    pub(crate) address: SocketAddr,
    _held: TcpSocket,
}

impl Nobody {
    pub(crate) fn new() -> Result<Nobody> {
        let held = TcpSocket::new_v4()?;
        held.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        Ok(Nobody { address: held.local_addr()?, _held: held })
    }
}

/// A running server; dropping it ends it.
pub(crate) struct Server {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Calls `answer` with the path of each request and its connection. An error in it ends the
    /// connection.
    pub(crate) async fn start<F>(
        answer: impl Fn(String, TcpStream) -> F + Send + Sync + 'static,
    ) -> Result<Server>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let answer = Arc::new(answer);
        Server::accept(move |mut tcp| {
            let answer = Arc::clone(&answer);
            async move {
                let path = read_head(&mut tcp).await?;
                answer(path, tcp).await
            }
        })
        .await
    }

    /// Calls `talk` with each WebSocket that is opened, whatever its path.
    pub(crate) async fn sockets<F>(
        talk: impl Fn(WebSocketStream<TcpStream>) -> F + Send + Sync + 'static,
    ) -> Result<Server>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let talk = Arc::new(talk);
        Server::accept(move |tcp| {
            let talk = Arc::clone(&talk);
            async move { talk(tokio_tungstenite::accept_async(tcp).await?).await }
        })
        .await
    }

    async fn accept<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Result<Server>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(serve(tcp));
            }
        });
        Ok(Server { address, accepting })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The option that makes `sandbox` find it under every name, on plain HTTP.
    pub(crate) fn as_live_web(&self) -> String {
        format!("--connect-to=:80:{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Reads a request head; its path.
async fn read_head(tcp: &mut TcpStream) -> Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(tcp.read_u8().await?);
    }
    let head = String::from_utf8(head)?;
    Ok(head.split(' ').nth(1).unwrap_or_default().to_owned())
}

/// Answers 200 with `body`, whole.
pub(crate) async fn say(tcp: &mut TcpStream, body: &[u8]) -> Result<()> {
    begin(tcp, body.len() as u64).await?;
    tcp.write_all(body).await?;
    Ok(tcp.shutdown().await?)
}

/// Begins a 200 with a body of `length` bytes.
pub(crate) async fn begin(tcp: &mut TcpStream, length: u64) -> Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    Ok(tcp.write_all(head.as_bytes()).await?)
}
