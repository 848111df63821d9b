//! A recorded response as read from an archive, ready to be served many times.

use std::io::{BufReader, Read};
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use hyper::body::Bytes;
use snapshots::http::Dechunk;
use snapshots::index::{Capture, CaptureKind, IndexError, IndexHit, ReplaySet};
use snapshots::{Headers, Record, RecordKind, RecordRef};

use super::{dates, encoding};
use crate::budget::Budget;
use crate::upstream::end_to_end;

/// Bodies up to this size are held in memory while they are served. Larger ones are read while they
/// are sent.
const HELD: u64 = 4 << 20;

/// Bodies up to this size are always held in memory. Reading them in pieces would need as much.
const SMALL: u64 = 64 << 10;

/// The maximum number of content codings of a response. Browsers start a decoder for each.
const MOST_CODINGS: usize = 4;
/// The maximum length of a head: Chromium ends a connection beyond 256 KiB, and each header costs
/// it memory in several processes.
const LARGEST_HEAD: usize = 192 << 10;
/// The maximum number of headers.
const MOST_HEADERS: usize = 1000;

/// Headers that would make the browser leave the sandbox, store state beyond it, or send reports
/// out of it.
const ESCAPES: [HeaderName; 9] = [
    header::STRICT_TRANSPORT_SECURITY,
    header::ALT_SVC,
    header::PUBLIC_KEY_PINS,
    header::PUBLIC_KEY_PINS_REPORT_ONLY,
    header::CONTENT_SECURITY_POLICY_REPORT_ONLY,
    HeaderName::from_static("report-to"),
    HeaderName::from_static("nel"),
    HeaderName::from_static("reporting-endpoints"),
    HeaderName::from_static("expect-ct"),
];

/// Why an indexed capture cannot be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoredError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("read {url}: its body is a revisit of a record that no snapshot of the set holds")]
    BodyElsewhere { url: String },
    #[error("read {url}: the index leads to a record of {found}")]
    OtherRecord { url: String, found: String },
    #[error("read {url}: {status} is no status to send")]
    Status { url: String, status: u16 },
    #[error("read {url}: {reason}, which can end a browser")]
    Unfit { url: String, reason: String },
}

/// A recorded response.
#[derive(Debug)]
pub(super) struct StoredResponse {
    pub(super) status: StatusCode,
    /// End-to-end headers without `Content-Length`. Cookies keep their recorded lifetime.
    pub(super) headers: HeaderMap,
    /// The time in `Date`, else the time of the record; seconds since 1970.
    pub(super) recorded: i64,
    /// The recorded `Content-Length`. For a response to HEAD it is not the length of the body.
    pub(super) claimed_length: Option<u64>,
    pub(super) content: Content,
    /// Whether the recording left it before the server had ended it.
    pub(super) is_left: bool,
}

/// A recorded body, with its content coding and without its transfer coding.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Held(Bytes),
    Streamed(Source),
}

/// The location of a large body.
#[derive(Debug, Clone)]
pub(super) struct Source {
    member: u32,
    at: RecordRef,
    resource: bool,
    chunked: bool,
    /// Its length in the archive.
    stored: u64,
    /// `None` if only a full read would reveal it.
    pub(super) length: Option<u64>,
}

impl Content {
    /// Whether it is streamed from disk only because the memory budget was exhausted at the time of
    /// the request.
    pub(super) fn is_makeshift(&self) -> bool {
        matches!(self, Content::Streamed(source) if source.stored <= HELD)
    }

    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Content::Held(bytes) => Some(bytes.len() as u64),
            Content::Streamed(source) => source.length,
        }
    }

    /// Reads it from its start.
    pub(super) fn open(&self, set: &Arc<ReplaySet>) -> Result<Box<dyn Read + Send>, StoredError> {
        match self {
            Content::Held(bytes) => Ok(Box::new(std::io::Cursor::new(bytes.clone()))),
            Content::Streamed(source) => {
                let mut record = set.read(source.member, source.at)?;
                if !source.resource {
                    record.response_head().map_err(IndexError::from)?;
                }
                Ok(plain(record, source.chunked))
            }
        }
    }
}

