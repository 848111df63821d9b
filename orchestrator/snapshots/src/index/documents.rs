//! The pages of a set, and what they are made of.

use std::collections::HashSet;

use super::{Hit, IndexError, ReplaySet};
use crate::matching::Key;
use crate::{Archive, Error, Page, RecordKind, Timestamp, content};

/// A recorded document without its encodings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its `Content-Type`; empty where there was none.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl ReplaySet {
    /// The pages of the archives: those of their page lists, or, where an archive has none, every HTML document that was answered with
    /// status 200. Each URL once, as it was recorded first. They are read as they are asked for; an error is of an archive's page list.
    pub fn pages(&self) -> impl Iterator<Item = Result<Page, IndexError>> {
        let mut seen = HashSet::new();
        let pages = self.members().flat_map(|(archive, _)| {
            let mut listed = archive.page_lines().peekable();
            let pages: Box<dyn Iterator<Item = Result<Page, Error>>> = match listed.peek() {
                Some(_) => Box::new(listed),
                None => Box::new(documents(archive).map(Ok)),
            };
            pages
        });
        pages.map(|page| page.map_err(IndexError::from)).filter(move |page| {
            page.as_ref().map_or(true, |page| seen.insert(Key::of("page", &[page.url.as_bytes()])))
        })
    }

    /// The document of a capture; `None` where its body is in no archive of the set.
    ///
    /// # Errors
    /// When it cannot be read, or has more than `limit` bytes.
    pub fn document(&self, hit: Hit, limit: u64) -> Result<Option<Document>, IndexError> {
        let capture = self.capture(hit)?;
        let Some((member, at)) = self.body_of(hit, &capture)? else { return Ok(None) };
        let mut record = self.read(member, at)?;
        if !record.holds_http() {
            let media_type = record.content_type().unwrap_or_default().to_owned();
            return Ok(Some(Document { media_type, bytes: record.read_block(limit)? }));
        }
        let headers = record.response_head()?.headers;
        let media_type = headers.get_str("content-type").unwrap_or_default().to_owned();
        let bytes = content::decoded(&headers, &content::body_within(record, &headers, limit)?, limit)?;
        Ok(Some(Document { media_type, bytes }))
    }
}

/// Damaged records are passed over: what cannot be read cannot be visited either.
fn documents(archive: &Archive) -> impl Iterator<Item = Page> {
    let records = archive.records().filter_map(Result::ok);
    records.filter_map(|(_, mut record)| {
        if record.kind() != RecordKind::Response || !record.holds_http() {
            return None;
        }
        let (url, ts): (String, Timestamp) = (record.target_uri()?.into_owned(), record.date()?);
        let head = record.response_head().ok()?;
        let html = head.headers.get_str("content-type").is_some_and(|mime| mime.starts_with("text/html"));
        (head.status == 200 && html && url.starts_with("http")).then(|| Page::new(url, ts))
    })
}
