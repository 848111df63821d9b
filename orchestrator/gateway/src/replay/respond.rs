//! Converts a recorded response into the reply to this request: conditions, encodings, ranges.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use hyper::body::Bytes;
use snapshots::http::{HttpError, decode_content, decoder};
use snapshots::index::{IndexError, ReplaySet};

use super::partial::SkipReader;
use super::stored::{Content, StoredError, StoredResponse};
use super::{DatePolicy, conditional, dates, encoding, range};
use crate::budget::Budget;
use crate::{Answer, Reply, RequestHead, body};

/// A decoded body up to this size is held in memory. A larger one is decoded while it is sent.
const DECODED: u64 = 8 << 20;

/// What replies depend on besides the request and the recording.
pub(super) struct ReplyContext<'a> {
    pub(super) set: &'a Arc<ReplaySet>,
    pub(super) bodies: &'a Budget,
    pub(super) dates: DatePolicy,
    pub(super) started: SystemTime,
}

/// Replies to `head` with a recorded response, which `stays_open` behind its last byte or not.
pub(super) fn reply(
    setting: &ReplyContext<'_>,
    stored: &StoredResponse,
    (head, stays_open): (&RequestHead, bool),
    answer: Answer,
) -> Result<Reply, StoredError> {
    let mut headers = stored.headers.clone();
    dates::shift(&mut headers, setting.dates, stored.recorded, setting.started, SystemTime::now());
    // A browser that has this version in its cache asks whether it is still the newest.
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    if reads
        && stored.status == StatusCode::OK
        && conditional::not_modified(&head.headers, &headers, setting.dates)
    {
        return Ok(bare(StatusCode::NOT_MODIFIED, headers, answer.derived("not modified")));
    }
    if bodiless(stored.status) {
        return Ok(bare(stored.status, headers, answer));
    }
    let content = readable(setting, stored, head, &mut headers)?;
    let length = content.length();
    if reads
        && stored.status == StatusCode::OK
        && let (Some(wanted), Some(length)) = (range::wanted(&head.headers), length)
        && conditional::range_holds(&head.headers, &headers)
    {
        return match wanted.within(length) {
            Some((first, last)) => {
                cut(setting, &content, head, headers, (first, last, length), answer)
            }
            None => Ok(unsatisfied(headers, length, answer)),
        };
    }
    if stays_open && head.method != Method::HEAD {
        headers.remove(header::CONTENT_LENGTH);
        let body = body::open_ended(body::from_read(content.open(setting)?, length));
        return Ok(Reply { status: stored.status, headers, body, answer, capture: None });
    }
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    let body = match content.held() {
        _ if head.method == Method::HEAD => body::empty(),
        Some(bytes) => body::full(bytes.clone()),
        None => body::from_read(content.open(setting)?, length),
    };
    Ok(Reply { status: stored.status, headers, body, answer, capture: None })
}

/// The reply to a HEAD that was recorded as HEAD: everything but a body.
pub(super) fn recorded_head(
    setting: &ReplyContext<'_>,
    stored: &StoredResponse,
    answer: Answer,
) -> Reply {
    let mut headers = stored.headers.clone();
    dates::shift(&mut headers, setting.dates, stored.recorded, setting.started, SystemTime::now());
    if let (Some(length), false) = (stored.claimed_length, bodiless(stored.status)) {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Reply { status: stored.status, headers, body: body::empty(), answer, capture: None }
}

/// A body in a coding that this client accepts.
enum Readable<'a> {
    Recorded(&'a Content),
    Decoded(Bytes),
    Decoding { content: &'a Content, codings: String },
}

impl Readable<'_> {
    fn length(&self) -> Option<u64> {
        match self {
            Readable::Recorded(content) => content.length(),
            Readable::Decoded(bytes) => Some(bytes.len() as u64),
            Readable::Decoding { .. } => None,
        }
    }

    fn open(&self, setting: &ReplyContext<'_>) -> Result<Box<dyn Read + Send>, StoredError> {
        match self {
            Readable::Recorded(content) => content.open(setting.set),
            Readable::Decoded(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            Readable::Decoding { content, codings } => {
                decoder(codings, content.open(setting.set)?).map_err(broken)
            }
        }
    }

    /// The bytes, if they are in memory.
    fn held(&self) -> Option<&Bytes> {
        match self {
            Readable::Recorded(Content::Held(bytes)) | Readable::Decoded(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// Decodes the body if the client does not accept its coding.
fn readable<'a>(
    setting: &ReplyContext<'_>,
    stored: &'a StoredResponse,
    head: &RequestHead,
    headers: &mut HeaderMap,
) -> Result<Readable<'a>, StoredError> {
    let content = &stored.content;
    let Some(codings) =
        encoding::of(headers).filter(|codings| !encoding::accepted(&head.headers, codings))
    else {
        return Ok(Readable::Recorded(content));
    };
    headers.remove(header::CONTENT_ENCODING);
    encoding::vary(headers);
    if head.method == Method::HEAD || matches!(content, Content::Streamed(_)) {
        return Ok(Readable::Decoding { content, codings });
    }
    match decode_content(&codings, content.open(setting.set)?, DECODED) {
        Ok(bytes) => match setting.bodies.take(bytes.len()) {
            Some(share) => Ok(Readable::Decoded(share.of(bytes))),
            // No memory is left for bodies, so this one is decoded while it is sent.
            None => Ok(Readable::Decoding { content, codings }),
        },
        Err(HttpError::TooLarge { .. }) => Ok(Readable::Decoding { content, codings }),
        Err(error) => Err(broken(error)),
    }
}

fn cut(
    setting: &ReplyContext<'_>,
    content: &Readable<'_>,
    head: &RequestHead,
    mut headers: HeaderMap,
    (first, last, total): (u64, u64, u64),
    answer: Answer,
) -> Result<Reply, StoredError> {
    let length = last - first + 1;
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    range::set_content_range(&mut headers, first, last, Some(total));
    let body = match content.held() {
        _ if head.method == Method::HEAD => body::empty(),
        Some(bytes) => body::full(bytes.slice(first as usize..=last as usize)),
        None => body::from_read(
            SkipReader { source: content.open(setting)?, skip: first },
            Some(length),
        ),
    };
    Ok(Reply {
        status: StatusCode::PARTIAL_CONTENT,
        headers,
        body,
        answer: answer.derived("range"),
        capture: None,
    })
}

fn unsatisfied(mut headers: HeaderMap, length: u64, answer: Answer) -> Reply {
    let value = HeaderValue::try_from(format!("bytes */{length}"));
    conditional::without_content(&mut headers);
    if let Ok(value) = value {
        headers.insert(header::CONTENT_RANGE, value);
    }
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(0));
    let status = StatusCode::RANGE_NOT_SATISFIABLE;
    Reply {
        status,
        headers,
        body: body::empty(),
        answer: answer.derived("range not satisfiable"),
        capture: None,
    }
}

fn bare(status: StatusCode, mut headers: HeaderMap, answer: Answer) -> Reply {
    conditional::without_content(&mut headers);
    Reply { status, headers, body: body::empty(), answer, capture: None }
}

fn bodiless(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// The reply to a client that reconnects to an event stream of which it has received all: a 204
/// tells it to stop. Sending the same events again would be wrong.
pub(super) fn end_of_stream(stored: &StoredResponse, answer: Answer) -> Reply {
    bare(StatusCode::NO_CONTENT, stored.headers.clone(), answer.derived("end of event stream"))
}

fn broken(error: HttpError) -> StoredError {
    StoredError::Index(IndexError::Archive(error.into()))
}
