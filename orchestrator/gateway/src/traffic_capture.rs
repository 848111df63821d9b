//! An episode's network, whole: heads and bodies of what was asked and answered, for those who want to look at more than the ledger has.
//!
//! Nothing is left out of it, log-ins included. It is kept only for episodes that begin with one.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Instant,
};

use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Frame, SizeHint};
use snapshots::{Exchange, Response, Spool, Timestamp};

use crate::{
    Body, Reply, RequestHead,
    body::BodyError,
    record::{Copied, RequestCopy, SPOOL_MEMORY, as_listed, http_url, request_headers},
};

/// What is kept of a body; the rest is missing, and the exchange says so.
const MAX_BODY: u64 = 64 << 20;

/// What has passed so far.
#[derive(Debug, Default)]
pub struct TrafficCapture {
    exchanges: Mutex<Vec<(u64, Exchange)>>,
}

impl TrafficCapture {
    /// Takes what has passed, in the order in which it was asked. What is still under way comes with a later call.
    pub fn take(&self) -> Vec<Exchange> {
        let mut exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = std::mem::take(&mut *exchanges);
        taken.sort_by_key(|(seq, _)| *seq);
        taken.into_iter().map(|(_, exchange)| exchange).collect()
    }
}

/// A request that is to be kept with its answer.
pub(crate) struct Asked {
    network: Arc<TrafficCapture>,
    seq: u64,
    exchange: Exchange,
    copy: RequestCopy,
    since: Instant,
}

impl Asked {
    /// Begins with the request, whose body is copied on its way.
    pub(crate) fn begin(network: &Arc<TrafficCapture>, seq: u64, head: &RequestHead, body: Body) -> (Body, Self) {
        let (body, copy) = RequestCopy::of(body, MAX_BODY);
        let mut exchange = Exchange::get(http_url(&head.url), Timestamp::now(), Response::default());
        exchange.request.method = head.method.to_string();
        exchange.request.headers = request_headers(head);
        (body, Self { network: network.clone(), seq, exchange, copy, since: Instant::now() })
    }

    /// Goes on with the answer, whose body is copied on its way.
    pub(crate) fn answered(mut self, reply: Reply) -> Reply {
        self.exchange.response.status = reply.status.as_u16();
        self.exchange.response.reason = reply.status.canonical_reason().unwrap_or_default().to_owned();
        self.exchange.response.headers = as_listed(&reply.headers);
        let kept =
            Kept { body: reply.body, asked: Some(self), spool: Some(Spool::new(SPOOL_MEMORY)), whole: false };
        Reply { body: kept.boxed_unsync(), ..reply }
    }
}

/// An answer's body on its way to the client. The exchange is complete when it is dropped: by then the client has all of it, or does not want more.
struct Kept {
    body: Body,
    asked: Option<Asked>,
    spool: Option<Spool>,
    whole: bool,
}

impl hyper::body::Body for Kept {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref()
                    && let Some(spool) = &mut self.spool
                {
                    let fits = spool.len() + data.len() as u64 <= MAX_BODY;
                    if !fits || spool.push(data.clone()).is_err() {
                        self.spool = None;
                    }
                }
                self.whole |= self.body.is_end_stream();
            }
            Poll::Ready(None) => self.whole = true,
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(Asked { network, seq, mut exchange, copy, since }) = self.asked.take() else { return };
        if let Copied::Whole(body) = copy.take() {
            exchange.request.body = body;
        }
        let body = self.spool.take().and_then(|spool| spool.finish().ok());
        exchange.truncated = match &body {
            None => Some("length".to_owned()),
            Some(_) if self.whole || self.body.is_end_stream() => None,
            Some(_) => Some("disconnect".to_owned()),
        };
        exchange.response.body = body.unwrap_or_default();
        exchange.duration_ms = Some(since.elapsed().as_secs_f64() * 1000.0);
        network.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push((seq, exchange));
    }
}
