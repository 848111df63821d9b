//! Which processes a connection over the loopback comes from.

use std::{fs, net::SocketAddr, path::Path};

/// Whether a process of this group holds the client's end of a connection from `peer` to `server`,
/// both IPv4 addresses of this machine. A connection that has gone is nobody's.
pub fn is_of_group(leader: u32, peer: SocketAddr, server: SocketAddr) -> bool {
    let Ok(table) = fs::read_to_string("/proc/net/tcp") else { return false };
    let Some(inode) = inode(&table, peer, server) else { return false };
    let socket = format!("socket:[{inode}]");
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let of_group =
        processes.flatten().map(|process| process.path()).filter(|process| group(process) == Some(leader));
    of_group.into_iter().any(|process| {
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        descriptors.into_iter().any(|descriptor| {
            fs::read_link(descriptor.path()).is_ok_and(|target| target == Path::new(&socket))
        })
    })
}

/// The process group of a process, by its `stat` (proc(5)).
fn group(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name in parentheses may hold anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()
}

/// The inode of the socket with these two ends.
fn inode(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u64> {
    let (local, remote) = (spelled(local)?, spelled(remote)?);
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let ends = (fields.nth(1)?, fields.next()?);
        let inode = fields.nth(6)?.parse().ok()?;
        (ends == (local.as_str(), remote.as_str()) && inode != 0).then_some(inode)
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
        let mut other = Command::new("sleep").arg("600").process_group(0).spawn()?;
        assert!(!is_of_group(other.id(), peer, server));
        other.kill()?;
        other.wait()?;
        drop(client);
        assert!(!is_of_group(own, peer, server));
        Ok(())
    }
}
