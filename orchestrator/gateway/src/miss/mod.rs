//! Responses for requests that the gateway cannot answer. A navigation gets a page that says so and
//! lists similar recorded requests. A subresource request gets a bare status, which the page's
//! scripts can see. A client that is no browser gets a few lines of text.

mod nearest;
mod page;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub(crate) use nearest::{NearCapture, nearest};
use page::Page;

use crate::proxy::SANDBOX_ERROR;
use crate::replay::SANDBOX_ANSWER;
use crate::replay::preflight::allow_origin;
use crate::{Answer, NearestRequest, Reply, RequestHead, body};

/// The response to a request that was never recorded. The ledger has the nearest captures in any
/// case; `lists` says whether the client gets them, too.
pub(crate) fn reply(head: &RequestHead, near: Vec<NearCapture>, lists: bool) -> Reply {
    let page = Page::missed(head, &near, lists);
    let answer = Answer::Miss { near: summary(&near) };
    named(head, StatusCode::NOT_FOUND, &page, answer)
}

/// The response to a request for a host that no route allows.
pub(crate) fn refused(head: &RequestHead) -> Reply {
    let answer = Answer::Refused { reason: format!("no route to {}", head.host) };
    let mut reply = named(head, StatusCode::FORBIDDEN, &Page::refused(head), answer);
    reply.headers.insert(SANDBOX_ERROR, HeaderValue::from_static("no-route"));
    reply
}

/// The response to a request that the write guard stops. It is for scripts, so it is short.
pub(crate) fn guarded(head: &RequestHead) -> Reply {
    let reason = format!("{} {} may change something at a third party", head.method, head.host);
    let answer = Answer::Refused { reason };
    let mut reply = named(head, StatusCode::FORBIDDEN, &Page::guarded(head), answer);
    reply.headers.insert(SANDBOX_ERROR, HeaderValue::from_static("write-guard"));
    reply
}

/// The response to a request whose recorded response cannot be read.
pub(crate) fn failed(head: &RequestHead, error: String) -> Reply {
    let page = Page::failed(head, &error);
    named(head, StatusCode::BAD_GATEWAY, &page, Answer::Failed { error })
}

/// The ledger's summary of the nearest captures.
pub(crate) fn summary(near: &[NearCapture]) -> Vec<NearestRequest> {
    near.iter().map(NearCapture::summary).collect()
}

fn named(head: &RequestHead, status: StatusCode, page: &Page<'_>, answer: Answer) -> Reply {
    let mut headers = HeaderMap::new();
    headers.insert(SANDBOX_ANSWER, HeaderValue::from_static(answer.level()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let text = if is_navigation(head) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        page.render()
    } else if head.headers.contains_key(SEC_FETCH_DEST) {
        String::new()
    } else {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        page.plain()
    };
    // A page has to see the miss as such, and not as an error of the network.
    allow_origin(&head.headers, &mut headers);
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("cross-origin"),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    let body = if head.method == Method::HEAD { body::empty() } else { body::full(text) };
    Reply { status, headers, body, answer, capture: None }
}

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Whether a person or an agent will see the response. A browser says so in its headers; when a
/// service worker fetches for the page, the mode still does. A client that does not say gets a page
/// only if it accepts HTML.
pub(crate) fn is_navigation(head: &RequestHead) -> bool {
    match head.header(SEC_FETCH_DEST) {
        Some("empty") => head.header(SEC_FETCH_MODE) == Some("navigate"),
        Some(destination) => matches!(destination, "document" | "iframe" | "frame"),
        None => head.header(header::ACCEPT).is_some_and(|accept| accept.contains("text/html")),
    }
}

#[cfg(test)]
mod tests;
