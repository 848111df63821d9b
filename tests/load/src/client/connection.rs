//! One TLS connection to one host.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_pki_types::ServerName;

use super::message::{self, Answer};
use super::{Route, tls};

const READ_BUFFER: usize = 64 << 10;

/// Opens connections.
pub(super) struct Dialer {
    route: Route,
    timeout: Duration,
    tls: Arc<ClientConfig>,
}

/// An open connection.
pub(super) struct Connection {
    stream: BufReader<StreamOwned<ClientConnection, TcpStream>>,
}

impl Dialer {
    pub(super) fn new(route: Route, timeout: Duration) -> Result<Dialer> {
        Ok(Dialer { route, timeout, tls: tls::config()? })
    }

    pub(super) fn dial(&self, host: &str) -> Result<Connection> {
        let tcp = match self.route {
            Route::Direct(address) => self.tcp(address)?,
            Route::Proxy(address) => {
                let tcp = self.tcp(address)?;
                tunnel(&tcp, host).with_context(|| format!("failed to CONNECT to {host}"))?;
                tcp
            }
        };
        let name = ServerName::try_from(host.to_owned()).context("not a host name")?;
        let session = ClientConnection::new(self.tls.clone(), name)?;
        Ok(Connection {
            stream: BufReader::with_capacity(READ_BUFFER, StreamOwned::new(session, tcp)),
        })
    }

    fn tcp(&self, address: SocketAddr) -> Result<TcpStream> {
        let tcp = TcpStream::connect_timeout(&address, self.timeout)
            .with_context(|| format!("failed to connect to {address}"))?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(self.timeout))?;
        tcp.set_write_timeout(Some(self.timeout))?;
        Ok(tcp)
    }
}

fn tunnel(mut tcp: &TcpStream, host: &str) -> Result<()> {
    tcp.write_all(format!("CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n").as_bytes())?;
    // The proxy speaks no further before the client does, so the buffer ends where its answer ends.
    let mut reader = BufReader::with_capacity(1, tcp);
    let head = message::read_head(&mut reader)?;
    ensure!(head.status == 200, "status {}", head.status);
    Ok(())
}

impl Connection {
    pub(super) fn get(&mut self, host: &str, target: &str) -> Result<Answer> {
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        message::read_answer(&mut self.stream)
    }
}
