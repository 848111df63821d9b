//! What lets one in: authorization headers, cookies, and fields named like passwords and tokens.
//! Which records hold such, and how it is hidden before it is written.
//!
//! It is replaced where it stands, and only there: a password may be a common word, and a cookie's
//! value a piece of any page. Requests keep their places in the index, but for those with a
//! password in their URL or body.

use serde::Serialize;

use super::redact::{Cleaner, Redaction};
use super::scan::patterns;
use crate::content;
use crate::recording::FRAMES_TYPE;
use crate::{Archive, Body, BrowserState, Error, Exchange, Headers, Record, RecordKind};

/// The largest body that is searched. Larger ones are files.
const LARGEST: u64 = 64 << 20;

/// How many records hold what lets one in. Placeholders do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Credentials {
    /// Requests with `Authorization`, `Proxy-Authorization` or a header named like a key.
    pub authorization: u64,
    /// Requests with `Cookie`, and responses with `Set-Cookie`.
    pub cookies: u64,
    /// Records with a field named like a password or a token: in a form, in JSON, in a URL, in the
    /// messages of a WebSocket.
    pub passwords: u64,
    /// Cookies that pages had kept in the browser, and what they had kept under names of passwords
    /// and tokens.
    pub kept: u64,
}

impl Credentials {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        *self != Credentials::default()
    }
}

/// Counts the records of a snapshot that hold credentials.
///
/// # Errors
/// If the file is no snapshot or cannot be read. What is damaged is left out.
pub fn count_credentials(path: &camino::Utf8Path) -> Result<Credentials, super::Error> {
    let mut count = Counter::default();
    let archive = Archive::open(path)?;
    count.kept(&BrowserState::of(&archive));
    for item in archive.records() {
        match item {
            Ok((_, mut record)) => count.take(&mut record),
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(count.found)
}

/// Hides credentials in what is being recorded.
#[derive(Debug)]
pub struct CredentialFilter(Cleaner);

impl CredentialFilter {
    /// With the key of its placeholders: equal values have equal ones.
    pub fn new(key: &[u8]) -> CredentialFilter {
        let what = Redaction { key: key.to_vec(), credentials: true, ..Redaction::default() };
        CredentialFilter(Cleaner::new(&what))
    }

    /// Hides them in an exchange.
    ///
    /// # Errors
    /// If a body cannot be read or decoded; it may hold any then.
    pub fn exchange(&self, exchange: &mut Exchange) -> Result<(), Error> {
        exchange.url = self.url(&exchange.url);
        exchange.request.target = self.url(&exchange.request.target);
        let request = &mut exchange.request;
        self.message(RecordKind::Request, &mut request.headers, &mut request.body)?;
        let response = &mut exchange.response;
        self.message(RecordKind::Response, &mut response.headers, &mut response.body)
    }

    /// Hides them in an address.
    pub fn url(&self, url: &str) -> String {
        String::from_utf8_lossy(&self.0.url(url.as_bytes(), &mut 0)).into_owned()
    }

    /// Hides them in a message of a WebSocket; `None` where there are none.
    pub fn socket_message(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut count = 0;
        let clean = self.0.socket_message(message, &mut count);
        (count > 0).then_some(clean)
    }

    fn message(&self, kind: RecordKind, headers: &mut Headers, body: &mut Body) -> Result<(), Error> {
        let searched = body.len() <= LARGEST && self.0.searches_body(kind, headers);
        let (bytes, decoded) = if searched {
            (body.to_vec(LARGEST)?, content::decoded(headers, body, LARGEST)?)
        } else {
            (Vec::new(), Vec::new())
        };
        let mut count = 0;
        let before = headers.clone();
        let (clean, bytes) = self.0.message(kind, &before, bytes, &decoded, &mut count);
        if count > 0 {
            *headers = clean;
            if searched {
                *body = Body::from(bytes);
            }
        }
        Ok(())
    }
}

/// Counts record by record.
pub(super) struct Counter {
    filter: CredentialFilter,
    pub(super) found: Credentials,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter { filter: CredentialFilter::new(&[]), found: Credentials::default() }
    }
}

impl Counter {
    /// Takes in what pages had kept in the browser.
    pub(super) fn kept(&mut self, state: &BrowserState) {
        self.found.kept = self.filter.0.state(state.clone()).1;
    }

    /// Takes in a record that was not looked at yet.
    fn take(&mut self, record: &mut Record) {
        let kind = record.kind();
        let head = match kind {
            RecordKind::Resource => return self.frames(record),
            _ if !record.holds_http() => return,
            RecordKind::Request => record.request_head().map(|head| head.headers),
            _ => record.response_head().map(|head| head.headers),
        };
        if let Ok(headers) = head {
            self.message(&headers, record);
        }
    }

    /// Takes in a record of another kind than HTTP messages: the messages of a WebSocket.
    pub(super) fn frames(&mut self, record: &mut Record) {
        if record.headers.get_str("Content-Type") == Some(FRAMES_TYPE)
            && let Ok(lines) = record.read_block(LARGEST)
        {
            self.found.passwords += u64::from(self.filter.0.holds_in_frames(&lines));
        }
    }

    /// Takes in an HTTP message whose head has been read off the record.
    pub(super) fn message(&mut self, headers: &Headers, record: &mut Record) {
        let (kind, cleaner) = (record.kind(), &self.filter.0);
        let url = record.target_uri().map(|url| url.into_owned()).unwrap_or_default();
        // Said once for an exchange, by its request.
        let mut password = kind == RecordKind::Request && self.filter.url(&url) != url;
        let (mut authorization, mut cookies) = (false, false);
        for (name, _) in headers.iter().filter(|(name, value)| cleaner.holds(name, value)) {
            match name.to_ascii_lowercase().as_str() {
                "cookie" | "set-cookie" => cookies = true,
                lower if patterns::is_key_header(lower) => authorization = true,
                _ => password = true,
            }
        }
        if cleaner.searches_body(kind, headers)
            && let Ok(bytes) = record.read_block(LARGEST)
            && let Ok(decoded) = content::decoded(headers, &Body::from(bytes), LARGEST)
        {
            password |= cleaner.holds_in_body(kind, headers, &decoded);
        }
        self.found.authorization += u64::from(authorization);
        self.found.cookies += u64::from(cookies);
        self.found.passwords += u64::from(password);
    }
}
