//! One HTTP exchange: the data type shared by recorder, HAR and WARC.

use std::net::IpAddr;

use crate::{Body, Error, Headers, Timestamp, content};

/// A request and the response to it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The absolute URL of the request, without fragment.
    pub url: String,
    /// When the request was sent.
    pub started: Timestamp,
    /// The request.
    pub request: Request,
    /// The response.
    pub response: Response,
    /// The protocol used with the origin, as an ALPN name (`http/1.1`, `h2`).
    pub protocol: Option<String>,
    /// The address of the server.
    pub ip: Option<IpAddr>,
    /// How long the whole exchange took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// The [`id`](crate::Page::id) of the page it belongs to.
    pub page: Option<String>,
    /// Which visit it belongs to: those of one visit were made by one browser, which began without
    /// cookies and storage. Absent where nothing is known of it.
    pub visit: Option<String>,
    /// Whether the recorder asked by itself, beside the browser, to see what is there now.
    pub asked_again: bool,
    /// Why the body is incomplete, as a `WARC-Truncated` reason: `length`, `time`, `disconnect` or
    /// `unspecified`.
    pub truncated: Option<String>,
}

/// A request as a client sent it. The transfer coding is removed, a content coding is not.
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

/// A response as a server sent it. The transfer coding is removed, a content coding is not.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The reason phrase; empty for HTTP/2.
    pub reason: String,
    /// The header fields as sent.
    pub headers: Headers,
    /// The body, in the coding that `Content-Encoding` names.
    pub body: Body,
}

impl Exchange {
    /// A `GET` of `url` and its response. The other fields are unset.
    pub fn get(url: impl Into<String>, started: Timestamp, response: Response) -> Exchange {
        let url = url.into();
        let target = target_of(&url);
        let request =
            Request { method: "GET".into(), target, headers: Headers::new(), body: Body::empty() };
        Exchange {
            url,
            started,
            request,
            response,
            protocol: None,
            ip: None,
            duration_ms: None,
            page: None,
            visit: None,
            asked_again: false,
            truncated: None,
        }
    }

    /// The body of the response without its content coding. One that does not decode is returned as
    /// it is.
    ///
    /// # Errors
    /// When it is longer than `limit` bytes, or cannot be read.
    pub fn content(&self, limit: u64) -> Result<Vec<u8>, Error> {
        content::decoded(&self.response.headers, &self.response.body, limit)
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
