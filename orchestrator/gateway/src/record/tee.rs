//! A response body that is copied on its way to the client and written down before its end gets there.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use snapshots::{Exchange, Spool};
use tokio::task::JoinHandle;

use super::{Draft, SPOOL_MEMORY};
use crate::{body::BodyError, upstream::UpstreamBody};

/// The copying body.
///
/// Frames go on at once, so that streams stream, with one exception: the one that completes the body, by its declared length or by the end of the
/// stream, waits until the exchange is on disk.
pub(crate) struct Tee {
    upstream: UpstreamBody,
    /// Absent once the exchange is written or given up.
    copying: Option<(Draft, Spool)>,
    /// The declared length, where there is one.
    declared: Option<u64>,
    received: u64,
    /// An unencoded event stream, which is whole at each event.
    events: bool,
    writing: Option<(JoinHandle<()>, Last)>,
}

/// What goes to the client when the exchange has been written.
type Last = Option<Frame<Bytes>>;

impl Tee {
    /// Copies `upstream` for `draft`. Where no byte will come, by the framing or because the head alone says so (`bodiless`), the exchange is
    /// written before this returns: the client has all of it with the head.
    pub(crate) async fn new(upstream: UpstreamBody, draft: Draft, events: bool, bodiless: bool) -> Self {
        let declared = upstream.size_hint().exact();
        let spool = Spool::new(SPOOL_MEMORY);
        let mut tee =
            Self { upstream, copying: Some((draft, spool)), declared, received: 0, events, writing: None };
        if bodiless || declared == Some(0) || tee.upstream.is_end_stream() {
            tee.write();
            if let Some((writing, _)) = tee.writing.take() {
                // Its only failure would be a panic, which the task has already reported.
                let _ = writing.await;
            }
        }
        tee
    }

    fn copy(&mut self, data: &Bytes) {
        self.received += data.len() as u64;
        let Some((draft, spool)) = &mut self.copying else { return };
        if spool.len() + data.len() as u64 > draft.body_cap() {
            if let Some((draft, _)) = self.copying.take() {
                draft.too_large();
            }
        } else if let Err(error) = spool.push(data.clone())
            && let Some((draft, _)) = self.copying.take()
        {
            draft.failed(&error);
        }
    }

    /// Writes the exchange. Small ones at once, as that is one short system call; what was spooled to a file on a thread for such work.
    fn write(&mut self) {
        let Some((draft, spool)) = self.copying.take() else { return };
        let Some((recorder, exchange)) = draft.complete(spool) else { return };
        if in_memory(&exchange) {
            recorder.append(&exchange);
        } else {
            self.writing = Some((tokio::task::spawn_blocking(move || recorder.append(&exchange)), None));
        }
    }

    /// Writes the exchange, then lets `last` go.
    fn finish(&mut self, cx: &mut Context<'_>, last: Last) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.write();
        match &mut self.writing {
            Some((_, waits)) => {
                *waits = last;
                self.poll_writing(cx)
            }
            None => Poll::Ready(last.map(Ok)),
        }
    }

    fn poll_writing(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some((writing, last)) = &mut self.writing {
            if Pin::new(writing).poll(cx).is_pending() {
                return Poll::Pending;
            }
            let last = last.take();
            self.writing = None;
            return Poll::Ready(last.map(Ok));
        }
        Poll::Ready(None)
    }
}

fn in_memory(exchange: &Exchange) -> bool {
    let in_memory = |body: &snapshots::Body| !matches!(body, snapshots::Body::File { .. });
    in_memory(&exchange.request.body) && in_memory(&exchange.response.body)
}

impl Body for Tee {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if this.writing.is_some() {
            return this.poll_writing(cx);
        }
        match Pin::new(&mut this.upstream).poll_frame(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => this.finish(cx, None),
            Poll::Ready(Some(Err(error))) => {
                if let Some((draft, _)) = this.copying.take() {
                    draft.broke_off(error.as_ref());
                }
                Poll::Ready(Some(Err(error)))
            }
            Poll::Ready(Some(Ok(frame))) => {
                let Some(data) = frame.data_ref() else { return this.finish(cx, Some(frame)) };
                this.copy(data);
                if this.declared == Some(this.received) || this.upstream.is_end_stream() {
                    return this.finish(cx, Some(frame));
                }
                Poll::Ready(Some(Ok(frame)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.copying.is_none() && self.writing.is_none() && self.upstream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.writing, self.declared) {
            (Some((_, Some(last))), Some(_)) => {
                SizeHint::with_exact(last.data_ref().map_or(0, Bytes::len) as u64)
            }
            _ => self.upstream.size_hint(),
        }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        // Closing is how an event stream ends: the events so far are the exchange.
        if self.events
            && let Some((draft, spool)) = self.copying.take()
            && let Some((recorder, exchange)) = draft.complete(spool)
        {
            recorder.append(&whole_events(exchange));
        }
    }
}

/// The exchange with its body cut behind the last whole event.
fn whole_events(mut exchange: Exchange) -> Exchange {
    if let Some(bytes) = exchange.response.body.in_memory() {
        let mut events = bytes.into_owned();
        events.truncate(end_of_events(&events));
        exchange.response.body = events.into();
    }
    exchange
}

/// Where the last whole event ends: behind an empty line, with any of the three kinds of line end.
fn end_of_events(bytes: &[u8]) -> usize {
    let mut end = 0;
    let mut line_start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let next = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => at + 2,
            b'\r' | b'\n' => at + 1,
            _ => {
                at += 1;
                continue;
            }
        };
        if at == line_start {
            end = next;
        }
        at = next;
        line_start = next;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_end_behind_an_empty_line() {
        for (text, whole) in [
            ("", ""),
            ("data: 1", ""),
            ("data: 1\n", ""),
            ("data: 1\n\ndata: 2\n", "data: 1\n\n"),
            ("data: 1\r\n\r\ndata", "data: 1\r\n\r\n"),
            ("data: 1\r\rdata", "data: 1\r\r"),
            ("id: 1\ndata: x\n\ndata: y\n\n", "id: 1\ndata: x\n\ndata: y\n\n"),
        ] {
            assert_eq!(&text[..end_of_events(text.as_bytes())], whole, "{text:?}");
        }
    }
}
