//! Descriptors over a Unix socket, one in a message. Instead of one may come the text of an error.

use std::{
    io,
    io::{IoSlice, IoSliceMut, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// The longest text of an error that is read.
const LONGEST: usize = 4096;

/// What is said together with a descriptor.
const READY: &[u8] = b"ready";

/// The descriptor that comes; the inner error is the sender's reason.
pub(super) fn receive(socket: &UnixStream) -> io::Result<Result<OwnedFd, String>> {
    let mut text = [0_u8; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut text)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    Ok(match descriptors.next() {
        Some(descriptor) => Ok(descriptor),
        None if received.bytes == 0 => Err("the helper ended without a word".to_owned()),
        None => Err(String::from_utf8_lossy(&text[..received.bytes]).into_owned()),
    })
}

pub(super) fn send(socket: &UnixStream, descriptor: &impl AsFd) -> io::Result<()> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(socket, &[IoSlice::new(READY)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
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
