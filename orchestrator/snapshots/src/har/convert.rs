//! Converts a log entry into an exchange that a server could have sent. Each deviation from the
//! entry becomes a note.

use std::fmt;
use std::io::{self, Read};
use std::net::IpAddr;

use serde::Serialize;

use super::attachments::shortened;
use super::body::{self, BodyContent};
use super::schema::{RawEntry, RawHeader, Text};
use super::{Attachments, Error, messages};
use crate::exchange::target_of;
use crate::http::{MAX_HEAD, decoder};
use crate::{Body, Exchange, Frame, Headers, Request, Response, Timestamp};

/// One entry of a log.
#[derive(Debug)]
pub struct Entry {
    /// Its number in the log, from 1.
    pub number: u64,
    /// The exchange. Status 0 means that the request got no response; [`Note::NoResponse`] says
    /// why.
    pub exchange: Exchange,
    /// The WebSocket messages, if the exchange opened a WebSocket; `None` for any other exchange.
    pub frames: Option<Vec<Frame>>,
    /// The id of its page, see [`PageRef::id`](super::PageRef::id).
    pub page: Option<String>,
    /// Where the exchange deviates from the log, or the log is incomplete.
    pub notes: Vec<Note>,
}

/// A difference between an entry as written and the resulting exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Note {
    /// The log has the decoded body, so `content-encoding` was removed from the headers.
    ContentEncodingDropped {
        /// The coding in the header.
        coding: String,
    },
    /// `content-length` did not match the body and was set to its size.
    ContentLengthCorrected {
        /// The value in the header.
        said: String,
        /// Size of the body in bytes.
        is: u64,
    },
    /// The text could not be encoded in the declared character set. It is UTF-8 now, and the header
    /// says so.
    CharsetChanged {
        /// The character set in the header.
        said: String,
    },
    /// A header that HTTP/1.1 cannot carry (an HTTP/2 pseudo header, or one with control
    /// characters) was removed.
    HeaderDropped {
        /// Its name.
        name: String,
    },
    /// The response had a body that is not in the log.
    BodyMissing,
    /// The request had a body that is not in the log.
    RequestBodyMissing,
    /// The request body was rebuilt from its form fields; the order of bytes may differ.
    RequestBodyRebuilt,
    /// The response body was rebuilt from the events that the browser received.
    BodyFromEvents,
    /// The log has a 304 with the body from the browser's cache.
    BodyFromCache,
    /// The request got no response.
    NoResponse {
        /// The reason given in the log.
        reason: String,
    },
}

impl Note {
    /// The kind as in JSON, for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Note::ContentEncodingDropped { .. } => "content-encoding-dropped",
            Note::ContentLengthCorrected { .. } => "content-length-corrected",
            Note::CharsetChanged { .. } => "charset-changed",
            Note::HeaderDropped { .. } => "header-dropped",
            Note::BodyMissing => "body-missing",
            Note::RequestBodyMissing => "request-body-missing",
            Note::RequestBodyRebuilt => "request-body-rebuilt",
            Note::BodyFromEvents => "body-from-events",
            Note::BodyFromCache => "body-from-cache",
            Note::NoResponse { .. } => "no-response",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::ContentEncodingDropped { coding } => {
                write!(out, "the body is decoded in the log: content-encoding {coding} dropped")
            }
            Note::ContentLengthCorrected { said, is } => {
                write!(out, "content-length was {said}, the body has {is} bytes")
            }
            Note::CharsetChanged { said } => {
                write!(out, "the text is kept as utf-8 instead of {said}")
            }
            Note::HeaderDropped { name } => {
                write!(out, "header {name:?} cannot stand in HTTP/1.1 and was dropped")
            }
            Note::BodyMissing => write!(out, "the log does not hold the response's body"),
            Note::RequestBodyMissing => write!(out, "the log does not hold the request's body"),
            Note::RequestBodyRebuilt => {
                write!(out, "the request's body was put together from its form fields")
            }
            Note::BodyFromEvents => {
                write!(out, "the event stream was put together from its events")
            }
            Note::BodyFromCache => write!(out, "a 304 with the body from the browser's cache"),
            Note::NoResponse { reason } => write!(out, "no response: {reason}"),
        }
    }
}

