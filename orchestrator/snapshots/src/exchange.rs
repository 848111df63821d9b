//! One HTTP exchange: the common currency of recorder, HAR and WARC.

use std::net::IpAddr;

use crate::{Body, Headers, Timestamp};

/// A request and the response to it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The absolute URL asked for, without fragment.
    pub url: String,
    /// When the request was sent.
    pub started: Timestamp,
    /// What was asked.
    pub request: Request,
    /// What was answered.
    pub response: Response,
    /// The protocol spoken with the origin, in ALPN spelling (`http/1.1`, `h2`).
    pub protocol: Option<String>,
    /// The address the answer came from.
    pub ip: Option<IpAddr>,
    /// How long the whole exchange took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// The [`id`](crate::Page::id) of the page it belongs to.
    pub page: Option<String>,
    /// Why the body is not whole (`length`, `time`, `disconnect`, `unspecified`): the
    /// `WARC-Truncated` reasons.
    pub truncated: Option<String>,
}

/// What a client sent. The transfer coding is gone, a content coding is not.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The request target: path and query.
    pub target: String,
    /// The header fields as sent.
    pub headers: Headers,
    /// The body.
    pub body: Body,
}

/// What a server sent. The transfer coding is gone, a content coding is not.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The reason phrase; empty for HTTP/2.
    pub reason: String,
    /// The header fields as sent.
    pub headers: Headers,
    /// The body, coded as the `Content-Encoding` says.
    pub body: Body,
}

impl Exchange {
    /// A `GET` of `url` and its answer; the other fields are open.
    pub fn get(url: impl Into<String>, started: Timestamp, response: Response) -> Exchange {
        let url = url.into();
        let target = target_of(&url);
        let request = Request { method: "GET".into(), target, headers: Headers::new(), body: Body::empty() };
        Exchange {
            url,
            started,
            request,
            response,
            protocol: None,
            ip: None,
            duration_ms: None,
            page: None,
            truncated: None,
        }
    }
}

/// The path and query of an absolute URL, `/` if it has none.
pub(crate) fn target_of(url: &str) -> String {
    let url = url.split('#').next().unwrap_or(url);
    let after = url.find("://").map_or(0, |at| at + 3);
    match url[after..].find(['/', '?']) {
        None => "/".to_owned(),
        Some(at) if url[after + at..].starts_with('?') => format!("/{}", &url[after + at..]),
        Some(at) => url[after + at..].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::target_of;

    #[test]
    fn targets() {
        for (url, expect) in [
            ("https://a.test/x?y#z", "/x?y"),
            ("https://a.test", "/"),
            ("https://a.test?q", "/?q"),
            ("/x", "/x"),
        ] {
            assert_eq!(target_of(url), expect);
        }
    }
}
