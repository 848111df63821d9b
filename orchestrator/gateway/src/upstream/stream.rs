//! The byte stream of one upstream connection, with a tap that keeps response heads exactly as they
//! were sent.
//!
//! hyper delivers header names in lower case, and groups repeated ones. A snapshot should keep what
//! the server sent. Therefore the head is also parsed here, from the bytes on their way to hyper.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::limits::MAX_HEAD;

enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

/// One upstream connection.
pub(crate) struct Stream {
    transport: Transport,
    tap: HeadTap,
}

impl Stream {
    pub(super) fn plain(tcp: TcpStream) -> Self {
        Self { transport: Transport::Plain(tcp), tap: HeadTap::default() }
    }

    pub(super) fn tls(tls: TlsStream<TcpStream>) -> Self {
        Self { transport: Transport::Tls(Box::new(tls)), tap: HeadTap::default() }
    }

    pub(super) fn unix(unix: UnixStream) -> Self {
        Self { transport: Transport::Unix(unix), tap: HeadTap::default() }
    }

    /// The tap for this connection's response heads.
    pub(super) fn tap(&self) -> HeadTap {
        self.tap.clone()
    }
}

/// Keeps the head of the next final response. For HTTP/1 connections only, where responses do not
/// interleave.
#[derive(Debug, Clone, Default)]
pub(super) struct HeadTap(Arc<Mutex<Tap>>);

#[derive(Debug, Default)]
struct Tap {
    open: bool,
    seen: Vec<u8>,
}

impl HeadTap {
    /// Starts listening. Must be called before a request is sent.
    pub(super) fn open(&self) {
        let mut tap = self.lock();
        tap.open = true;
        tap.seen.clear();
    }

    /// The head, from status line to empty line, if it was complete.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let mut tap = self.lock();
        let whole = !tap.open && !tap.seen.is_empty();
        tap.open = false;
        let seen = std::mem::take(&mut tap.seen);
        whole.then_some(seen)
    }

    fn saw(&self, bytes: &[u8]) {
        let mut tap = self.lock();
        if !tap.open {
            return;
        }
        let mut rest = bytes;
        while tap.open && !rest.is_empty() {
            rest = &rest[tap.take_in(rest)..];
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tap> {
        self.0.lock()
    }
}

impl Tap {
    /// Takes the bytes of the head from the front of `bytes`, and returns their number.
    fn take_in(&mut self, bytes: &[u8]) -> usize {
        // The end of a head may span two reads.
        let before = self.seen.len();
        let overlap = before.min(3);
        let mut edge = self.seen[before - overlap..].to_vec();
        edge.extend_from_slice(&bytes[..bytes.len().min(3)]);
        let end = match find_end(&edge) {
            Some(end) => Some(end - overlap),
            None => find_end(bytes),
        };
        let taken = end.unwrap_or(bytes.len());
        if before + taken > MAX_HEAD {
            self.open = false;
            self.seen.clear();
            return taken;
        }
        self.seen.extend_from_slice(&bytes[..taken]);
        if end.is_some() {
            if is_interim(&self.seen) {
                self.seen.clear();
            } else {
                self.open = false;
            }
        }
        taken
    }
}

/// The offset after the first empty line.
fn find_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// `HTTP/1.1 100 Continue`, `103 Early Hints`, but not `101 Switching Protocols`, which is final.
fn is_interim(head: &[u8]) -> bool {
    head.get(9..12).is_some_and(|code| code.starts_with(b"1") && code != b"101")
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let outcome = match &mut this.transport {
            Transport::Plain(tcp) => ready!(Pin::new(tcp).poll_read(cx, buf)),
            Transport::Unix(unix) => ready!(Pin::new(unix).poll_read(cx, buf)),
            Transport::Tls(tls) => match ready!(Pin::new(tls).poll_read(cx, buf)) {
                // A server that closes without a TLS close notification. If that truncates a
                // message, the message's own framing reveals it.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
                other => other,
            },
        };
        if outcome.is_ok() {
            this.tap.saw(&buf.filled()[before..]);
        }
        Poll::Ready(outcome)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().transport {
            Transport::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Transport::Unix(unix) => Pin::new(unix).poll_write(cx, bytes),
            Transport::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Transport::Unix(unix) => Pin::new(unix).poll_flush(cx),
            Transport::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Transport::Unix(unix) => Pin::new(unix).poll_shutdown(cx),
            Transport::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().transport {
            Transport::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, slices),
            Transport::Unix(unix) => Pin::new(unix).poll_write_vectored(cx, slices),
            Transport::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(tcp) => tcp.is_write_vectored(),
            Transport::Unix(unix) => unix.is_write_vectored(),
            Transport::Tls(tls) => tls.is_write_vectored(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chunks: &[&[u8]], expect: Option<&[u8]>) {
        let tap = HeadTap::default();
        tap.saw(b"noise before");
        tap.open();
        for chunk in chunks {
            tap.saw(chunk);
        }
        assert_eq!(tap.take().as_deref(), expect);
        assert_eq!(tap.take(), None);
    }

    #[test]
    fn a_head_is_kept_however_it_is_cut() {
        let head = b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n";
        check(&[b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nbody"], Some(head));
        check(&[b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r", b"\nbody", b"more\r\n\r\n"], Some(head));
        let bytes: Vec<&[u8]> = head.chunks(1).collect();
        check(&bytes, Some(head));
    }

    #[test]
    fn interim_heads_are_passed_over() {
        check(
            &[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 404 No\r\n\r\n"],
            Some(b"HTTP/1.1 404 No\r\n\r\n"),
        );
        check(
            &[b"HTTP/1.1 101 Switching Protocols\r\n\r\nframes"],
            Some(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        );
    }

    #[test]
    fn a_head_that_never_ends_is_given_up() {
        check(&[b"HTTP/1.1 200 OK\r\n"], None);
        check(&[&[b'a'; MAX_HEAD], &[b'a'; 10]], None);
    }
}
