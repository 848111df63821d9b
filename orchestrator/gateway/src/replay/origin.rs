//! Lets the page that asks read a response that was recorded for another origin.
//!
//! A recording has one answer for each origin that asked. Tools that record from a service worker,
//! and shared caches, get an `Access-Control-Allow-Origin` that names somebody else. A live server
//! would have named the page.

use http::{HeaderMap, header};
use snapshots::index::{IndexHit, ReplaySet};

use super::preflight::allow_origin;
use crate::{Reply, RequestHead};

/// The ledger label of a response whose `Access-Control-Allow-Origin` was rewritten.
const ORIGIN: &str = "origin";

/// The reply from a capture, so that the page that asks can read it if its server would let it.
pub(super) fn readable(set: &ReplaySet, hit: IndexHit, head: &RequestHead, reply: Reply) -> Reply {
    if !is_of_another(set, hit, &head.headers, &reply.headers) {
        return reply;
    }
    let mut headers = reply.headers;
    rewrite(&head.headers, &mut headers);
    Reply { headers, answer: reply.answer.by_rule(ORIGIN), ..reply }
}

/// Whether a response names another origin than the one that asks, and would have named that one.
/// It would not if it refused the origin for which it was recorded.
fn is_of_another(set: &ReplaySet, hit: IndexHit, asked: &HeaderMap, response: &HeaderMap) -> bool {
    let (Some(asked), Some(allowed)) =
        (asked.get(header::ORIGIN), response.get(header::ACCESS_CONTROL_ALLOW_ORIGIN))
    else {
        return false;
    };
    if allowed == asked || [b"*".as_slice(), b"null"].contains(&allowed.as_bytes()) {
        return false;
    }
    let request = set.capture(hit).and_then(|capture| set.request_headers(hit, &capture));
    let recorded =
        request.ok().flatten().and_then(|headers| headers.get("Origin").map(<[u8]>::to_vec));
    match recorded {
        Some(recorded) => recorded == allowed.as_bytes() && varies(response),
        None => true,
    }
}

fn varies(response: &HeaderMap) -> bool {
    let names = response.get_all(header::VARY).into_iter().filter_map(|names| names.to_str().ok());
    names.flat_map(|names| names.split(',')).any(|name| name.trim().eq_ignore_ascii_case("origin"))
}

/// Names the origin that asks. Whether credentials are allowed stays as it was recorded.
fn rewrite(asked: &HeaderMap, response: &mut HeaderMap) {
    let credentials = response.get(header::ACCESS_CONTROL_ALLOW_CREDENTIALS).cloned();
    allow_origin(asked, response);
    match credentials {
        Some(recorded) => response.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, recorded),
        None => response.remove(header::ACCESS_CONTROL_ALLOW_CREDENTIALS),
    };
}
