//! An exchange in progress: complete except for the response body, which is still arriving.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use hyper::ext::ReasonPhrase;
use snapshots::{Exchange, Headers, Spool, Timestamp};

use super::request::{CopyOutcome, RequestCopy};
use super::{AskedIn, Recorder};
use crate::RequestHead;
use crate::upstream::{UpstreamError, UpstreamHead};

/// For how long the body of a redirect is waited for, and that of an answer to a write.
const REDIRECT: Duration = Duration::from_secs(5);
const SENT: Duration = Duration::from_millis(500);

/// An exchange that is completed by its response body. If it is dropped before that, it is counted
/// as partial.
pub(crate) struct Draft {
    recorder: Arc<Recorder>,
    exchange: Option<Exchange>,
    copy: RequestCopy,
    /// `None` where nobody knows who asks.
    asked: Option<AskedIn>,
    since: Instant,
}

impl Draft {
    /// Starts with the request, before it is sent.
    pub(crate) fn begin(
        recorder: &Arc<Recorder>,
        asked: Option<AskedIn>,
        head: &RequestHead,
        copy: RequestCopy,
    ) -> Self {
        recorder.opened();
        let mut exchange =
            Exchange::get(http_url(&head.url), Timestamp::now(), snapshots::Response::default());
        exchange.request.method = head.method.to_string();
        exchange.request.headers = request_headers(head);
        asked.iter().for_each(AskedIn::sent);
        exchange.visit = asked.as_ref().map(|asked| asked.visit.name().to_owned());
        exchange.asked_again = asked.as_ref().is_some_and(|asked| asked.asker.is_recorder());
        Self {
            recorder: recorder.clone(),
            exchange: Some(exchange),
            copy,
            asked,
            since: Instant::now(),
        }
    }

    /// Adds the response head.
    pub(crate) fn answered(&mut self, arrived: &UpstreamHead) {
        let Some(exchange) = &mut self.exchange else { return };
        exchange.ip = arrived.remote.map(|remote| remote.ip());
        exchange.protocol = Some(if arrived.http2 { "h2" } else { "http/1.1" }.to_owned());
        exchange.response.status = arrived.parts.status.as_u16();
        if let Some(asked) = &self.asked {
            asked.answered(&arrived.parts);
        }
        exchange.response.reason = reason(arrived);
        exchange.response.headers = arrived
            .raw
            .as_deref()
            .and_then(|raw| as_sent(raw, &arrived.parts.headers))
            .unwrap_or_else(|| as_listed(&arrived.parts.headers));
    }

    /// Whether the method or the status implies that there is no body, whatever the declared
    /// length.
    pub(crate) fn is_bodiless(&self) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| {
            exchange.request.method == "HEAD" || matches!(exchange.response.status, 204 | 304)
        })
    }

    /// For how long the body is waited for before the client gets the head. A browser that is led
    /// elsewhere leaves before the end, and so does a page that only wants to know that something
    /// was done: then it would not be recorded.
    pub(crate) fn waits_for_body(&self) -> Option<Duration> {
        let exchange = self.exchange.as_ref()?;
        let is_redirect = (300..400).contains(&exchange.response.status)
            && exchange.response.headers.contains("location");
        let is_sent = !["GET", "HEAD", "OPTIONS"].contains(&exchange.request.method.as_str());
        match () {
            () if is_redirect => Some(REDIRECT),
            () if is_sent => Some(SENT),
            () => None,
        }
    }

    /// Completes the exchange, redacted and ready to be written. Returns `None` if it is not kept;
    /// that has then been counted.
    pub(crate) fn complete(mut self, spool: Spool) -> Option<(Arc<Recorder>, Exchange)> {
        let mut exchange = self.exchange.take()?;
        let recorder = self.recorder.clone();
        let url = &exchange.url;
        let (request, response) = match (self.copy.take(), spool.finish()) {
            (CopyOutcome::Whole(request), Ok(response)) => (request, response),
            (CopyOutcome::Partial, _) => {
                recorder.partial(url, "the answer was there before the request was");
                return None;
            }
            (CopyOutcome::TooLarge, _) => {
                recorder.too_large(url);
                return None;
            }
            (CopyOutcome::Failed(error), _) | (_, Err(error)) => {
                recorder.failed(url, &error);
                return None;
            }
        };
        exchange.request.body = request;
        exchange.response.body = response;
        // Before the redaction: requests that are made again need their real values.
        if let Some(asked) = &self.asked {
            asked.note(&exchange, self.since.elapsed());
        }
        exchange.duration_ms = Some(self.since.elapsed().as_secs_f64() * 1000.0);
        if let Err(error) = recorder.redact(&mut exchange) {
            recorder.failed(&exchange.url, &error);
            return None;
        }
        Some((recorder, exchange))
    }

    /// The opening handshake of a WebSocket, whose frames follow. Returns `None` if it is not kept.
    pub(crate) fn into_opening(self) -> Option<(Arc<Recorder>, Exchange)> {
        self.complete(Spool::new(0))
    }

    /// Discards it because a body exceeds the limit.
    pub(crate) fn too_large(mut self) {
        if let Some(exchange) = self.exchange.take() {
            self.recorder.too_large(&exchange.url);
        }
    }

    /// Discards it because of a disk error.
    pub(crate) fn failed(mut self, error: &std::io::Error) {
        if let Some(exchange) = self.exchange.take() {
            self.recorder.failed(&exchange.url, error);
        }
    }

    /// The limit on bodies.
    pub(crate) fn body_cap(&self) -> u64 {
        self.recorder.body_cap()
    }

    /// Discards it because there is no response.
    pub(crate) fn unanswered(mut self, error: &UpstreamError) {
        if let Some(exchange) = self.exchange.take() {
            self.recorder.unanswered(&exchange.url, error);
        }
    }

    /// Discards it because the response broke off.
    pub(crate) fn broke_off(mut self, error: &(dyn std::error::Error + 'static)) {
        if let Some(exchange) = self.exchange.take() {
            self.recorder.partial(
                &exchange.url,
                &format!("it broke off: {}", error_text::with_causes(error)),
            );
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            self.recorder
                .partial(&exchange.url, "the client left, or the recording ended, before its end");
        }
        self.recorder.ended();
    }
}

