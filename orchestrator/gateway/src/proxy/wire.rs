//! The bytes of an HTTP/1 connection, checked on their way to hyper.
//!
//! hyper is lenient where RFC 9112 is not: it ends lines at a bare line feed, and takes
//! `Transfer-Encoding` where there is a `Content-Length` as well. A server behind us may read such
//! a request otherwise, and then takes a part of it for a request of its own. What is wrong with a
//! message's framing is found here, before hyper has seen it; what is wrong with the name of its
//! server, in `target`.
//!
//! A malformed head is cut off where it is wrong and its end put there, so that hyper hands a
//! request over that is answered 400 with the reason ([`Wire::refusal`]). A malformed body is cut
//! off, too, and goes on with what hyper, whose error is one of this request alone, takes for
//! malformed as well.

mod framing;

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use framing::{Framing, Verdict};
use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::body::BodyError;

/// How much is read at a time while a line is still to be completed.
const READ: usize = 8 * 1024;

/// What the bytes of a connection and its requests tell each other.
#[derive(Debug, Default)]
pub(super) struct Wire {
    /// No longer HTTP/1: what follows is not looked at.
    opaque: AtomicBool,
    /// The request that was malformed, counted from 0, and how.
    refused: OnceLock<(u64, &'static str)>,
    /// How the last body was malformed.
    broken: OnceLock<&'static str>,
}

impl Wire {
    /// Why this request, counted from 0, is none.
    pub(super) fn refusal(&self, request: u64) -> Option<&'static str> {
        self.refused.get().filter(|(number, _)| *number == request).map(|(_, reason)| *reason)
    }

    /// Why a body cannot be read: hyper's reason, or the one that it does not know.
    pub(super) fn broken_body(&self, error: hyper::Error) -> BodyError {
        self.broken.get().map_or_else(|| error.into(), |reason| (*reason).into())
    }

    /// Says that the connection has become something else than HTTP/1.
    pub(super) fn becomes_opaque(&self) {
        self.opaque.store(true, Ordering::Release);
    }
}

/// A connection whose requests are checked.
pub(super) struct CheckedIo<S> {
    inner: S,
    wire: Arc<Wire>,
    framing: Framing,
    /// Read, and not yet known to be right: the beginning of a line.
    held: Vec<u8>,
    /// To be given out before anything else.
    ready: Bytes,
    /// Something was malformed; nothing comes after it.
    ended: bool,
}

impl<S> CheckedIo<S> {
    pub(super) fn new(inner: S, wire: Arc<Wire>) -> Self {
        let (framing, held, ready) = (Framing::default(), Vec::new(), Bytes::new());
        Self { inner, wire, framing, held, ready, ended: false }
    }

    /// The connection, and what was read from it and not yet given out.
    pub(super) fn into_parts(self) -> (S, Bytes) {
        (
            self.inner,
            if self.held.is_empty() { self.ready } else { [&self.ready[..], &self.held].concat().into() },
        )
    }

    /// How many of `bytes`, which begin with those that are held, can go on, and what goes behind
    /// them.
    fn judge(&mut self, bytes: &[u8]) -> (usize, &'static [u8]) {
        let (passed, verdict) = self.framing.feed(bytes);
        let end = match verdict {
            Verdict::Right => return (passed, b""),
            Verdict::WrongHead { number, reason, end } => {
                let _ = self.wire.refused.set((number, reason));
                end
            }
            Verdict::WrongBody { reason, end } => {
                let _ = self.wire.broken.set(reason);
                end
            }
        };
        self.ended = true;
        (passed, end)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CheckedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if !this.ready.is_empty() {
                let n = this.ready.len().min(buf.remaining());
                buf.put_slice(&this.ready.split_to(n));
                return Poll::Ready(Ok(()));
            }
            if this.ended {
                // hyper closes the connection behind the answer.
                return Poll::Pending;
            }
            if this.wire.opaque.load(Ordering::Acquire) {
                if this.held.is_empty() {
                    return Pin::new(&mut this.inner).poll_read(cx, buf);
                }
                this.ready = std::mem::take(&mut this.held).into();
                continue;
            }
            if this.held.is_empty() {
                // The usual way: whole lines, and bodies, stay where they were read to.
                let before = buf.filled().len();
                ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
                let read = &buf.filled()[before..];
                if read.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let (passed, end) = this.judge(read);
                if !this.ended {
                    this.held = read[passed..].to_vec();
                }
                this.ready = Bytes::from_static(end);
                buf.set_filled(before + passed);
                if passed > 0 {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            let mut space = [0; READ];
            let mut more = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut more))?;
            if more.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            let mut bytes = std::mem::take(&mut this.held);
            bytes.extend_from_slice(more.filled());
            let (passed, end) = this.judge(&bytes);
            if !this.ended {
                this.held = bytes.split_off(passed);
            }
            bytes.truncate(passed);
            bytes.extend_from_slice(end);
            this.ready = bytes.into();
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CheckedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
