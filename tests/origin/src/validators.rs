//! Conditional requests, ranges and content encoding: from a site's [`Reply`] to what goes over the
//! wire.

use http::{HeaderValue, Method, StatusCode, header};
use hyper::body::Bytes;

use crate::call::Call;
use crate::encoding::{self, Encoding};
use crate::reply::{Content, Reply};

/// Bodies below this are not worth encoding.
const ENCODE_FROM: usize = 200;

/// Applies validators, a range and a content encoding to a whole body, in the order servers do.
/// Streams pass untouched.
pub fn finish(call: &Call, mut reply: Reply, favourites: &[Encoding]) -> Reply {
    let Content::Whole(body) = &reply.content else { return reply };
    if reply.status != StatusCode::OK || !matches!(call.method, Method::GET | Method::HEAD) {
        return encoded(call, reply, favourites, None);
    }
    let tag = fingerprint(body);
    if reply.headers.get(header::ACCEPT_RANGES).is_some() {
        return ranged(call, reply.header(header::ETAG, &format!("\"{tag:016x}\"")));
    }
    if reply.headers.get(header::CACHE_CONTROL).is_some_and(|value| value == "no-store") {
        return encoded(call, reply, favourites, None);
    }
    reply = encoded(call, reply, favourites, Some(tag));
    if unchanged(call, &reply) {
        reply.status = StatusCode::NOT_MODIFIED;
        reply.content = Content::Whole(Bytes::new());
        for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING] {
            reply.headers.remove(name);
        }
    }
    reply
}

/// Whether the client holds this very representation. `If-None-Match` overrules `If-Modified-Since`
/// (RFC 9110, 13.2.2).
fn unchanged(call: &Call, reply: &Reply) -> bool {
    let held = |name| reply.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if let Some(wanted) = call.header(header::IF_NONE_MATCH) {
        let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        return wanted.trim() == "*"
            || held(header::ETAG)
                .is_some_and(|tag| wanted.split(',').any(|one| weak(one) == weak(tag)));
    }
    let since = call
        .header(header::IF_MODIFIED_SINCE)
        .and_then(|value| httpdate::parse_http_date(value).ok());
    let modified =
        held(header::LAST_MODIFIED).and_then(|value| httpdate::parse_http_date(value).ok());
    matches!((since, modified), (Some(since), Some(modified)) if modified <= since)
}

fn encoded(call: &Call, mut reply: Reply, favourites: &[Encoding], tag: Option<u64>) -> Reply {
    let text = reply
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(is_text);
    let mut suffix = "";
    if text && reply.body().len() >= ENCODE_FROM {
        reply = reply.header(header::VARY, "Accept-Encoding");
        let chosen = encoding::negotiate(call.header(header::ACCEPT_ENCODING), favourites);
        if let Some((encoding, body)) =
            chosen.and_then(|one| Some((one, one.encode(reply.body()).ok()?)))
        {
            reply = reply.header(header::CONTENT_ENCODING, encoding.token());
            reply.content = Content::Whole(body.into());
            suffix = encoding.token();
        }
    }
    match tag {
        Some(tag) if suffix.is_empty() => reply.header(header::ETAG, &format!("\"{tag:016x}\"")),
        Some(tag) => reply.header(header::ETAG, &format!("\"{tag:016x}-{suffix}\"")),
        None => reply,
    }
}

/// Answers `Range: bytes=a-b`, `a-` and `-n`; several ranges at once get the whole body, as RFC
/// 9110 allows.
fn ranged(call: &Call, mut reply: Reply) -> Reply {
    let whole = reply.body().len();
    let stale = call
        .header(header::IF_RANGE)
        .is_some_and(|held| reply.headers.get(header::ETAG).is_none_or(|tag| tag != held));
    let Some(range) = call
        .header(header::RANGE)
        .and_then(|value| value.strip_prefix("bytes="))
        .filter(|_| !stale)
    else {
        return reply;
    };
    let Some((from, to)) = range.split_once('-').filter(|_| !range.contains(',')) else {
        return reply;
    };
    let bounds = match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, to.saturating_add(1).min(whole)),
        (Ok(from), Err(_)) if to.trim().is_empty() => (from, whole),
        (Err(_), Ok(last)) if from.trim().is_empty() => (whole.saturating_sub(last), whole),
        _ => return reply,
    };
    let Content::Whole(body) = &reply.content else { return reply };
    if bounds.0 >= bounds.1 {
        return Reply::status(StatusCode::RANGE_NOT_SATISFIABLE)
            .header(header::CONTENT_RANGE, &format!("bytes */{whole}"));
    }
    reply.content = Content::Whole(body.slice(bounds.0..bounds.1));
    reply
        .under(StatusCode::PARTIAL_CONTENT)
        .header(header::CONTENT_RANGE, &format!("bytes {}-{}/{whole}", bounds.0, bounds.1 - 1))
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["json", "javascript", "xml", "svg"].iter().any(|word| media_type.contains(word))
}

/// FNV-1a, plenty to tell one body of ours from another.
fn fingerprint(body: &[u8]) -> u64 {
    body.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn call(fields: &[(http::HeaderName, &str)]) -> Call {
        let mut call = Call::get("https://a.test/").unwrap();
        for (name, value) in fields {
            call.headers.insert(name, value.parse().unwrap());
        }
        call
    }

    #[test]
    fn a_known_tag_or_date_is_answered_with_304() {
        let page = || {
            Reply::html("x".repeat(400))
                .header(header::LAST_MODIFIED, "Tue, 10 Mar 2026 06:00:00 GMT")
        };
        let full = finish(&call(&[(header::ACCEPT_ENCODING, "br")]), page(), &[Encoding::Brotli]);
        assert_eq!(full.headers[header::CONTENT_ENCODING], "br");
        let tag = full.headers[header::ETAG].to_str().unwrap();
        let again = finish(
            &call(&[(header::ACCEPT_ENCODING, "br"), (header::IF_NONE_MATCH, tag)]),
            page(),
            &[Encoding::Brotli],
        );
        assert_eq!((again.status, again.body().len()), (StatusCode::NOT_MODIFIED, 0));
        let check = |date, status| {
            assert_eq!(
                finish(&call(&[(header::IF_MODIFIED_SINCE, date)]), page(), &[]).status,
                status,
                "{date}"
            );
        };
        check("Tue, 10 Mar 2026 06:00:00 GMT", StatusCode::NOT_MODIFIED);
        check("Mon, 09 Mar 2026 06:00:00 GMT", StatusCode::OK);
        check("no date", StatusCode::OK);
    }

    #[test]
    fn ranges_are_cut_from_the_body() {
        let media =
            || Reply::of("audio/wav", &b"0123456789"[..]).header(header::ACCEPT_RANGES, "bytes");
        let check = |range, status, body: &[u8]| {
            let reply = finish(&call(&[(header::RANGE, range)]), media(), &[]);
            assert_eq!((reply.status, reply.body()), (status, body), "{range}");
        };
        check("bytes=0-", StatusCode::PARTIAL_CONTENT, b"0123456789");
        check("bytes=2-4", StatusCode::PARTIAL_CONTENT, b"234");
        check("bytes=-3", StatusCode::PARTIAL_CONTENT, b"789");
        check("bytes=8-18446744073709551615", StatusCode::PARTIAL_CONTENT, b"89");
        check("bytes=10-", StatusCode::RANGE_NOT_SATISFIABLE, b"");
        check("bytes=0-1,4-5", StatusCode::OK, b"0123456789");
        check("bytes=x-y", StatusCode::OK, b"0123456789");
    }
}