/// A WebSocket is opened by HTTP, so its handshake is stored under an `http:` or `https:` URL.
pub(crate) fn http_url(url: &str) -> String {
    match url.strip_prefix("ws") {
        Some(rest) => format!("http{rest}"),
        None => url.to_owned(),
    }
}

/// The request headers with a `Host` for every version, as in HTTP/1.1.
pub(crate) fn request_headers(head: &RequestHead) -> Headers {
    let mut headers = as_listed(&head.headers);
    if !headers.contains("host") {
        let authority = head.url.split("://").nth(1).and_then(|rest| rest.split(['/', '?']).next());
        headers
            .0
            .insert(0, ("host".to_owned(), authority.unwrap_or(&head.host).as_bytes().to_vec()));
    }
    headers
}

pub(crate) fn as_listed(headers: &HeaderMap) -> Headers {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

/// The header fields exactly as the server sent them, if the tapped head is the one that hyper
/// parsed.
fn as_sent(raw: &[u8], parsed: &HeaderMap) -> Option<Headers> {
    let lines = raw.strip_suffix(b"\r\n\r\n")?;
    let mut headers = Headers::new();
    for line in lines.split(|byte| *byte == b'\n').skip(1) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = std::str::from_utf8(&line[..colon]).ok()?;
        headers.push(name, line[colon + 1..].trim_ascii());
    }
    let agrees = headers.len() == parsed.len()
        && parsed.keys().all(|name| {
            headers
                .get_all(name.as_str())
                .eq(parsed.get_all(name).iter().map(http::HeaderValue::as_bytes))
        });
    agrees.then_some(headers)
}

/// The reason phrase. hyper keeps it only if it is not the standard one.
fn reason(arrived: &UpstreamHead) -> String {
    match arrived.parts.extensions.get::<ReasonPhrase>() {
        Some(reason) => String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        None if arrived.http2 => String::new(),
        None => arrived.parts.status.canonical_reason().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_kept_as_sent_only_if_it_is_the_one_that_was_read() {
        let raw =
            b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX-Thing:  two \r\nset-cookie: b=2\r\n\r\n";
        let mut parsed = HeaderMap::new();
        parsed.append("set-cookie", http::HeaderValue::from_static("a=1"));
        parsed.append("x-thing", http::HeaderValue::from_static("two"));
        assert_eq!(as_sent(raw, &parsed), None);
        parsed.append("set-cookie", http::HeaderValue::from_static("b=2"));
        let kept = as_sent(raw, &parsed).unwrap();
        assert_eq!(
            kept.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["Set-Cookie", "X-Thing", "set-cookie"]
        );
        assert_eq!(as_sent(b"HTTP/1.1 200 OK\r\n\r\n", &HeaderMap::new()), Some(Headers::new()));
        assert_eq!(as_sent(b"garbage", &parsed), None);
    }
}
