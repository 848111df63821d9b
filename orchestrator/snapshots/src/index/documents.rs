//! Lists the pages and HTML documents of a set.

use std::collections::HashSet;

use super::{CaptureKind, IndexError, IndexHit, RecordedRequest, ReplaySet};
use crate::matching::Key;
use crate::{Archive, Page, RecordKind, Timestamp, content};

/// The maximum size of a document that is inspected.
const SNIFFED: u64 = 64 << 20;

/// A recorded document, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its `Content-Type`; empty if there was none.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl ReplaySet {
    /// The pages of the archives: those of their page lists or, for an archive without one, every
    /// HTML document with status 200. Each URL appears once, with its first capture. Pages are read
    /// lazily.
    pub fn pages(&self) -> impl Iterator<Item = Page> {
        let mut seen = HashSet::new();
        let pages = self.members().flat_map(|(archive, _)| pages(archive));
        pages.filter(move |page| seen.insert(Key::of("page", &[page.url.as_bytes()])))
    }

    /// The pages of one archive, as [`ReplaySet::pages`] has them. A URL may appear several times.
    /// Empty if the set has no such archive.
    pub fn pages_of(&self, member: u32) -> impl Iterator<Item = Page> {
        self.members().nth(member as usize).into_iter().flat_map(|(archive, _)| pages(archive))
    }

    /// The documents that a browser can show: the pages of the page lists, then every other HTML
    /// document for a window or a frame that was the response to a GET with status 200. Each URL
    /// appears once, with its first capture. HTML fetched by a script is excluded. If the browser
    /// did not send a request destination, a document must begin with a tag.
    pub fn html_documents(&self) -> Result<Vec<Page>, IndexError> {
        let mut seen = HashSet::new();
        let mut pages = Vec::new();
        for (archive, _) in self.members() {
            for page in archive.listed_pages() {
                if seen.insert(without_fragment(&page.url).to_owned()) {
                    pages.push(page);
                }
            }
        }
        for recorded in self.captures_of("GET", 200)? {
            let url = without_fragment(&recorded.url);
            if seen.contains(url) || !self.is_document(&recorded)? {
                continue;
            }
            seen.insert(url.to_owned());
            pages.push(Page::new(
                recorded.url,
                Timestamp::from_millis(recorded.hit.at_millis as i64),
            ));
        }
        Ok(pages)
    }

    fn is_document(&self, recorded: &RecordedRequest) -> Result<bool, IndexError> {
        let capture = self.capture(recorded.hit)?;
        if !matches!(capture.kind, CaptureKind::Response | CaptureKind::Revisit) {
            return Ok(false);
        }
        // An unreadable record cannot be visited either.
        let Ok(head) = self.read(recorded.hit.member, capture.response)?.response_head() else {
            return Ok(false);
        };
        let media =
            head.headers.get_str("content-type").unwrap_or_default().trim().to_ascii_lowercase();
        if !(media.starts_with("text/html") || media.starts_with("application/xhtml")) {
            return Ok(false);
        }
        let request_headers = self.request_headers(recorded.hit, &capture).ok().flatten();
        match request_headers.as_ref().and_then(|headers| headers.get_str("sec-fetch-dest")) {
            Some(destination) => Ok(matches!(destination.trim(), "document" | "iframe" | "frame")),
            None => {
                let body = self.document(recorded.hit, SNIFFED).ok().flatten();
                let text = body.as_ref().map_or(&[][..], |body| body.bytes.as_slice());
                let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
                Ok(text.trim_ascii_start().starts_with(b"<"))
            }
        }
    }

    /// The document of a capture; `None` if no archive of the set has its body.
    ///
    /// # Errors
    /// It cannot be read, or has more than `limit` bytes.
    pub fn document(&self, hit: IndexHit, limit: u64) -> Result<Option<Document>, IndexError> {
        let capture = self.capture(hit)?;
        let Some((member, at)) = self.body_of(hit, &capture)? else { return Ok(None) };
        let mut record = self.read(member, at)?;
        if !record.holds_http() {
            let media_type = record.content_type().unwrap_or_default().to_owned();
            return Ok(Some(Document { media_type, bytes: record.read_block(limit)? }));
        }
        let headers = record.response_head()?.headers;
        let media_type = headers.get_str("content-type").unwrap_or_default().to_owned();
        let bytes =
            content::decoded(&headers, &content::body_within(record, &headers, limit)?, limit)?;
        Ok(Some(Document { media_type, bytes }))
    }
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

fn pages(archive: &Archive) -> Box<dyn Iterator<Item = Page> + '_> {
    let mut listed = archive.listed_pages().peekable();
    match listed.peek() {
        Some(_) => Box::new(listed),
        None => Box::new(documents(archive)),
    }
}

/// Damaged records are skipped, because they cannot be visited either.
fn documents(archive: &Archive) -> impl Iterator<Item = Page> {
    let records = archive.records().filter_map(Result::ok);
    records.filter_map(|(_, mut record)| {
        if record.kind() != RecordKind::Response || !record.holds_http() {
            return None;
        }
        let (url, ts): (String, Timestamp) = (record.target_uri()?.into_owned(), record.date()?);
        let head = record.response_head().ok()?;
        let html =
            head.headers.get_str("content-type").is_some_and(|mime| mime.starts_with("text/html"));
        (head.status == 200 && html && url.starts_with("http")).then(|| Page::new(url, ts))
    })
}