/// Converts an entry from its JSON form. `limit` bounds a body that is stored beside the log.
pub(super) fn entry_from(
    raw: RawEntry,
    number: u64,
    attachments: &mut Attachments,
    limit: u64,
) -> Result<Entry, Error> {
    let bad = |field, reason: String| Error::Entry { entry: number, field, reason };
    let started = Timestamp::parse(raw.started_date_time.as_str()).map_err(|_| {
        bad(
            "startedDateTime",
            format!("is not a date with time and zone: {:?}", shortened(&raw.started_date_time.0)),
        )
    })?;
    let mut notes = Vec::new();

    let url = raw.request.url.0;
    if let Err(error) = url::Url::parse(&url) {
        return Err(bad(
            "request.url",
            format!("is not an absolute URL ({error}): {:?}", shortened(&url)),
        ));
    }
    let method = raw.request.method.0;
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err(bad("request.method", format!("is not a method: {:?}", shortened(&method))));
    }
    let status = status(raw.response.status).map_err(|reason| bad("response.status", reason))?;

    let mut request_headers = headers(raw.request.headers.unwrap_or_default(), &mut notes)
        .map_err(|reason| bad("request.headers", reason))?;
    let (found, rebuilt) = body::of_request(raw.request.post_data, number, attachments, limit)?;
    if rebuilt {
        notes.push(Note::RequestBodyRebuilt);
    }
    if found == BodyContent::Missing && raw.request.body_size.is_some_and(|size| size > 0.0) {
        notes.push(Note::RequestBodyMissing);
    }
    let request_body = settle(found, &mut request_headers, &mut notes);

    let mut response_headers = headers(raw.response.headers.unwrap_or_default(), &mut notes)
        .map_err(|reason| bad("response.headers", reason))?;
    let coded = response_headers.contains("content-encoding");
    let said = raw.response.content.as_ref().and_then(|content| content.size);
    let media = raw.response.content.as_ref().and_then(|content| content.mime_type.as_ref());
    let media = media.map(|media| media.0.clone()).filter(|media| media.contains('/'));
    let mut found = body::of_response(raw.response.content, coded, number, attachments, limit)?;
    let events = raw.event_source_messages.unwrap_or_default();
    if found.is_empty() && !events.is_empty() {
        notes.push(Note::BodyFromEvents);
        found = BodyContent::Text(messages::event_stream(&events));
    }
    if status == 0 {
        let reason = raw.response.error.map(|error| error.0).filter(|error| !error.is_empty());
        notes.push(Note::NoResponse {
            reason: reason.unwrap_or_else(|| "the log does not say why".to_owned()),
        });
    } else if found.is_empty()
        && has_body(&method, status)
        && !is_known_empty(said, &response_headers, &found)
    {
        notes.push(Note::BodyMissing);
    } else if status == 304 && !found.is_empty() {
        notes.push(Note::BodyFromCache);
        // A 304 inherits its media type from the cached response, which the log lists separately.
        if let (Some(media), false) = (media, response_headers.contains("content-type")) {
            response_headers.set("Content-Type", media);
        }
    }
    let response_body = settle(found, &mut response_headers, &mut notes);

    let opens_socket =
        raw.web_socket_messages.is_some() || url.starts_with("ws:") || url.starts_with("wss:");
    let frames = opens_socket.then(|| {
        messages::from_raw(raw.web_socket_messages.unwrap_or_default(), started.as_millis())
    });
    let protocol = [raw.response.http_version, raw.request.http_version]
        .into_iter()
        .flatten()
        .find(|v| !v.0.is_empty());
    let ip = raw
        .server_ip_address
        .and_then(|text| text.0.trim_matches(['[', ']']).parse::<IpAddr>().ok());
    let reason = raw.response.status_text.map(|text| text.0).unwrap_or_default();

    let target = target_of(&url).to_owned();
    let exchange = Exchange {
        url,
        started,
        request: Request {
            method,
            target,
            headers: request_headers,
            body: Body::from(request_body),
        },
        response: Response {
            status,
            reason: reason.chars().filter(|c| !c.is_control()).collect(),
            headers: response_headers,
            body: Body::from(response_body),
        },
        protocol: protocol.map(|version| version.0),
        ip,
        duration_ms: raw.time.filter(|time| *time >= 0.0),
        page: None,
        visit: None,
        asked_again: false,
        truncated: None,
    };
    Ok(Entry { number, exchange, frames, page: raw.pageref.map(|page| page.0), notes })
}

impl BodyContent {
    fn is_empty(&self) -> bool {
        match self {
            BodyContent::Missing => true,
            BodyContent::Text(text) => text.is_empty(),
            BodyContent::Sent(bytes) | BodyContent::Decoded(bytes) | BodyContent::Bytes(bytes) => {
                bytes.is_empty()
            }
        }
    }
}

