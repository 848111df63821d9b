//! Captures the traffic of an episode: heads and bodies of all requests and responses.
//!
//! The ledger has less: one line for each request. Nothing is redacted here, not even log-ins.
//! Therefore an episode captures its traffic only if it was created with a [`TrafficCapture`].

use std::sync::Arc;
use std::time::Instant;

use http_body_util::BodyExt;
use hyper::body::{Bytes, Frame};
use parking_lot::Mutex;
use snapshots::{Exchange, Response, Spool, Timestamp};

use crate::body::{BodyObserver, ObservedBody};
use crate::record::{CopyOutcome, RequestCopy, SPOOL_MEMORY, as_listed, http_url, request_headers};
use crate::{Body, Reply, RequestHead};

/// The maximum size of a captured body. A longer body is omitted, and its exchange says so.
const MAX_BODY: u64 = 64 << 20;

/// The exchanges captured so far.
#[derive(Debug, Default)]
pub struct TrafficCapture {
    exchanges: Mutex<Vec<(u64, Exchange)>>,
}

impl TrafficCapture {
    /// Takes the complete exchanges, in the order of their requests. Exchanges in progress come
    /// with a later call.
    pub fn take(&self) -> Vec<Exchange> {
        let mut exchanges = self.exchanges.lock();
        let mut taken = std::mem::take(&mut *exchanges);
        taken.sort_by_key(|(seq, _)| *seq);
        taken.into_iter().map(|(_, exchange)| exchange).collect()
    }
}

/// A captured request that waits for its response.
pub(crate) struct CapturedRequest {
    capture: Arc<TrafficCapture>,
    seq: u64,
    exchange: Exchange,
    copy: RequestCopy,
    since: Instant,
}

impl CapturedRequest {
    /// Starts with the request, whose body is copied in transit.
    pub(crate) fn begin(
        capture: &Arc<TrafficCapture>,
        seq: u64,
        head: &RequestHead,
        body: Body,
    ) -> (Body, Self) {
        let (body, copy) = RequestCopy::of(body, MAX_BODY);
        let mut exchange =
            Exchange::get(http_url(&head.url), Timestamp::now(), Response::default());
        exchange.request.method = head.method.to_string();
        exchange.request.headers = request_headers(head);
        (body, Self { capture: capture.clone(), seq, exchange, copy, since: Instant::now() })
    }

    /// Continues with the response, whose body is copied in transit.
    pub(crate) fn with_response(mut self, reply: Reply) -> Reply {
        self.exchange.response.status = reply.status.as_u16();
        self.exchange.response.reason =
            reply.status.canonical_reason().unwrap_or_default().to_owned();
        self.exchange.response.headers = as_listed(&reply.headers);
        let response = CapturedResponse {
            request: Some(self),
            spool: Some(Spool::new(SPOOL_MEMORY)),
            complete: false,
        };
        Reply { body: ObservedBody::new(reply.body, response).boxed_unsync(), ..reply }
    }
}

/// The copy of a response body. The exchange is captured when this is dropped: by then the client
/// has the whole body, or does not want more.
struct CapturedResponse {
    request: Option<CapturedRequest>,
    /// `None` once the body is too long, or cannot be spooled.
    spool: Option<Spool>,
    complete: bool,
}

impl BodyObserver for CapturedResponse {
    fn on_frame(&mut self, frame: &Frame<Bytes>) {
        if let Some(data) = frame.data_ref()
            && let Some(spool) = &mut self.spool
        {
            let fits = spool.len() + data.len() as u64 <= MAX_BODY;
            if !fits || spool.push(data.clone()).is_err() {
                self.spool = None;
            }
        }
    }

    fn on_end(&mut self) {
        self.complete = true;
    }
}

impl Drop for CapturedResponse {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else { return };
        let CapturedRequest { capture, seq, mut exchange, copy, since } = request;
        if let CopyOutcome::Whole(body) = copy.take() {
            exchange.request.body = body;
        }
        let body = self.spool.take().and_then(|spool| spool.finish().ok());
        exchange.truncated = match &body {
            None => Some("length".to_owned()),
            Some(_) if self.complete => None,
            Some(_) => Some("disconnect".to_owned()),
        };
        exchange.response.body = body.unwrap_or_default();
        exchange.duration_ms = Some(since.elapsed().as_secs_f64() * 1000.0);
        capture.exchanges.lock().push((seq, exchange));
    }
}
