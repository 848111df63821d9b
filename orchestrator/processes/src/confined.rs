//! A program without network but for one proxy.
//!
//! ```text
//!  our process                    |  a network namespace of its own
//!  gateway <- Unix socket <-------|--- forwarder on 127.0.0.1 <- HTTP_PROXY - the program
//! ```
//!
//! `unshare` makes the namespace, in which there is nothing but a loopback interface that is down.
//! [`run`] is what is started in it: it raises the interface, leads connections to a Unix socket,
//! which has no part in namespaces of the network, and starts the program. Its files are those of
//! whoever started it: this keeps programs from the network, and from nothing else.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType};

type Variables = Vec<(OsString, OsString)>;

/// The ways in which `unshare` makes a namespace of the network: for anybody, where the system lets
/// everybody have namespaces of users; and for those who are allowed to without.
pub const NAMESPACES: [&[&str]; 2] =
    [&["unshare", "--user", "--map-root-user", "--net", "--"], &["unshare", "--net", "--"]];

/// What a program ends with that could not be started.
pub const NOT_STARTED: u8 = 127;

/// The variables by which programs find their proxy, for all that they ask.
pub fn proxies(address: SocketAddr) -> Variables {
    let url = OsString::from(format!("http://{address}"));
    let named = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    named.into_iter().map(|name| (name.into(), url.clone())).collect()
}

/// The variables by which OpenSSL, Python's `requests`, curl and Node find the authorities that
/// they believe.
pub fn authorities(file: &Path) -> Variables {
    let named = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];
    named.into_iter().map(|name| (name.into(), file.into())).collect()
}

/// Runs a program in the namespace that this process is in, whose proxy is behind this Unix socket.
/// Gives its exit code, and [`NOT_STARTED`] where it has none. What ends the program by a signal
/// ends this process, too.
pub fn run(socket: &Path, words: &[String]) -> u8 {
    let Some((program, arguments)) = words.split_first() else { return NOT_STARTED };
    let forwarder = raise_loopback().and_then(|()| forward_to(socket.to_owned()));
    let proxy = match forwarder {
        Ok(proxy) => proxy,
        Err(error) => {
            eprintln!("failed to make a network of its own: {error}");
            return NOT_STARTED;
        }
    };
    let status = Command::new(program).args(arguments).envs(proxies(proxy)).stdin(Stdio::null()).status();
    match status {
        Ok(status) => {
            if let Some(signal) = status.signal().and_then(rustix::process::Signal::from_named_raw) {
                let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
            }
            status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_STARTED)
        }
        Err(error) => {
            eprintln!("failed to start {program}: {error}");
            NOT_STARTED
        }
    }
}

/// Brings the loopback interface up by `RTM_NEWLINK` of rtnetlink(7).
pub(crate) fn raise_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const LENGTH: u32 = 32;
    // The first interface of every namespace.
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    // `struct nlmsghdr`, then `struct ifinfomsg`.
    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    // Its protocol is number 0, that of routes.
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, length) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // `struct nlmsghdr`, then the error as a negative number.
    match answer[..length].get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Leads connections to a free port on to a Unix socket, for as long as this process lives.
fn forward_to(socket: PathBuf) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let socket = socket.clone();
            thread::spawn(move || {
                if let Err(error) = lead(client, &socket) {
                    eprintln!("failed to reach the gateway: {error}");
                }
            });
        }
    });
    Ok(address)
}

/// Leads one connection, until both sides have said all.
fn lead(client: TcpStream, socket: &Path) -> io::Result<()> {
    let server = UnixStream::connect(socket)?;
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
    fn every_library_finds_the_proxy_and_the_authority() {
        let proxies = proxies(([127, 0, 0, 1], 8080).into());
        assert!(proxies.iter().all(|(_, url)| url == "http://127.0.0.1:8080") && proxies.len() == 6);
        let authorities = authorities(Path::new("/ca.pem"));
        assert!(authorities.iter().all(|(_, file)| file == "/ca.pem") && authorities.len() == 4);
    }
}
