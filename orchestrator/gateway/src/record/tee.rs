//! Records a response body in transit. The exchange is written before the client receives the end
//! of the body.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame};
use snapshots::{Exchange, Spool};
use tokio::task::JoinHandle;

use super::{Draft, SPOOL_MEMORY};
use crate::body::{BodyError, BodyObserver, ObservedBody};
use crate::upstream::UpstreamBody;

/// A recorded response body. Its last frame waits until the exchange is on disk.
pub(crate) type RecordedBody = ObservedBody<UpstreamBody, ResponseRecording>;

/// Records `upstream` for `draft`. If no byte will come, by the framing or because the head says so
/// (`bodiless`), the exchange is written before this returns, because the client has the whole
/// response with the head.
pub(crate) async fn record(
    upstream: UpstreamBody,
    draft: Draft,
    events: bool,
    bodiless: bool,
) -> RecordedBody {
    let spool = Spool::new(SPOOL_MEMORY);
    let recording = ResponseRecording { copying: Some((draft, spool)), events, writing: None };
    let mut body = ObservedBody::new(upstream, recording);
    if bodiless {
        body.end();
    }
    poll_fn(|cx| body.observer().poll_flush(cx)).await;
    body
}

/// The recording of one response.
pub(crate) struct ResponseRecording {
    /// `None` once the exchange is written or discarded.
    copying: Option<(Draft, Spool)>,
    /// Whether this is an event stream without content coding, which is whole at each event.
    events: bool,
    writing: Option<JoinHandle<()>>,
}

impl BodyObserver for ResponseRecording {
    fn on_frame(&mut self, frame: &Frame<Bytes>) {
        let Some(data) = frame.data_ref() else { return };
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

    /// Writes the exchange. A small one is written at once, because that is one short system call.
    /// One that was spooled to a file is written on a thread for blocking work.
    fn on_end(&mut self) {
        let Some((draft, spool)) = self.copying.take() else { return };
        let Some((recorder, exchange)) = draft.complete(spool) else { return };
        if in_memory(&exchange) {
            recorder.append(&exchange);
        } else {
            self.writing = Some(tokio::task::spawn_blocking(move || recorder.append(&exchange)));
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(writing) = &mut self.writing {
            // It can only fail by a panic, which the task has already reported.
            if Pin::new(writing).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.writing = None;
        }
        Poll::Ready(())
    }

    fn on_error(&mut self, error: &BodyError) {
        if let Some((draft, _)) = self.copying.take() {
            draft.broke_off(error.as_ref());
        }
    }
}

impl Drop for ResponseRecording {
    fn drop(&mut self) {
        // An event stream ends by being closed. The events so far are the exchange.
        if self.events
            && let Some((draft, spool)) = self.copying.take()
            && let Some((recorder, exchange)) = draft.complete(spool)
        {
            recorder.append(&whole_events(exchange));
        }
    }
}

fn in_memory(exchange: &Exchange) -> bool {
    let in_memory = |body: &snapshots::Body| !matches!(body, snapshots::Body::File { .. });
    in_memory(&exchange.request.body) && in_memory(&exchange.response.body)
}

/// The exchange with its body truncated after the last whole event, and the mark that the server
/// had not ended it.
fn whole_events(mut exchange: Exchange) -> Exchange {
    if let Some(bytes) = exchange.response.body.in_memory() {
        let mut events = bytes.into_owned();
        events.truncate(end_of_events(&events));
        exchange.response.body = events.into();
    }
    exchange.truncated = Some("time".to_owned());
    exchange
}

/// The offset after the last whole event. An empty line ends an event, with any of the three kinds
/// of line end.
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
