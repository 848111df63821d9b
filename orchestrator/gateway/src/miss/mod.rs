//! What a client gets when the world has no answer: for a navigation a page that says so and names
//! what is near; for what a page asks for besides a bare status that its own scripts can see; for a
//! client that is no browser a few lines of text.

mod nearest;
mod page;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use crate::{
    Answer, NearestRequest, Reply, RequestHead, body,
    proxy::SANDBOX_ERROR,
    replay::{SANDBOX_ANSWER, preflight::allow_origin},
};

pub(crate) use nearest::{NearCapture, nearest};
use page::Page;

/// The answer to a request that was never recorded.
pub(crate) fn reply(head: &RequestHead, near: Vec<NearCapture>) -> Reply {
    let page = Page::missed(head, &near);
    let answer = Answer::Miss { near: summary(&near) };
    named(head, StatusCode::NOT_FOUND, &page, answer)
}

/// The answer to a request for a host that is outside the world.
pub(crate) fn refused(head: &RequestHead) -> Reply {
    let answer = Answer::Refused { reason: format!("no route to {}", head.host) };
    let mut reply = named(head, StatusCode::FORBIDDEN, &Page::refused(head), answer);
    reply.headers.insert(SANDBOX_ERROR, HeaderValue::from_static("no-route"));
    reply
}

/// The answer to a request whose recorded answer cannot be read.
pub(crate) fn failed(head: &RequestHead, error: String) -> Reply {
    let page = Page::failed(head, &error);
    named(head, StatusCode::BAD_GATEWAY, &page, Answer::Failed { error })
}

/// What the ledger keeps of the nearest captures.
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
    allow_origin(&head.headers, &mut headers);
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("cross-origin"),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    let body = if head.method == Method::HEAD { body::empty() } else { body::full(text) };
    Reply { status, headers, body, answer }
}

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Whether a person, or an agent, will look at the answer. A browser says so, and where a service
/// worker fetches on the page's behalf the mode still does; a client that does not say gets a page
/// only when it asks for HTML.
pub(crate) fn is_navigation(head: &RequestHead) -> bool {
    match head.header(SEC_FETCH_DEST) {
        Some("empty") => head.header(SEC_FETCH_MODE) == Some("navigate"),
        Some(destination) => matches!(destination, "document" | "iframe" | "frame"),
        None => head.header(header::ACCEPT).is_some_and(|accept| accept.contains("text/html")),
    }
}

#[cfg(test)]
mod tests;
