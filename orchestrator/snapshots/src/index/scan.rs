//! Extracts the index data of one record.

use std::io::Read;

use sha2::{Digest, Sha256};

use super::effects::{RequestSigns, ResponseSigns, SentBody};
use super::pairing::{Link, Request};
use super::row::CaptureKind;
use crate::http::Dechunk;
use crate::matching::{self, Key, MAX_STRUCTURED_BODY, Payload, ReplayRequest};
use crate::warc::{VISIT, visit_of};
use crate::{Error, Headers, Record, RecordKind, RecordRef, Timestamp};

/// The media type of a WebSocket recording.
pub const SOCKET_FRAMES: &str = "application/x-websocket-frames+jsonl";
/// Longer URIs are not indexed.
const MAX_URI: usize = 64 << 10;

/// A record that is part of an exchange.
pub(super) enum Message {
    Request(Request),
    Response(Link, ResponseRecord),
}

/// A recorded response.
#[derive(Debug)]
pub(super) struct ResponseRecord {
    pub(super) kind: CaptureKind,
    pub(super) url: String,
    pub(super) at: RecordRef,
    pub(super) at_millis: i64,
    pub(super) status: u16,
    /// The keys by which revisits find it: its id, its URI and time, its payload digest.
    pub(super) anchors: [Option<Key>; 3],
    /// The record to which it refers.
    pub(super) origin: Option<Origin>,
    /// What it says of the effect of its request.
    pub(super) signs: ResponseSigns,
}

/// The keys of the record to which a revisit, or a WebSocket recording, refers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    pub(super) id: Option<Key>,
    pub(super) time: Option<Key>,
    pub(super) digest: Option<Key>,
}

/// Extracts the index data of a record; `None` for records that are not part of an exchange.
pub(super) fn message(
    record: &mut Record,
    at: RecordRef,
    number: u64,
) -> Result<Option<Message>, Error> {
    let Some(url) =
        // Browsers send no fragment, but some recorders write it down.
        record.target_uri().map(|uri| uri.split('#').next().unwrap_or_default().to_owned())
    else {
        return Ok(None);
    };
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if url.len() > MAX_URI || !matches!(scheme.as_str(), "http" | "https" | "ws" | "wss") {
        return Ok(None);
    }
    let link = Link {
        id: record.id().map(id_key),
        concurrent: record.concurrent_to().take(4).map(id_key).collect(),
        url: Key::of("uri", &[url.as_bytes()]),
        number,
    };
    match record.kind() {
        RecordKind::Request if record.holds_http() => {
            request(record, at, &url, link).map(|r| Some(Message::Request(r)))
        }
        RecordKind::Response if record.holds_http() => {
            let head = record.response_head()?;
            let signs = ResponseSigns::of(&head.headers);
            Ok(Some(response(record, CaptureKind::Response, (head.status, signs), at, url, link)))
        }
        RecordKind::Revisit => {
            let said = match record.response_head() {
                // The head of a 304 is not that of the page.
                Ok(head) if !not_modified(record) => {
                    (head.status, ResponseSigns::of(&head.headers))
                }
                _ => (0, ResponseSigns::default()),
            };
            Ok(Some(response(record, CaptureKind::Dangling, said, at, url, link)))
        }
        RecordKind::Resource if is_socket(record) => {
            let said = (0, ResponseSigns::default());
            Ok(Some(response(record, CaptureKind::Socket, said, at, url, link)))
        }
        RecordKind::Resource => {
            let said = (200, ResponseSigns::default());
            Ok(Some(response(record, CaptureKind::Resource, said, at, url, link)))
        }
        _ => Ok(None),
    }
}

fn request(record: &mut Record, at: RecordRef, url: &str, link: Link) -> Result<Request, Error> {
    let visit = record.headers.get_str(VISIT).map(visit_of);
    let asked_again = visit.is_some_and(|(_, asked_again)| asked_again);
    let visit = visit.map(|(name, _)| Key::of("visit", &[name.as_bytes()]));
    let parts = request_parts(record)?;
    let request = parts.request_at(url);
    let exact = matching::exact(&request);
    let (normalised, rules) = matching::normalised(&request);
    let body = body_mark(&request.body);
    let sent =
        SentBody { content_type: parts.content_type.as_deref(), bytes: parts.body.as_deref() };
    let signs = RequestSigns::of(&parts.method, url, &parts.headers, &sent);
    Ok(Request {
        link,
        at,
        exact,
        normalised,
        rules,
        body,
        method: parts.method,
        signs,
        visit,
        asked_again,
    })
}

/// A recorded request, read from its record.
#[derive(Debug)]
pub struct RequestParts {
    /// The method.
    pub method: String,
    /// Its `Content-Type`.
    pub content_type: Option<String>,
    /// The body, unless it exceeds the limit for structured comparison.
    pub body: Option<Vec<u8>>,
    /// The SHA-256 of the body.
    pub digest: [u8; 32],
    /// The headers.
    pub headers: Headers,
}

