//! HTTP bodies in transit: one boxed type for everything that the gateway sends, and constructors.

mod ahead;
mod observed;

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) use ahead::read_ahead;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Frame, SizeHint};
pub(crate) use observed::{BodyObserver, ObservedBody};
use tokio::task::JoinHandle;
use tokio_util::sync::PollSemaphore;

use crate::blocking;

/// A body on its way to a client or to an upstream server.
pub type Body = UnsyncBoxBody<Bytes, BodyError>;

/// Why a body ended early.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// How many bytes of a blocking source are read at a time.
const CHUNK: usize = 64 * 1024;

/// An empty body.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body of bytes in memory.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A body from a blocking source. The source is read in chunks, off the runtime's threads, only as
/// fast as the receiver consumes it.
///
/// `length` is the number of bytes that the source yields, if known. A source that yields fewer
/// bytes ends in an error. Bytes beyond `length` are not read.
pub fn from_read(source: impl Read + Send + 'static, length: Option<u64>) -> Body {
    Blocking { state: State::Idle(Box::new(source), blocking::queue()), left: length }
        .boxed_unsync()
}

/// A body that stays open behind its bytes, until its receiver has had enough.
pub(crate) fn open_ended(body: Body) -> Body {
    OpenEnded { body, is_over: false }.boxed_unsync()
}

struct OpenEnded {
    body: Body,
    is_over: bool,
}

impl hyper::body::Body for OpenEnded {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_over {
            return Poll::Pending;
        }
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(None) => {
                self.is_over = true;
                Poll::Pending
            }
            frame => frame,
        }
    }
}

type Source = Box<dyn Read + Send>;

enum State {
    /// Waiting for a read; holds the semaphore that grants a thread.
    Idle(Source, PollSemaphore),
    Reading(JoinHandle<(Source, io::Result<Bytes>)>, PollSemaphore),
    Done,
}

struct Blocking {
    state: State,
    left: Option<u64>,
}

impl hyper::body::Body for Blocking {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Poll::Ready(None),
                State::Idle(source, mut queue) => {
                    if self.left == Some(0) {
                        return Poll::Ready(None);
                    }
                    // Reads block, so each waits for one of a bounded number of threads.
                    let Poll::Ready(thread) = queue.poll_acquire(cx) else {
                        self.state = State::Idle(source, queue);
                        return Poll::Pending;
                    };
                    let want = self.left.map_or(CHUNK, |left| {
                        usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK))
                    });
                    let reading = blocking::start(thread, move || read_chunk(source, want));
                    self.state = State::Reading(reading, queue);
                }
                State::Reading(mut handle, queue) => {
                    let outcome = match Pin::new(&mut handle).poll(cx) {
                        Poll::Ready(outcome) => outcome,
                        Poll::Pending => {
                            self.state = State::Reading(handle, queue);
                            return Poll::Pending;
                        }
                    };
                    let (source, read) = outcome?;
                    let chunk = read?;
                    if chunk.is_empty() {
                        // A client must not take a body that was cut for a whole one.
                        return match self.left {
                            Some(left) => Poll::Ready(Some(Err(format!(
                                "the source ended {left} bytes early"
                            )
                            .into()))),
                            None => Poll::Ready(None),
                        };
                    }
                    if let Some(left) = &mut self.left {
                        *left = left.saturating_sub(chunk.len() as u64);
                    }
                    self.state = State::Idle(source, queue);
                    return Poll::Ready(Some(Ok(Frame::data(chunk))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0) || matches!(self.state, State::Done)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

fn read_chunk(mut source: Source, want: usize) -> (Source, io::Result<Bytes>) {
    let mut chunk = vec![0; want];
    let mut filled = 0;
    while filled < want {
        match source.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (source, Err(error)),
        }
    }
    chunk.truncate(filled);
    (source, Ok(Bytes::from(chunk)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_blocking_source_arrives_whole() {
        let bytes: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
        let body = from_read(io::Cursor::new(bytes.clone()), Some(200_000));
        assert_eq!(body.collect().await.unwrap().to_bytes(), bytes);
    }

    #[tokio::test]
    async fn a_source_that_is_short_is_an_error() {
        let body = from_read(io::Cursor::new(vec![1; 10]), Some(11));
        assert!(body.collect().await.unwrap_err().to_string().contains("1 bytes early"));
    }

    #[tokio::test]
    async fn nothing_beyond_the_length_is_read() {
        let body = from_read(io::Cursor::new(vec![1; 10]), Some(4));
        assert_eq!(body.collect().await.unwrap().to_bytes().len(), 4);
    }
}
