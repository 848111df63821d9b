//! A body with an observer: the only mechanism by which the gateway inspects bodies in transit.
//!
//! ```text
//! inner body -> frame -> BodyObserver::on_frame -> receiver
//!            -> the last frame, or the end -> on_end -> poll_flush is ready -> receiver
//!            -> error -> on_error -> receiver
//! ```
//!
//! Frames are forwarded at once, so that streams keep streaming. Only the frame that completes the
//! body waits until the observer has flushed its state.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::BodyError;

/// Callbacks for a body in transit. A body ends with `on_end` or `on_error`, or it is dropped
/// before either.
pub(crate) trait BodyObserver {
    /// The receiver polls for the next frame.
    fn on_poll(&mut self) {}

    /// The maximum size of a frame for the receiver, in bytes. A larger frame is split, and each
    /// piece is observed.
    fn max_frame(&self) -> usize {
        usize::MAX
    }

    /// A frame is forwarded to the receiver.
    fn on_frame(&mut self, _frame: &Frame<Bytes>) {}

    /// The sender has no frame ready. An error ends the body.
    fn poll_stalled(&mut self, _cx: &mut Context<'_>) -> Poll<BodyError> {
        Poll::Pending
    }

    /// The body is complete. Called once. For an empty body it is called before any frame.
    fn on_end(&mut self) {}

    /// Ready once the end of the body may be forwarded to the receiver.
    fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// The body failed before its end.
    fn on_error(&mut self, _error: &BodyError) {}
}

/// A body whose frames an observer sees.
pub(crate) struct ObservedBody<B, O> {
    inner: B,
    observer: O,
    /// Remaining bytes of the declared length, if there is one.
    left: Option<u64>,
    /// The rest of a frame that is forwarded in pieces.
    rest: Bytes,
    /// Whether the observer has been notified of the end.
    ended: bool,
    flushing: Flushing,
}

/// What is held back until the observer has flushed.
enum Flushing {
    Nothing,
    LastFrame(Frame<Bytes>),
    End,
}

impl<B, O> ObservedBody<B, O>
where
    B: Body<Data = Bytes>,
    O: BodyObserver,
{
    pub(crate) fn new(inner: B, observer: O) -> Self {
        let (left, empty) = (inner.size_hint().exact(), inner.is_end_stream());
        let mut body = Self {
            inner,
            observer,
            left,
            rest: Bytes::new(),
            ended: false,
            flushing: Flushing::Nothing,
        };
        // hyper never polls a body that it knows to be empty.
        if empty || left == Some(0) {
            body.end();
        }
        body
    }

    /// Its observer.
    pub(crate) fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Notifies the observer that the body is complete. The caller uses it for bodies without
    /// bytes.
    pub(crate) fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.observer.on_end();
        }
    }

    /// Forwards a frame, or its first piece.
    fn hand_on(&mut self, frame: Frame<Bytes>) -> Frame<Bytes> {
        let max = self.observer.max_frame();
        let frame = match frame.into_data() {
            Ok(mut data) if data.len() > max => {
                self.rest = data.split_off(max);
                Frame::data(data)
            }
            Ok(data) => Frame::data(data),
            Err(trailers) => trailers,
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
        self.left = self.left.map(|left| left.saturating_sub(bytes));
        self.observer.on_frame(&frame);
        frame
    }

    fn is_last(&self, frame: &Frame<Bytes>) -> bool {
        self.rest.is_empty()
            && (frame.is_trailers() || self.left == Some(0) || self.inner.is_end_stream())
    }

    /// Releases what is held back, once the observer has flushed.
    fn poll_flushing(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        if self.observer.poll_flush(cx).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(match std::mem::replace(&mut self.flushing, Flushing::Nothing) {
            Flushing::LastFrame(frame) => Some(frame),
            Flushing::Nothing | Flushing::End => None,
        })
    }
}

impl<B, O> Body for ObservedBody<B, O>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
    O: BodyObserver + Unpin,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        this.observer.on_poll();
        if !matches!(this.flushing, Flushing::Nothing) {
            return this.poll_flushing(cx).map(|frame| frame.map(Ok));
        }
        let frame = if this.rest.is_empty() {
            match Pin::new(&mut this.inner).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(error))) => {
                    let error = error.into();
                    this.observer.on_error(&error);
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => {
                    this.end();
                    this.flushing = Flushing::End;
                    return this.poll_flushing(cx).map(|frame| frame.map(Ok));
                }
                Poll::Pending => {
                    return this.observer.poll_stalled(cx).map(|error| {
                        this.observer.on_error(&error);
                        Some(Err(error))
                    });
                }
            }
        } else {
            Frame::data(std::mem::take(&mut this.rest))
        };
        let frame = this.hand_on(frame);
        // The last frame is held back until the copy is on disk: a client that has all of a body
        // must find it in the recording.
        if !this.is_last(&frame) {
            return Poll::Ready(Some(Ok(frame)));
        }
        this.end();
        this.flushing = Flushing::LastFrame(frame);
        this.poll_flushing(cx).map(|frame| frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.ended && matches!(self.flushing, Flushing::Nothing) && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let waiting = match &self.flushing {
            Flushing::LastFrame(frame) => frame.data_ref().map_or(0, Bytes::len),
            Flushing::Nothing | Flushing::End => self.rest.len(),
        } as u64;
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + waiting);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + waiting);
        }
        hint
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
