//! Converts exchanges into records: headers around bodies that are not copied.

use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;

use crate::http::{write_request, write_response};
use crate::warc::{RecordHead, RecordKind, VISIT, new_record_id, visit_field};
use crate::{Body, Exchange, Headers};

/// A part of an entry; all parts are written together.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    Bytes(&'a [u8]),
    Parts(&'a [bytes::Bytes]),
    /// A part of a file.
    File {
        file: &'a Arc<File>,
        start: u64,
        length: u64,
    },
}

impl<'a> Piece<'a> {
    pub(super) fn length(&self) -> u64 {
        match self {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::Parts(parts) => parts.iter().map(|part| part.len() as u64).sum(),
            Piece::File { length, .. } => *length,
        }
    }

    fn body(body: &'a Body) -> Piece<'a> {
        match body {
            Body::Bytes(bytes) => Piece::Bytes(bytes),
            Body::Parts(parts) => Piece::Parts(parts),
            Body::File { file, length } => Piece::File { file, start: 0, length: *length },
        }
    }
}

/// The two records of an exchange, without the bodies.
pub(super) struct Records {
    id: String,
    /// Header and HTTP head of the response.
    response: Vec<u8>,
    /// End of the response record, then header and HTTP head of the request.
    request: Vec<u8>,
}

impl Records {
    pub(super) fn pieces<'a>(&'a self, exchange: &'a Exchange) -> Vec<Piece<'a>> {
        vec![
            Piece::Bytes(&self.response),
            Piece::body(&exchange.response.body),
            Piece::Bytes(&self.request),
            Piece::body(&exchange.request.body),
            Piece::Bytes(END),
        ]
    }

    pub(super) fn response_id(&self) -> &str {
        &self.id
    }
}

pub(super) const END: &[u8] = b"\r\n\r\n";

pub(super) fn exchange(exchange: &Exchange) -> Records {
    let id = new_record_id();
    // A fragment is never sent, and is no part of the request.
    let url = exchange.url.split('#').next().unwrap_or(&exchange.url);

    let mut http = Vec::with_capacity(1 << 10);
    let answer = &exchange.response;
    write_response(
        &mut http,
        answer.status,
        &answer.reason,
        &framed(&answer.headers, answer.body.len()),
    );
    let mut response = about(RecordKind::Response, &id, url, exchange)
        .optional("WARC-IP-Address", exchange.ip.map(|ip| ip.to_string()).as_deref())
        .optional("WARC-Truncated", exchange.truncated.as_deref())
        .field("Content-Type", "application/http; msgtype=response")
        .finish(http.len() as u64 + answer.body.len());
    response.append(&mut http);

    let ask = &exchange.request;
    write_request(&mut http, &ask.method, &ask.target, &framed(&ask.headers, ask.body.len()));
    let mut request = END.to_vec();
    let visit = exchange.visit.as_ref().map(|name| visit_field(name, exchange.asked_again));
    let head = about(RecordKind::Request, &new_record_id(), url, exchange)
        .uri("WARC-Concurrent-To", &id)
        .optional(VISIT, visit.as_deref())
        .field("Content-Type", "application/http; msgtype=request")
        .finish(http.len() as u64 + ask.body.len());
    request.extend_from_slice(&head);
    request.append(&mut http);
    Records { id, response, request }
}

fn about(kind: RecordKind, id: &str, url: &str, exchange: &Exchange) -> RecordHead {
    RecordHead::new(kind, id, exchange.started)
        .field("WARC-Target-URI", url)
        .optional("WARC-Protocol", exchange.protocol.as_deref())
        .optional("WARC-Page-ID", exchange.page.as_deref())
}

/// The header fields for a body whose transfer coding was removed: a length replaces it. Otherwise
/// fields are kept byte for byte, even the length of a body that was not sent, as in a response to
/// `HEAD`.
fn framed(headers: &Headers, length: u64) -> Cow<'_, Headers> {
    if !headers.contains("Transfer-Encoding") {
        return Cow::Borrowed(headers);
    }
    let mut headers = headers.clone();
    headers.remove("Transfer-Encoding");
    headers.set("Content-Length", length.to_string());
    Cow::Owned(headers)
}