impl RequestParts {
    /// The request for matching. A request record does not contain its full URL.
    pub fn request_at<'a>(&'a self, url: &'a str) -> ReplayRequest<'a> {
        ReplayRequest {
            method: &self.method,
            url,
            content_type: self.content_type.as_deref(),
            body: self.body.as_deref().map_or(Payload::Hashed(self.digest), Payload::Bytes),
        }
    }
}

/// Reads a request record as needed for matching.
pub(crate) fn request_parts(record: &mut Record) -> Result<RequestParts, Error> {
    let head = record.request_head()?;
    let io = |e| Error::io("read", "a request body".into(), e);
    let chunked = head
        .headers
        .get_str("Transfer-Encoding")
        .is_some_and(|v| v.to_ascii_lowercase().contains("chunked"));
    let block = &mut record.block;
    let mut body: Box<dyn Read + '_> = if chunked {
        Box::new(Dechunk::new(std::io::BufReader::new(block)))
    } else {
        Box::new(block)
    };
    let mut start = Vec::new();
    // One byte more tells whether the body goes on.
    body.by_ref().take(MAX_STRUCTURED_BODY as u64 + 1).read_to_end(&mut start).map_err(io)?;
    let mut hasher = Sha256::new();
    hasher.update(&start);
    // Larger bodies are compared by their digest alone, for which all of it is read.
    let whole = start.len() <= MAX_STRUCTURED_BODY;
    if !whole {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match body.read(&mut buffer).map_err(io)? {
                0 => break,
                got => hasher.update(&buffer[..got]),
            }
        }
    }
    Ok(RequestParts {
        content_type: head.headers.get_str("Content-Type").map(str::to_owned),
        method: head.method,
        body: whole.then_some(start),
        digest: hasher.finalize().into(),
        headers: head.headers,
    })
}

/// The part of the body digest that a capture stores, to compare request bodies.
pub fn body_mark(body: &Payload<'_>) -> [u8; 8] {
    let mut mark = [0; 8];
    if !matches!(body, Payload::Bytes([])) {
        mark.copy_from_slice(&body.sha256()[..8]);
    }
    mark
}

fn response(
    record: &Record,
    kind: CaptureKind,
    (status, signs): (u16, ResponseSigns),
    at: RecordRef,
    url: String,
    link: Link,
) -> Message {
    let date = record.date();
    let origin = match kind {
        CaptureKind::Dangling => Some(origin(record, &url)),
        // The frames refer to the response of the handshake.
        CaptureKind::Socket => {
            Some(Origin { id: link.concurrent.first().copied().map(anchored), ..Origin::default() })
        }
        _ => None,
    };
    let anchors = match kind {
        CaptureKind::Response | CaptureKind::Resource => [
            link.id.map(anchored),
            date.map(|date| time_key(&url, date)),
            record.headers.get_str("WARC-Payload-Digest").map(digest_key),
        ],
        _ => [None; 3],
    };
    let at_millis = date.map_or(0, Timestamp::as_millis);
    Message::Response(
        link,
        ResponseRecord { kind, url, at, at_millis, status, anchors, origin, signs },
    )
}

/// The keys of the record to which a revisit refers.
pub(super) fn origin(record: &Record, url: &str) -> Origin {
    let text = |name: &str| record.headers.get_str(name).map(str::trim);
    let bare =
        |uri: &str| uri.trim_matches(['<', '>']).split('#').next().unwrap_or_default().to_owned();
    let target = text("WARC-Refers-To-Target-URI").map_or_else(|| url.to_owned(), bare);
    let date = text("WARC-Refers-To-Date").and_then(|date| Timestamp::parse(date).ok());
    Origin {
        id: text("WARC-Refers-To").map(|id| anchored(id_key(id.trim_matches(['<', '>'])))),
        time: date.map(|date| time_key(&target, date)),
        digest: text("WARC-Payload-Digest").map(digest_key),
    }
}

fn not_modified(record: &Record) -> bool {
    record
        .headers
        .get_str("WARC-Profile")
        .is_some_and(|profile| profile.contains("server-not-modified"))
}

fn is_socket(record: &Record) -> bool {
    record
        .content_type()
        .is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with(SOCKET_FRAMES))
}

fn id_key(id: &str) -> Key {
    Key::of("id", &[id.as_bytes()])
}

fn anchored(id: Key) -> Key {
    Key::of("anchor-id", &[&id.0])
}

/// Writers of revisits give whole seconds, even if the record itself has a fraction.
fn time_key(url: &str, date: Timestamp) -> Key {
    let seconds = date.as_millis().div_euclid(1000);
    Key::of("anchor-time", &[matching::whole_url(url).as_bytes(), &seconds.to_le_bytes()])
}

fn digest_key(digest: &str) -> Key {
    Key::of("anchor-digest", &[digest.trim().to_ascii_lowercase().as_bytes()])
}
