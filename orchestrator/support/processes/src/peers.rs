//! Which processes a connection over the loopback comes from.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Whether a process of this group holds the client's end of a connection from `client` to
/// `server`, both addresses of this machine. A connection that has gone is nobody's.
pub fn is_of_group(leader: u32, client: SocketAddr, server: SocketAddr) -> bool {
    let Some(Socket { inode, .. }) = find(client, server) else { return false };
    let socket = format!("socket:[{inode}]");
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let processes = processes.flatten().map(|process| process.path());
    processes.filter(|process| group(process) == Some(leader)).any(|process| {
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        descriptors.into_iter().any(|descriptor| {
            fs::read_link(descriptor.path()).is_ok_and(|target| target == Path::new(&socket))
        })
    })
}

/// Whether a program of this user has made the connection.
pub fn is_of_user(user: u32, client: SocketAddr, server: SocketAddr) -> bool {
    find(client, server).is_some_and(|socket| socket.user == user)
}

/// The client's end of a connection, as the kernel lists it.
#[derive(Debug, PartialEq)]
struct Socket {
    user: u32,
    inode: u64,
}

fn find(client: SocketAddr, server: SocketAddr) -> Option<Socket> {
    // A client may use a socket for both versions of IP where the server's is of version 4.
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .find_map(|table| listed(&fs::read_to_string(table).ok()?, client, server))
}

/// The process group of a process, by its `stat` (proc(5)).
fn group(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name in parentheses may hold anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()
}

/// The socket with these two ends in a table like `/proc/net/tcp`.
fn listed(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<Socket> {
    let (local, remote) = (spellings(local), spellings(remote));
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let ends = (fields.nth(1)?, fields.next()?);
        let user = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        let is_it = local.iter().any(|local| local == ends.0)
            && remote.iter().any(|remote| remote == ends.1);
        (is_it && inode != 0).then_some(Socket { user, inode })
    })
}

/// An address as the kernel's tables spell it: words of four bytes in the machine's order, then the
/// port. One of version 4 is also spelled as one of version 6 that stands for it.
fn spellings(address: SocketAddr) -> Vec<String> {
    let of = |bytes: &[u8]| {
        let words = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| format!("{:08X}", u32::from_ne_bytes(*word)));
        format!("{}:{:04X}", words.collect::<String>(), address.port())
    };
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => vec![of(&ip.octets()), of(&ip.to_ipv6_mapped().octets())],
        IpAddr::V6(ip) => vec![of(&ip.octets())],
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_connection_is_of_the_group_that_holds_it() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let server = listener.local_addr()?;
        let client = TcpStream::connect(server)?;
        let peer = client.local_addr()?;
        let _accepted = listener.accept()?;
        let own = group(Path::new("/proc/self")).unwrap_or_default();
        assert!(is_of_group(own, peer, server));
        let user = rustix::process::geteuid().as_raw();
        assert!(is_of_user(user, peer, server) && !is_of_user(user + 1, peer, server));
        let mut other = Command::new("sleep").arg("600").process_group(0).spawn()?;
        assert!(!is_of_group(other.id(), peer, server));
        other.kill()?;
        other.wait()?;
        drop(client);
        assert!(!is_of_group(own, peer, server) && !is_of_user(user, peer, server));
        Ok(())
    }

    /// Clients of many languages have sockets for both versions of IP.
    #[test]
    fn a_connection_of_any_socket_is_found() -> io::Result<()> {
        let user = rustix::process::geteuid().as_raw();
        for (own, other) in [("127.0.0.1:0", "[::ffff:127.0.0.1]"), ("[::1]:0", "[::1]")] {
            // A machine may lack the newer version.
            let Ok(listener) = TcpListener::bind(own) else { continue };
            let server = listener.local_addr()?;
            let Ok(client) = TcpStream::connect(format!("{other}:{}", server.port())) else {
                continue;
            };
            let (_, peer) = listener.accept()?;
            assert!(is_of_user(user, peer, server), "{peer} to {server}");
            drop(client);
        }
        Ok(())
    }
}
