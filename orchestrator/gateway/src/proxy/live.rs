//! Responses from the live web, recorded or not.

use std::sync::Arc;

use http::{Extensions, HeaderMap, header};
use http_body_util::BodyExt;
use hyper::body::Bytes;

use super::again;
use super::failure::Failure;
use super::service::ProxyRequest;
use crate::gateway::Shared;
use crate::record::{self, AskedIn, Asker, Draft, RequestCopy};
use crate::upstream::{UpstreamResponse, end_to_end};
use crate::{Answer, Body, Recorder, Reply, RequestHead, Visit, body, miss};

/// A reply with properties that only the connection knows: the case of header names, the reason
/// phrase, and whether the body is an endless stream.
pub(super) struct Outgoing {
    pub(super) reply: Reply,
    pub(super) extensions: Extensions,
    pub(super) stream: bool,
}

impl From<Reply> for Outgoing {
    fn from(reply: Reply) -> Self {
        Self { reply, extensions: Extensions::new(), stream: false }
    }
}

/// The refusal of a request that may change something at a third party.
fn guarded(shared: &Shared, head: &RequestHead) -> Option<Outgoing> {
    let stops =
        shared.write_guard.as_ref().is_some_and(|guard| guard.stops(&head.method, &head.host));
    stops.then(|| miss::guarded(head).into())
}

/// Forwards a request and returns its response.
pub(super) async fn forward(shared: &Shared, request: ProxyRequest) -> Result<Outgoing, Failure> {
    if let Some(refusal) = guarded(shared, &request.head) {
        return Ok(refusal);
    }
    let arrived = shared
        .upstream
        .send(request.head.server(), &request.head, request.extensions, request.body)
        .await?;
    Ok(forwarded(arrived, Answer::Live))
}

/// A response that is not recorded.
pub(super) fn forwarded(mut arrived: UpstreamResponse, answer: Answer) -> Outgoing {
    let events = is_event_stream(&arrived.head.parts.headers);
    if events {
        arrived.body.observer().allow_silence();
    }
    outgoing(arrived.head.parts, arrived.body.boxed_unsync(), events, answer)
}

/// Forwards a request, returns its response, and records both.
pub(super) async fn record(
    shared: &Shared,
    recorder: &Arc<Recorder>,
    visit: Option<&Arc<Visit>>,
    request: ProxyRequest,
) -> Result<Outgoing, Failure> {
    let (body, copy) = RequestCopy::of(request.body, recorder.body_cap());
    let ProxyRequest { head, extensions, .. } = request;
    let request = ProxyRequest { head, extensions, body };
    recorded(shared, recorder, visit, request, (copy, Bytes::new())).await
}

/// As [`record`], with a request body that has already been read.
pub(super) async fn fill(
    shared: &Shared,
    recorder: &Arc<Recorder>,
    visit: Option<&Arc<Visit>>,
    (head, extensions): (RequestHead, Extensions),
    bytes: Bytes,
) -> Result<Outgoing, Failure> {
    let copy = RequestCopy::whole(&bytes);
    let body = if bytes.is_empty() { body::empty() } else { body::full(bytes.clone()) };
    recorded(shared, recorder, visit, ProxyRequest { head, extensions, body }, (copy, bytes)).await
}

/// Records a request. Of its body, what is known before it is sent says whether it may be a write.
async fn recorded(
    shared: &Shared,
    recorder: &Arc<Recorder>,
    visit: Option<&Arc<Visit>>,
    request: ProxyRequest,
    (copy, known_body): (RequestCopy, Bytes),
) -> Result<Outgoing, Failure> {
    let ProxyRequest { head, extensions, body } = request;
    if let Some(refusal) = guarded(shared, &head) {
        return Ok(refusal);
    }
    if let Some(visit) = visit {
        again::before_write(shared, recorder, visit, &head, &known_body).await;
    }
    let asked = visit.map(|visit| AskedIn::new(visit, &head, Asker::Browser));
    let draft = Draft::begin(recorder, asked, &head, copy);
    match shared.upstream.send(head.server(), &head, extensions, body).await {
        Ok(arrived) => Ok(record_response(draft, arrived).await),
        Err(error) => {
            draft.unanswered(&error);
            Err(error.into())
        }
    }
}

/// A response that is recorded as it passes.
pub(super) async fn record_response(mut draft: Draft, mut arrived: UpstreamResponse) -> Outgoing {
    draft.answered(&arrived.head);
    let parts = arrived.head.parts;
    let events = is_event_stream(&parts.headers);
    if events {
        arrived.body.observer().allow_silence();
    }
    // The end of an event cannot be seen in a coded body.
    let whole_at_each_event = events && !parts.headers.contains_key(header::CONTENT_ENCODING);
    let bodiless = draft.is_bodiless();
    let wait = draft.waits_for_body().filter(|_| !events && !bodiless);
    let body = record::record(arrived.body, draft, whole_at_each_event, bodiless).await;
    let body = match wait {
        Some(wait) => body::read_ahead(body.boxed_unsync(), wait).await,
        None => body.boxed_unsync(),
    };
    outgoing(parts, body, events, Answer::Live)
}

fn outgoing(parts: http::response::Parts, body: Body, stream: bool, answer: Answer) -> Outgoing {
    let reply = Reply {
        status: parts.status,
        headers: end_to_end(parts.headers),
        body,
        answer,
        capture: None,
    };
    Outgoing { reply, extensions: parts.extensions, stream }
}

/// Server-sent events, which stay open as long as the page lives.
fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"))
}
