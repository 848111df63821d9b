//! Validates the bytes of an HTTP/1 connection before hyper parses them.
//!
//! hyper is more lenient than RFC 9112: it accepts a bare line feed as a line end, and
//! `Transfer-Encoding` together with `Content-Length`. A server behind the gateway may parse such a
//! request differently, and then treat a part of it as a separate request (request smuggling). This
//! module detects framing errors before hyper sees them. `target` checks the server name.
//!
//! A malformed head is cut off at the error and completed artificially. hyper then delivers a
//! request, which is answered with 400 and the reason ([`Wire::refusal`]). A malformed body is cut
//! off too, and continued with bytes that hyper also rejects; hyper's error affects only this
//! request.

mod framing;

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use framing::{Framing, Verdict};
use hyper::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::body::BodyError;

/// Read size while a line is incomplete.
const READ: usize = 8 * 1024;

/// State shared between the bytes of a connection and its requests.
#[derive(Debug, Default)]
pub(super) struct Wire {
    /// Set when the connection is no longer HTTP/1. The following bytes are not checked.
    opaque: AtomicBool,
    /// The number of the malformed request, from 0, and the reason.
    refused: OnceLock<(u64, &'static str)>,
    /// Why the last body was malformed.
    broken: OnceLock<&'static str>,
}

impl Wire {
    /// Why this request (numbered from 0) is malformed.
    pub(super) fn refusal(&self, request: u64) -> Option<&'static str> {
        self.refused.get().filter(|(number, _)| *number == request).map(|(_, reason)| *reason)
    }

    /// Why a body cannot be read: hyper's error, or the reason found here.
    pub(super) fn broken_body(&self, error: hyper::Error) -> BodyError {
        self.broken.get().map_or_else(|| error.into(), |reason| (*reason).into())
    }

    /// Marks the connection as no longer HTTP/1.
    pub(super) fn becomes_opaque(&self) {
        self.opaque.store(true, Ordering::Release);
    }
}

/// A connection whose requests are checked.
pub(super) struct CheckedIo<S> {
    inner: S,
    wire: Arc<Wire>,
    framing: Framing,
    /// Bytes read but not yet validated: the beginning of a line.
    held: Vec<u8>,
    /// Bytes to return before anything else.
    ready: Bytes,
    /// A framing error was found; nothing follows it.
    ended: bool,
}

impl<S> CheckedIo<S> {
    pub(super) fn new(inner: S, wire: Arc<Wire>) -> Self {
        let (framing, held, ready) = (Framing::default(), Vec::new(), Bytes::new());
        Self { inner, wire, framing, held, ready, ended: false }
    }

    /// The connection, and the bytes that were read but not yet returned.
    pub(super) fn into_parts(self) -> (S, Bytes) {
        (
            self.inner,
            if self.held.is_empty() {
                self.ready
            } else {
                [&self.ready[..], &self.held].concat().into()
            },
        )
    }

    /// How many of `bytes`, which begin with the held ones, may pass, and which bytes to append.
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
                // hyper closes the connection after the response.
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
                // The usual case: whole lines and bodies stay where they were read.
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
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
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
