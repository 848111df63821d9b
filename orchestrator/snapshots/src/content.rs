//! Reads messages and bodies from records.

use std::io::{self, BufReader, Read, Write};

use crate::body::MEMORY;
use crate::budget::Budget;
use crate::http::{Dechunk, decode_content, decoder};
use crate::warc::{VISIT, visit_of};
use crate::{Body, Error, Exchange, Headers, Record, Request, Response, Timestamp};

/// The body of an HTTP message whose head has already been read from `record`, without its transfer
/// coding, if it has at most `limit` bytes.
pub(crate) fn body_within(record: Record, headers: &Headers, limit: u64) -> Result<Body, Error> {
    let failed = |source| Error::io("read", "a record block".into(), source);
    let reader = unchunked(record.block, headers).take(limit.saturating_add(1));
    let body = Body::spool(reader, MEMORY).map_err(failed)?;
    if body.len() > limit { Err(Error::TooLarge { what: "a body", limit }) } else { Ok(body) }
}

/// The block of a record, or what is left of it, taken from a budget.
pub(crate) fn block(record: &mut Record, budget: &mut Budget) -> Result<Body, Error> {
    let reader = (&mut record.block).take(budget.left().saturating_add(1));
    let block = Body::spool(reader, MEMORY)
        .map_err(|error| Error::io("read", "a record block".into(), error))?;
    budget.take(block.len())?;
    Ok(block)
}

fn unchunked<'a>(block: impl Read + 'a, headers: &Headers) -> Box<dyn Read + 'a> {
    if is_chunked(headers) {
        Box::new(Dechunk::new(BufReader::new(block)))
    } else {
        Box::new(block)
    }
}

pub(crate) fn is_chunked(headers: &Headers) -> bool {
    headers
        .get_str("transfer-encoding")
        .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"))
}

/// The content of a body without its content coding. A body that does not decode is returned as it
/// is.
pub(crate) fn decoded(headers: &Headers, body: &Body, limit: u64) -> Result<Vec<u8>, Error> {
    match headers.get_str("content-encoding") {
        Some(coding) => match decode_content(coding, body.reader(), limit) {
            Ok(bytes) => Ok(bytes),
            Err(crate::http::HttpError::TooLarge { limit }) => {
                Err(Error::TooLarge { what: "a decoded body", limit })
            }
            Err(_) => body.to_vec(limit),
        },
        None => body.to_vec(limit),
    }
}

/// Writes the content of a body without its content coding, as a stream, and gives its length. A
/// body that does not decode is written as it is, to another output of `create`.
///
/// # Errors
/// When the budget does not have so much left, or the output does not take it.
pub(crate) fn write_decoded<W: Write>(
    headers: &Headers,
    body: &Body,
    budget: &mut Budget,
    mut create: impl FnMut() -> io::Result<W>,
) -> Result<(W, u64), Error> {
    let failed = |error| Error::io("write", "the content of a body".into(), error);
    if let Some(coding) = headers.get_str("content-encoding")
        && let Ok(decoded) = decoder(coding, body.reader())
    {
        let mut out = create().map_err(failed)?;
        if let Some(length) = copy(decoded, &mut out, budget.left()).map_err(failed)? {
            budget.take(length)?;
            return Ok((out, length));
        }
    }
    budget.take(body.len())?;
    let mut out = create().map_err(failed)?;
    let length = io::copy(&mut body.reader(), &mut out).map_err(failed)?;
    Ok((out, length))
}

/// Copies at most one byte more than `limit`; `None` if the input cannot be decoded. An error is
/// one of the output.
fn copy(mut input: impl Read, out: &mut impl Write, limit: u64) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; 64 << 10];
    let mut length = 0;
    while length <= limit {
        // One byte beyond the limit shows that there is more.
        let most = buffer.len().min((limit - length).saturating_add(1) as usize);
        match input.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(read) => {
                out.write_all(&buffer[..read])?;
                length += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(length))
}

/// The exchange of a response or revisit record, with its request if there is one, and with the
/// record that holds the payload of a revisit.
pub(crate) fn exchange(
    mut response: Record,
    request: Option<Record>,
    payload: Option<Record>,
    budget: &mut Budget,
) -> Result<Exchange, Error> {
    let url = response.target_uri().map(|url| url.into_owned()).unwrap_or_default();
    let started = response.date().unwrap_or(Timestamp::from_millis(0));
    let ip = response.headers.get_str("WARC-IP-Address").and_then(|ip| ip.trim().parse().ok());
    let protocol = response.headers.get_str("WARC-Protocol").map(str::to_owned);
    let truncated = response.headers.get_str("WARC-Truncated").map(str::to_owned);
    let page = response.headers.get_str("WARC-Page-ID").map(str::to_owned);
    let head = response.response_head()?;
    let body = match payload {
        // The original's head says how the body is coded; that of the revisit need not.
        Some(mut original) => {
            let original_headers = if original.holds_http() {
                original.response_head()?.headers
            } else {
                Headers::new()
            };
            within(original, &original_headers, budget)?
        }
        None => within(response, &head.headers, budget)?,
    };
    let response = Response {
        status: head.status,
        reason: head.reason,
        headers: without_transfer(head.headers),
        body,
    };
    let mut exchange =
        Exchange { ip, protocol, truncated, page, ..Exchange::get(url, started, response) };
    if let Some(mut request) = request {
        if let Some((name, asked_again)) = request.headers.get_str(VISIT).map(visit_of) {
            (exchange.visit, exchange.asked_again) = (Some(name.to_owned()), asked_again);
        }
        let head = request.request_head()?;
        let body = within(request, &head.headers, budget)?;
        let headers = without_transfer(head.headers);
        exchange.request = Request { method: head.method, target: head.target, headers, body };
    }
    Ok(exchange)
}

/// The body of an HTTP message, as [`body_within`], taken from a budget.
pub(crate) fn within(
    record: Record,
    headers: &Headers,
    budget: &mut Budget,
) -> Result<Body, Error> {
    let body = body_within(record, headers, budget.left())?;
    budget.take(body.len())?;
    Ok(body)
}

fn without_transfer(mut headers: Headers) -> Headers {
    headers.remove("transfer-encoding");
    headers
}
