//! The network of a confined program: nothing but what is named, through relays.
//!
//! The listeners are in the program's network. A process of its own ([`relay_alone`]), which is in
//! that of the machine, takes their connections.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::str::FromStr;
use std::{fmt, thread};

use serde::{Deserialize, Serialize};

use super::{messages, namespaces};
use crate::NOT_STARTED;
use crate::network::raise_loopback;

/// The longest head of a request to the relay.
const LONGEST: u64 = 8 << 10;

/// What a program reaches of the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The proxy for all that it asks. Without it there is one that leads to `hosts` alone.
    pub proxy: Option<Proxy>,
    /// Hosts that it reaches.
    pub hosts: Vec<Host>,
}

/// A proxy that asks for a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// Where it is.
    pub address: SocketAddr,
    /// What clients show.
    pub password: String,
}

impl Proxy {
    /// Its URL, as a client takes it to which it is at this address.
    pub fn url_at(&self, address: SocketAddr) -> String {
        format!("http://sandbox:{}@{address}", self.password)
    }
}

/// The password is a secret.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a proxy at {}", self.address)
    }
}

/// A port of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name or address.
    pub name: String,
    /// The port.
    pub port: u16,
}

/// The text is no port of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {0:?} as a host: write HOST:PORT, such as api.openai.com:443 or 127.0.0.1:8000")]
pub struct BadHost(String);

impl FromStr for Host {
    type Err = BadHost;

    fn from_str(text: &str) -> Result<Host, BadHost> {
        let (name, port) = text.rsplit_once(':').ok_or_else(|| BadHost(text.to_owned()))?;
        let name = name.trim_start_matches('[').trim_end_matches(']');
        match port.parse() {
            Ok(port) if port > 0 && !name.is_empty() => {
                Ok(Host { name: name.to_ascii_lowercase(), port })
            }
            _ => Err(BadHost(text.to_owned())),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}

impl Host {
    /// Whether it is this machine, where programs do not ask proxies.
    fn is_here(&self) -> bool {
        self.name == "localhost"
            || self.name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }
}

/// The network inside: its listeners, the one of the proxy first.
pub(super) fn listen(network: &Network) -> io::Result<(SocketAddr, Vec<TcpListener>)> {
    namespaces::leave_network()?;
    raise_loopback()?;
    let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = proxy.local_addr()?;
    let mut listeners = vec![proxy];
    for host in network.hosts.iter().filter(|host| host.is_here()) {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, host.port))?);
    }
    Ok((address, listeners))
}

/// Leads connections, until whoever started this process ends. The listeners come over the socket
/// that is its standard input. It is a process of its own, because the keeper can start no threads:
/// those would be in another namespace of processes than it is.
pub fn relay_alone() -> u8 {
    let socket = rustix::stdio::stdin().try_clone_to_owned().map(UnixStream::from);
    let Ok(mut socket) = socket else { return NOT_STARTED };
    let Ok((network, listeners)) = messages::receive::<Network>(&socket) else {
        return NOT_STARTED;
    };
    relay(&network, listeners.into_iter().map(TcpListener::from).collect());
    // Nothing else is ever said.
    let _ = socket.read(&mut [0]);
    0
}

/// Leads the connections of the listeners to where the plan says, for as long as this process
/// lives.
fn relay(network: &Network, listeners: Vec<TcpListener>) {
    let here: Vec<Host> = network.hosts.iter().filter(|host| host.is_here()).cloned().collect();
    let mut listeners = listeners.into_iter();
    if let Some(listener) = listeners.next() {
        let network = network.clone();
        accept(listener, move |client| match &network.proxy {
            Some(proxy) => lead(client, TcpStream::connect(proxy.address)?),
            None => tunnel(client, &network.hosts),
        });
    }
    for (listener, host) in listeners.zip(here) {
        accept(listener, move |client| {
            lead(client, TcpStream::connect((host.name.as_str(), host.port))?)
        });
    }
}

fn accept(
    listener: TcpListener,
    serve: impl Fn(TcpStream) -> io::Result<()> + Clone + Send + 'static,
) {
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let serve = serve.clone();
            // Whoever asked sees that the connection ends.
            thread::spawn(move || drop(serve(client)));
        }
    });
}

/// Answers `CONNECT HOST:PORT` where that is one of the hosts.
fn tunnel(mut client: TcpStream, hosts: &[Host]) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?.take(LONGEST));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
    }
    let mut words = first.split_whitespace();
    let asked = match (words.next(), words.next()) {
        (Some("CONNECT"), Some(authority)) => authority.parse::<Host>().ok(),
        _ => None,
    };
    let Some(host) = asked.filter(|host| hosts.contains(host)) else {
        return client.write_all(
            b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    };
    let mut server = TcpStream::connect((host.name.as_str(), host.port))?;
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    server.write_all(reader.buffer())?;
    lead(client, server)
}

/// Leads one connection, until both sides have said all.
fn lead(client: TcpStream, server: TcpStream) -> io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let there = thread::spawn(move || {
        // Whoever hangs up has nothing more to say.
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let (mut from_server, mut to_client) = (server, client);
    let _ = io::copy(&mut from_server, &mut to_client);
    let _ = to_client.shutdown(Shutdown::Both);
    let _ = there.join();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_a_port() {
        let host = |name: &str, port| Ok(Host { name: name.to_owned(), port });
        assert_eq!("API.openai.com:443".parse(), host("api.openai.com", 443));
        assert_eq!("[::1]:8000".parse(), host("::1", 8000));
        for text in ["api.openai.com", ":443", "a:0", "a:b", ""] {
            assert!(text.parse::<Host>().is_err(), "{text}");
        }
    }
}
