//! Answers search engine requests from the recorded pages.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use search::{Search, SearchQuery};

use crate::{Answer, Reply, RequestHead, body, miss};

/// The search query of a request; `None` for other hosts and other requests.
pub(super) fn query_of(head: &RequestHead) -> Option<SearchQuery<'_>> {
    matches!(head.method, Method::GET | Method::HEAD).then(|| search::query_of(&head.host, &head.url))?
}

/// The results as a page.
pub(super) fn reply(head: &RequestHead, search: &Search, query: &SearchQuery<'_>) -> Reply {
    let page = match search.answer(query) {
        Ok(page) => page,
        Err(error) => {
            let text = format!("failed to {}", error_text::with_causes(&*error));
            tracing::warn!(url = head.url, error = text, "a search could not be answered");
            return miss::failed(head, text);
        }
    };
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(page.html.len()));
    let body = if head.method == Method::HEAD { body::empty() } else { body::full(page.html) };
    Reply { status: StatusCode::OK, headers, body, answer: Answer::Search { found: page.found.unwrap_or(0) } }
}