fn plain(record: Record, chunked: bool) -> Box<dyn Read + Send> {
    if chunked {
        Box::new(Dechunk::new(BufReader::new(record.block)))
    } else {
        Box::new(record.block)
    }
}

/// Reads a capture: its head, and its body unless that is large.
pub(super) fn load(
    set: &ReplaySet,
    hit: IndexHit,
    bodies: &Budget,
) -> Result<StoredResponse, StoredError> {
    let capture = set.capture(hit)?;
    let (_, url) = set.request_line(hit, &capture)?;
    let mut record = set.read(hit.member, capture.response)?;
    agree(&record, &capture, &url)?;
    if is_resource(&record) {
        let recorded = capture.at_millis.div_euclid(1000);
        return as_file(record, hit.member, capture.response, recorded, bodies);
    }

    let head = record.response_head().map_err(IndexError::from)?;
    let status = StatusCode::from_u16(head.status).ok().filter(|status| status.as_u16() >= 200);
    let Some(status) = status else { return Err(StoredError::Status { url, status: head.status }) };
    let (member, at) = set
        .body_of(hit, &capture)?
        .ok_or_else(|| StoredError::BodyElsewhere { url: url.clone() })?;
    let mut headers = kept(&head.headers);
    let (body_record, chunked) = if (member, at) == (hit.member, capture.response) {
        (record, is_chunked(&head.headers))
    } else {
        // Bytes and content coding are those of the other record.
        let mut origin = set.read(member, at)?;
        if is_resource(&origin) {
            return as_file(origin, member, at, capture.at_millis.div_euclid(1000), bodies);
        }
        let origin_head = origin.response_head().map_err(IndexError::from)?;
        headers.remove(header::CONTENT_ENCODING);
        if let Some(coding) = kept(&origin_head.headers).remove(header::CONTENT_ENCODING) {
            headers.insert(header::CONTENT_ENCODING, coding);
        }
        (origin, is_chunked(&origin_head.headers))
    };
    if let Some(reason) = unfit(&headers) {
        return Err(StoredError::Unfit { url, reason });
    }
    let recorded = headers
        .get(header::DATE)
        .and_then(dates::parse)
        .unwrap_or(capture.at_millis.div_euclid(1000));
    if let http::header::Entry::Occupied(mut cookies) = headers.entry(header::SET_COOKIE) {
        for cookie in cookies.iter_mut() {
            if let Some(relative) = dates::relative_cookie(cookie, recorded) {
                *cookie = relative;
            }
        }
    }
    let is_left = body_record.headers.contains("WARC-Truncated");
    let content = content(body_record, member, at, (false, chunked), bodies)?;
    if let Content::Held(bytes) = &content {
        encoding::drop_false_claim(&mut headers, bytes);
    }
    let claimed_length =
        head.headers.get_str("Content-Length").and_then(|length| length.trim().parse().ok());
    Ok(StoredResponse { status, headers, recorded, claimed_length, content, is_left })
}

/// Whether a response is a stream of events.
pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// What is wrong with headers that no server sends and that can end a process of a browser.
fn unfit(headers: &HeaderMap) -> Option<String> {
    let codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let codings: usize =
        codings.map(|value| value.as_bytes().split(|byte| *byte == b',').count()).sum();
    let length: usize =
        headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if codings > MOST_CODINGS {
        return Some(format!("it has {codings} content codings"));
    }
    if length > LARGEST_HEAD || headers.len() > MOST_HEADERS {
        return Some(format!("it has {} headers of {length} bytes", headers.len()));
    }
    None
}

fn is_resource(record: &Record) -> bool {
    record.kind() == RecordKind::Resource
}

