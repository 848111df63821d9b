//! Descriptors over a Unix socket, one in a message. Instead of one may come the text of an error.

use std::io;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::RecvFlags;

use crate::descriptors;

/// The longest text of an error that is read.
const LONGEST: usize = 4096;

/// What is said together with a descriptor.
const READY: &[u8] = b"ready";

/// The descriptor that comes; the inner error is the sender's reason.
pub(super) fn receive(socket: &UnixStream) -> io::Result<Result<OwnedFd, String>> {
    let mut text = [0_u8; LONGEST];
    let (length, descriptors) = descriptors::receive(socket, &mut text, RecvFlags::empty())?;
    Ok(match descriptors.into_iter().next() {
        Some(descriptor) => Ok(descriptor),
        None if length == 0 => Err("the helper ended without a word".to_owned()),
        None => Err(String::from_utf8_lossy(&text[..length]).into_owned()),
    })
}

pub(super) fn send(socket: &UnixStream, descriptor: &impl AsFd) -> io::Result<()> {
    descriptors::send(socket, READY, &[descriptor.as_fd()])
}

/// Sends the reason for which there is no descriptor.
pub(super) fn send_error(mut socket: &UnixStream, why: &str) -> io::Result<()> {
    let why = why.as_bytes();
    socket.write_all(why.get(..LONGEST).unwrap_or(why))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_descriptor_or_a_reason_arrives() -> io::Result<()> {
        let (one, other) = UnixStream::pair()?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        send(&one, &listener)?;
        let received = receive(&other)?.map(TcpListener::from).map_err(io::Error::other)?;
        assert_eq!(received.local_addr()?, listener.local_addr()?);
        TcpStream::connect(received.local_addr()?)?;
        send_error(&one, &"é".repeat(LONGEST))?;
        assert_eq!(receive(&other)?.err().map(|why| why.len()), Some(LONGEST));
        send_error(&one, "no room")?;
        assert_eq!(receive(&other)?.err().as_deref(), Some("no room"));
        drop(one);
        assert!(receive(&other)?.is_err());
        Ok(())
    }
}
