//! CORS preflight requests.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use crate::{Answer, Reply, RequestHead, body};

/// How long a browser may cache a preflight, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The method of the actual request, if this request is a preflight.
pub(super) fn wanted_method(head: &RequestHead) -> Option<&str> {
    if head.method != Method::OPTIONS || !head.headers.contains_key(header::ORIGIN) {
        return None;
    }
    head.header(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// A response that allows the actual request, whatever its result. The page must see a miss as a
/// miss, not as an opaque failure.
pub(super) fn passing(head: &RequestHead, answer: Answer) -> Reply {
    let mut headers = HeaderMap::new();
    allow_origin(&head.headers, &mut headers);
    for (requested, granted) in [
        (header::ACCESS_CONTROL_REQUEST_METHOD, header::ACCESS_CONTROL_ALLOW_METHODS),
        (header::ACCESS_CONTROL_REQUEST_HEADERS, header::ACCESS_CONTROL_ALLOW_HEADERS),
    ] {
        if let Some(value) = head.headers.get(requested) {
            headers.insert(granted, value.clone());
        }
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    Reply { status: StatusCode::NO_CONTENT, headers, body: body::empty(), answer, capture: None }
}

/// Allows the requesting origin to read the response, with or without credentials.
pub(crate) fn allow_origin(request: &HeaderMap, response: &mut HeaderMap) {
    if let Some(origin) = request.get(header::ORIGIN) {
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    }
}
