//! Which processes a connection over the loopback comes from.

use std::{fs, net::SocketAddr, path::Path};

/// Whether a process of this group holds the client's end of a connection from `client` to
/// `server`, both IPv4 addresses of this machine. A connection that has gone is nobody's.
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
    listed(&fs::read_to_string("/proc/net/tcp").ok()?, client, server)
}

/// The process group of a process, by its `stat` (proc(5)).
fn group(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name in parentheses may hold anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()
}

/// The socket with these two ends in a table like `/proc/net/tcp`.
fn listed(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<Socket> {
    let (local, remote) = (spelled(local)?, spelled(remote)?);
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let ends = (fields.nth(1)?, fields.next()?);
        let user = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        (ends == (local.as_str(), remote.as_str()) && inode != 0).then_some(Socket { user, inode })
    })
}

/// An address as `/proc/net/tcp` spells it: the bytes in the machine's order, then the port.
fn spelled(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else { return None };
    Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port()))
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        net::{TcpListener, TcpStream},
        os::unix::process::CommandExt as _,
        process::Command,
    };

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
}