/// A record without an HTTP message is served as a file of its media type.
fn as_file(
    record: Record,
    member: u32,
    at: RecordRef,
    recorded: i64,
    bodies: &Budget,
) -> Result<StoredResponse, StoredError> {
    let mut headers = HeaderMap::new();
    if let Some(kind) =
        record.headers.get("Content-Type").and_then(|kind| HeaderValue::from_bytes(kind).ok())
    {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    let content = content(record, member, at, (true, false), bodies)?;
    Ok(StoredResponse {
        status: StatusCode::OK,
        headers,
        recorded,
        claimed_length: None,
        content,
        is_left: false,
    })
}

/// The body of a record whose head has been read.
fn content(
    record: Record,
    member: u32,
    at: RecordRef,
    (resource, chunked): (bool, bool),
    bodies: &Budget,
) -> Result<Content, StoredError> {
    let length = record.block.remaining();
    let share = match length as usize {
        bytes if length <= SMALL => Some(bodies.overdraw(bytes)),
        bytes if length <= HELD => bodies.take(bytes),
        _ => None,
    };
    let Some(share) = share else {
        let whole = (!chunked).then_some(length);
        return Ok(Content::Streamed(Source {
            member,
            at,
            resource,
            chunked,
            stored: length,
            length: whole,
        }));
    };
    if !chunked {
        let (buffer, start) = record.block.into_parts(HELD).map_err(IndexError::from)?;
        // The read-ahead buffer of a small body can be larger than the body. It is not kept alive
        // for it.
        if buffer.capacity() > 2 * (buffer.len() - start) {
            return Ok(Content::Held(share.of(buffer[start..].to_vec())));
        }
        return Ok(Content::Held(share.of(buffer).slice(start..)));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    let read = plain(record, true).read_to_end(&mut bytes);
    read.map_err(|source| IndexError::Io {
        action: "read",
        path: "a recorded body".into(),
        source,
    })?;
    Ok(Content::Held(share.of(bytes)))
}

/// Whether the record is the one in the index. An archive that was modified after indexing is not
/// served.
fn agree(record: &Record, capture: &Capture, url: &str) -> Result<(), StoredError> {
    let found = record.target_uri().unwrap_or_default();
    let same = found.split('#').next() == Some(url);
    // A revisit without its own head uses the head of the original record.
    if same || capture.kind == CaptureKind::Revisit {
        return Ok(());
    }
    Err(StoredError::OtherRecord { url: url.to_owned(), found: found.into_owned() })
}

/// The headers to serve: end-to-end headers, without the length and without those that leave the
/// sandbox. Invalid fields are dropped.
pub(super) fn kept(headers: &Headers) -> HeaderMap {
    let mut out = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter() {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value))
            && name != header::CONTENT_LENGTH
            && !ESCAPES.contains(&name)
        {
            out.append(name, value);
        }
    }
    end_to_end(out)
}

fn is_chunked(headers: &Headers) -> bool {
    headers
        .get_all("Transfer-Encoding")
        .any(|value| value.to_ascii_lowercase().ends_with(b"chunked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, String)]) -> HeaderMap {
        let all: Headers = lines.iter().map(|(name, value)| (*name, value.as_str())).collect();
        kept(&all)
    }

    #[test]
    fn what_can_end_a_browser_is_not_sent() {
        let coding = |count: usize| ("Content-Encoding", vec!["gzip"; count].join(", "));
        assert_eq!(unfit(&headers(&[coding(4)])), None);
        assert!(unfit(&headers(&[coding(5)])).is_some());
        assert!(unfit(&headers(&vec![coding(1); 300])).is_some());
        assert_eq!(unfit(&headers(&[("X-Long", "x".repeat(100 << 10))])), None);
        assert!(unfit(&headers(&[("X-Long", "x".repeat(200 << 10))])).is_some());
        assert!(unfit(&headers(&vec![("X-Many", String::new()); 1001])).is_some());
    }
}
