//! Credentials: authorization headers, cookies, and fields with names of passwords and tokens.
//! Finds the records that contain them, and hides them before they are written.
//!
//! Only the fields themselves are replaced: a password may be a common word, and a cookie's value
//! may occur in any page. Requests keep their positions in the index, except those with a password
//! in their URL or body.

use serde::Serialize;

use super::redact::{Cleaner, Redaction};
use super::scan::patterns;
use crate::recording::FRAMES_TYPE;
use crate::{Archive, Body, BrowserState, Error, Exchange, Headers, Record, RecordKind, content};

/// The maximum size of a body that is searched. Larger ones are files.
const LARGEST: u64 = 64 << 20;

/// How many records contain credentials. Placeholders do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Credentials {
    /// Requests with `Authorization`, `Proxy-Authorization` or a header with the name of a key.
    pub authorization: u64,
    /// Requests with `Cookie`, and responses with `Set-Cookie`.
    pub cookies: u64,
    /// Records with a field that has the name of a password or a token: in a form, in JSON, in a
    /// URL, or in WebSocket messages.
    pub passwords: u64,
    /// Cookies in the browser state, and storage entries with names of passwords and tokens.
    pub kept: u64,
}

impl Credentials {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        *self != Credentials::default()
    }
}

/// Counts the records of a snapshot that contain credentials.
///
/// # Errors
/// The file is not a snapshot or cannot be read. Damaged records are skipped.
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

/// Hides credentials during a recording.
#[derive(Debug)]
pub struct CredentialFilter(Cleaner);

impl CredentialFilter {
    /// A filter with the given key for placeholders. Equal values have equal placeholders.
    pub fn new(key: &[u8]) -> CredentialFilter {
        let what = Redaction { key: key.to_vec(), credentials: true, ..Redaction::default() };
        CredentialFilter(Cleaner::new(&what))
    }

    /// Hides the credentials in an exchange.
    ///
    /// # Errors
    /// A body cannot be read or decoded. The exchange may then still contain credentials.
    pub fn exchange(&self, exchange: &mut Exchange) -> Result<(), Error> {
        exchange.url = self.url(&exchange.url);
        exchange.request.target = self.url(&exchange.request.target);
        let request = &mut exchange.request;
        self.message(RecordKind::Request, &mut request.headers, &mut request.body)?;
        let response = &mut exchange.response;
        self.message(RecordKind::Response, &mut response.headers, &mut response.body)
    }

    /// Hides the credentials in a URL.
    pub fn url(&self, url: &str) -> String {
        String::from_utf8_lossy(&self.0.url(url.as_bytes(), &mut 0)).into_owned()
    }

    /// Hides the credentials in the address, the title and the text of a page.
    pub fn page(&self, page: crate::Page) -> crate::Page {
        self.0.page(page).0
    }

    /// Hides the credentials in a WebSocket message; `None` if there are none.
    pub fn socket_message(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut count = 0;
        let clean = self.0.socket_message(message, &mut count);
        (count > 0).then_some(clean)
    }

    fn message(
        &self,
        kind: RecordKind,
        headers: &mut Headers,
        body: &mut Body,
    ) -> Result<(), Error> {
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

/// Counts credentials record by record.
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
    /// Adds the browser state.
    pub(super) fn kept(&mut self, state: &BrowserState) {
        self.found.kept = self.filter.0.state(state.clone()).1;
    }

    /// Adds a record that has not been inspected yet.
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

    /// Adds a record that is not an HTTP message: WebSocket messages.
    pub(super) fn frames(&mut self, record: &mut Record) {
        if record.headers.get_str("Content-Type") == Some(FRAMES_TYPE)
            && let Ok(lines) = record.read_block(LARGEST)
        {
            self.found.passwords += u64::from(self.filter.0.holds_in_frames(&lines));
        }
    }

    /// Adds an HTTP message whose head has already been read from the record.
    pub(super) fn message(&mut self, headers: &Headers, record: &mut Record) {
        let (kind, cleaner) = (record.kind(), &self.filter.0);
        let url = record.target_uri().map(|url| url.into_owned()).unwrap_or_default();
        // Counted once for an exchange, by its request.
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
