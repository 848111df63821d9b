//! Creates the CDXJ lines of records. The request is folded into the key of its response.

use serde_json::{Map, Value};

use crate::cdxj::CdxLine;
use crate::http::{RequestHead, ResponseHead};
use crate::post_key::{PostQuery, post_query};
use crate::surt::surt;
use crate::{Record, RecordKind, Timestamp};

/// Where a record was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// The ids that pair a request with its response.
#[derive(Debug)]
struct Link {
    id: String,
    concurrent: Vec<String>,
}

impl Link {
    fn of(record: &Record) -> Link {
        let concurrent = record.concurrent_to().map(str::to_owned).collect();
        Link { id: record.id().unwrap_or_default().to_owned(), concurrent }
    }

    fn belongs_to(&self, other: &Link) -> bool {
        self.concurrent.contains(&other.id) || other.concurrent.contains(&self.id)
    }
}

/// What a request adds to the line of its response.
#[derive(Debug)]
pub(super) struct LinkedRequest {
    link: Link,
    query: Option<PostQuery>,
    referrer: Option<String>,
}

impl LinkedRequest {
    pub(super) fn of(record: &Record, head: &RequestHead, body: &[u8]) -> LinkedRequest {
        LinkedRequest {
            link: Link::of(record),
            query: post_query(
                &head.method,
                head.headers.get_str("Content-Type").unwrap_or(""),
                body,
            ),
            referrer: head.headers.get_str("Referer").map(str::to_owned),
        }
    }
}

/// Creates lines from records in file order. A response waits for the following record, which may
/// be its request.
#[derive(Debug)]
pub(super) struct Lines {
    filename: String,
    waiting: Option<(Link, CdxLine)>,
    request: Option<LinkedRequest>,
}

impl Lines {
    pub(super) fn new(filename: &str) -> Lines {
        Lines { filename: filename.to_owned(), waiting: None, request: None }
    }

    /// Adds a request. Returns the line of its response, if that came first.
    pub(super) fn request(&mut self, request: LinkedRequest) -> Option<CdxLine> {
        match self.waiting.take() {
            Some((response, line)) if response.belongs_to(&request.link) => {
                Some(join(line, request))
            }
            other => {
                self.request = Some(request);
                other.map(|(_, line)| line)
            }
        }
    }

    /// The line of an earlier response, and that of this record if nothing more can be learned
    /// about it.
    pub(super) fn indexed(
        &mut self,
        record: &Record,
        head: Option<&ResponseHead>,
        digest: &str,
        place: Place,
    ) -> [Option<CdxLine>; 2] {
        let earlier = self.finish();
        let Some(line) = self.line(record, head, digest, place) else { return [earlier, None] };
        let link = Link::of(record);
        let paired = matches!(record.kind(), RecordKind::Response | RecordKind::Revisit);
        match self.request.take() {
            Some(request) if request.link.belongs_to(&link) => [earlier, Some(join(line, request))],
            _ if paired => {
                self.waiting = Some((link, line));
                [earlier, None]
            }
            _ => [earlier, Some(line)],
        }
    }

    /// The line that is still waiting.
    pub(super) fn finish(&mut self) -> Option<CdxLine> {
        self.waiting.take().map(|(_, line)| line)
    }

    fn line(
        &self,
        record: &Record,
        head: Option<&ResponseHead>,
        digest: &str,
        place: Place,
    ) -> Option<CdxLine> {
        let url = record.target_uri()?.into_owned();
        let http = url.starts_with("http:") || url.starts_with("https:");
        match record.kind() {
            RecordKind::Response | RecordKind::Revisit | RecordKind::Resource => {}
            // Metadata about a page must not be found as the page.
            RecordKind::Metadata if !http => {}
            _ => return None,
        }
        let mime = match (record.kind(), head) {
            (RecordKind::Revisit, _) => "warc/revisit",
            (_, Some(head)) => head.headers.get_str("Content-Type").unwrap_or(""),
            (_, None) => record.content_type().unwrap_or(""),
        };
        let mime = mime.split([';', ' ', '\t']).next().unwrap_or("").trim();
        let mut fields = Map::new();
        let mut put =
            |name: &str, value: String| drop(fields.insert(name.to_owned(), Value::String(value)));
        put("url", url.clone());
        put("mime", if mime.is_empty() { "unk" } else { mime }.to_owned());
        let status =
            head.map(|head| head.status).or((record.kind() == RecordKind::Resource).then_some(200));
        if let Some(status) = status {
            put("status", status.to_string());
        }
        put("digest", digest.to_owned());
        put("length", place.length.to_string());
        put("offset", place.offset.to_string());
        put("filename", self.filename.clone());
        let time = record.date().unwrap_or_else(Timestamp::now).cdx14();
        Some(CdxLine { key: surt(&url), time, fields })
    }
}

fn join(mut line: CdxLine, LinkedRequest { query, referrer, .. }: LinkedRequest) -> CdxLine {
    let mut put = |name: &str, value: &str| drop(line.fields.insert(name.to_owned(), value.into()));
    if let Some(referrer) = referrer {
        put("referrer", &referrer);
    }
    if let Some(query) = query {
        put("method", &query.method);
        put("requestBody", &query.body);
        let url = line.fields.get("url").and_then(Value::as_str).unwrap_or_default();
        line.key = surt(&query.append_to(url));
    }
    line
}