/// The bytes of the body. The headers are adjusted to match them.
fn settle(found: BodyContent, headers: &mut Headers, notes: &mut Vec<Note>) -> Vec<u8> {
    let content_type = headers.get_str("content-type").unwrap_or_default().to_owned();
    let coding = headers
        .get_str("content-encoding")
        .filter(|coding| !is_identity(coding))
        .map(str::to_owned);
    let (bytes, decoded) = match found {
        BodyContent::Missing => return Vec::new(),
        BodyContent::Sent(bytes) => (bytes, false),
        BodyContent::Text(text) => {
            let charset = body::charset(&content_type);
            let (bytes, honest) = body::encode_text(text, charset.as_deref());
            if !honest {
                let said = charset.unwrap_or_default();
                headers.set("content-type", with_utf8(&content_type));
                notes.push(Note::CharsetChanged { said });
            }
            (bytes, true)
        }
        BodyContent::Decoded(bytes) => (bytes, true),
        // Exporters store such bytes as sent or decoded, without saying which. Their first bytes
        // tell.
        BodyContent::Bytes(bytes) => {
            let decoded = coding.as_deref().is_some_and(|coding| !is_coded(coding, &bytes));
            (bytes, decoded)
        }
    };
    // An empty body fits any headers, such as those of HEAD and 304.
    if bytes.is_empty() {
        return bytes;
    }
    if let (Some(coding), true) = (coding, decoded) {
        headers.remove("content-encoding");
        notes.push(Note::ContentEncodingDropped { coding });
    }
    let said = headers.get_str("content-length").map(str::to_owned);
    if let Some(said) = said.filter(|said| said.trim().parse() != Ok(bytes.len())) {
        headers.set("content-length", bytes.len().to_string());
        notes.push(Note::ContentLengthCorrected { said, is: bytes.len() as u64 });
    }
    bytes
}

/// How many decoded bytes are examined to determine whether a body is coded.
const EXAMINED_BYTES: u64 = 1 << 20;

/// Whether `bytes` still have the codings of a `content-encoding` header. gzip and zstd are
/// recognised by their first bytes, so a damaged body still counts as coded. For the other codings
/// the bytes must decode, up to a limit.
fn is_coded(codings: &str, bytes: &[u8]) -> bool {
    match codings
        .rsplit(',')
        .next()
        .map(str::trim)
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "gzip" | "x-gzip" => bytes.starts_with(&[0x1F, 0x8B]),
        "zstd" => bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]),
        // These begin with no fixed bytes, so a part is decoded.
        "deflate" | "br" => decoder(codings, bytes).is_ok_and(|decoded| {
            io::copy(&mut decoded.take(EXAMINED_BYTES), &mut io::sink()).is_ok()
        }),
        _ => false,
    }
}

/// One header per value. Firefox and Chrome join repeated headers by line feeds, which cannot occur
/// inside a value. A value of nothing but line feeds is a header for each, so all together have the
/// limit of a head.
fn headers(raw: Vec<RawHeader>, notes: &mut Vec<Note>) -> Result<Headers, String> {
    let mut headers = Headers::default();
    let mut room = MAX_HEAD;
    for RawHeader { name: Text(name), value } in raw {
        let mut dropped = false;
        let values = value.map(|values| values.0).unwrap_or_else(|| vec![Text::default()]);
        for value in values.iter().flat_map(|value| value.0.split('\n')) {
            let value = value.trim_matches(['\r', ' ', '\t']);
            let sound =
                !name.is_empty() && name.bytes().all(is_token) && !value.contains(['\r', '\0']);
            if sound {
                let size = name.len() + value.len() + ": \r\n".len();
                let too_large = || format!("are larger than {MAX_HEAD} bytes");
                room = room.checked_sub(size).ok_or_else(too_large)?;
                headers.push(name.as_str(), value);
            }
            dropped |= !sound;
        }
        if dropped {
            notes.push(Note::HeaderDropped { name: shortened(&name) });
        }
    }
    Ok(headers)
}

fn is_identity(coding: &str) -> bool {
    coding.trim().eq_ignore_ascii_case("identity") || coding.trim().is_empty()
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn status(number: Option<f64>) -> Result<u16, String> {
    match number {
        None | Some(-1.0 | 0.0) => Ok(0),
        Some(number) if number.fract() == 0.0 && (100.0..1000.0).contains(&number) => {
            Ok(number as u16)
        }
        Some(number) => Err(format!("is not a status: {number}")),
    }
}

/// Whether such a response has a significant body. Logs rarely keep the body of a redirect.
fn has_body(method: &str, status: u16) -> bool {
    method != "HEAD" && status >= 200 && !matches!(status, 204 | 205 | 300..400)
}

fn is_known_empty(size: Option<f64>, headers: &Headers, found: &BodyContent) -> bool {
    match headers.get_str("content-length").and_then(|length| length.trim().parse::<u64>().ok()) {
        Some(length) => length == 0,
        None => matches!(found, BodyContent::Text(_)) || size == Some(0.0),
    }
}

fn with_utf8(content_type: &str) -> String {
    let kept = content_type
        .split(';')
        .filter(|part| !part.trim().to_ascii_lowercase().starts_with("charset"));
    let kept: Vec<&str> = kept.map(str::trim).collect();
    format!("{}; charset=utf-8", kept.join("; "))
}
