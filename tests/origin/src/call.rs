//! A request as the sites see it.

use http::{HeaderMap, Method, Uri, header};
use hyper::body::Bytes;

/// One request, with its body in memory.
#[derive(Debug, Clone)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The host name without port, in lower case.
    pub host: String,
    /// The path, percent-decoded, without the query.
    pub path: String,
    /// The decoded query, in the order sent.
    pub query: Vec<(String, String)>,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body; at most [`MAX_BODY`] bytes.
    pub body: Bytes,
    /// Whether it came over TLS.
    pub secure: bool,
}

/// The most a request may carry: the sites have no upload.
pub const MAX_BODY: usize = 64 * 1024;

impl Call {
    /// Puts a request together from its head and its body. The host is taken from `:authority` or
    /// `Host`.
    pub fn new(method: Method, uri: &Uri, headers: HeaderMap, body: Bytes, secure: bool) -> Call {
        let authority = uri
            .authority()
            .map(|authority| authority.as_str())
            .or_else(|| headers.get(header::HOST).and_then(|value| value.to_str().ok()))
            .unwrap_or_default();
        let host =
            authority.rsplit_once(':').map_or(authority, |(host, _port)| host).to_ascii_lowercase();
        let query = pairs(uri.query().unwrap_or_default());
        let path = percent_decode(uri.path());
        Call { method, host, path, query, headers, body, secure }
    }

    /// A GET of an absolute URL, for tests and for making lists of pages; `None` when it does not
    /// parse.
    pub fn get(url: &str) -> Option<Call> {
        let uri: Uri = url.parse().ok()?;
        let secure = uri.scheme_str() == Some("https");
        Some(Call::new(Method::GET, &uri, HeaderMap::new(), Bytes::new(), secure))
    }

    /// The first value of a query parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The fields of a form body.
    pub fn form(&self) -> Vec<(String, String)> {
        std::str::from_utf8(&self.body).map(pairs).unwrap_or_default()
    }

    /// A header field as text; absent when it is not plain ASCII.
    pub fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A cookie by name.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The segments of the path without empty ones.
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').filter(|segment| !segment.is_empty()).collect()
    }
}

fn pairs(encoded: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(encoded.as_bytes()).into_owned().collect()
}

fn percent_decode(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |offset: usize| {
            bytes.get(at + offset).and_then(|digit| char::from(*digit).to_digit(16))
        };
        match (byte, hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn host_path_and_query_are_taken_apart() {
        let call = Call::get("https://WWW.Example.test:8443/a%20b/c?q=two+words&q=other&x=%C3%A9")
            .unwrap();
        assert_eq!(call.host, "www.example.test");
        assert_eq!(call.segments(), ["a b", "c"]);
        assert_eq!(call.param("q"), Some("two words"));
        assert_eq!(call.param("x"), Some("é"));
        assert!(call.secure);
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        assert_eq!(percent_decode("/100%/%zz/%4"), "/100%/%zz/%4");
    }

    #[test]
    fn cookies_are_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=1; visit=xyz; b=2".parse().unwrap());
        let call = Call::new(Method::GET, &"/".parse().unwrap(), headers, Bytes::new(), true);
        assert_eq!(call.cookie("visit"), Some("xyz"));
        assert_eq!(call.cookie("isit"), None);
    }
}
