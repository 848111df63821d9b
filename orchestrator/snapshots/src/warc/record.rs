//! One record: its named fields and its block.

use std::borrow::Cow;
use std::io::Read;

use super::block::Block;
use super::header::Version;
use crate::http::{self, HttpError, RequestHead, ResponseHead};
use crate::{Error, Headers, Timestamp};

/// The location of a record: enough to read it again, from any thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordRef {
    /// Index of the stream in [`crate::Archive::segments`].
    pub segment: u32,
    /// Offset of the record (of its gzip member, if compressed) in the stream.
    pub offset: u64,
    /// Its length in the stream, as in a CDXJ line; 0 if unknown.
    pub length: u64,
}

/// The kinds of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// Metadata about the file itself.
    Warcinfo,
    /// A message from a server.
    Response,
    /// A message to a server.
    Request,
    /// A response whose payload is in another record.
    Revisit,
    /// Bytes without protocol framing.
    Resource,
    /// Metadata about another record.
    Metadata,
    /// A record in another form.
    Conversion,
    /// The next part of a segmented record.
    Continuation,
    /// An unknown kind.
    Other,
}

impl RecordKind {
    /// Parses a `WARC-Type` value.
    pub fn parse(name: &str) -> RecordKind {
        match name.trim().to_ascii_lowercase().as_str() {
            "warcinfo" => RecordKind::Warcinfo,
            "response" => RecordKind::Response,
            "request" => RecordKind::Request,
            "revisit" => RecordKind::Revisit,
            "resource" => RecordKind::Resource,
            "metadata" => RecordKind::Metadata,
            "conversion" => RecordKind::Conversion,
            "continuation" => RecordKind::Continuation,
            _ => RecordKind::Other,
        }
    }

    /// The `WARC-Type` value.
    pub fn name(self) -> &'static str {
        match self {
            RecordKind::Warcinfo => "warcinfo",
            RecordKind::Response => "response",
            RecordKind::Request => "request",
            RecordKind::Revisit => "revisit",
            RecordKind::Resource => "resource",
            RecordKind::Metadata => "metadata",
            RecordKind::Conversion => "conversion",
            RecordKind::Continuation => "continuation",
            RecordKind::Other => "other",
        }
    }
}

/// A record whose fields are read, and whose block is still unread.
#[derive(Debug)]
pub struct Record {
    /// The format in which it was written.
    pub version: Version,
    /// The named fields. An ARC record has the corresponding WARC fields.
    pub headers: Headers,
    /// The block. It is streamed, so an unread block costs nothing.
    pub block: Block,
}

impl Record {
    /// Its kind.
    pub fn kind(&self) -> RecordKind {
        self.headers.get_str("WARC-Type").map_or(RecordKind::Other, RecordKind::parse)
    }

    /// Its id, a URI, without angle brackets.
    pub fn id(&self) -> Option<&str> {
        self.headers.get_str("WARC-Record-ID").map(bare)
    }

    /// The ids of its concurrent records.
    pub fn concurrent_to(&self) -> impl Iterator<Item = &str> {
        self.headers
            .get_all("WARC-Concurrent-To")
            .filter_map(|v| std::str::from_utf8(v).ok())
            .map(bare)
    }

    /// Its target URI. Angle brackets, which some writers add, are removed, and spaces are escaped.
    pub fn target_uri(&self) -> Option<Cow<'_, str>> {
        let uri = String::from_utf8_lossy(self.headers.get("WARC-Target-URI")?);
        let uri = match uri {
            Cow::Borrowed(uri) => Cow::Borrowed(bare(uri)),
            Cow::Owned(uri) => Cow::Owned(bare(&uri).to_owned()),
        };
        Some(if uri.contains(' ') { Cow::Owned(uri.replace(' ', "%20")) } else { uri })
    }

    /// Its creation date.
    pub fn date(&self) -> Option<Timestamp> {
        self.headers.get_str("WARC-Date").and_then(|text| Timestamp::parse(text).ok())
    }

    /// The media type of the block.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get_str("Content-Type")
    }

    /// Whether the block should be an HTTP message: the record has an HTTP URI, and is of a kind
    /// that holds messages. The content type is ignored, because some writers put that of the
    /// payload there.
    pub fn holds_http(&self) -> bool {
        let kind =
            matches!(self.kind(), RecordKind::Response | RecordKind::Request | RecordKind::Revisit);
        let http = |uri: Cow<'_, str>| {
            let scheme = uri.split(':').next().unwrap_or("");
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        };
        kind && self.target_uri().is_some_and(http)
    }

    /// Reads the response head. The block is then positioned at the body.
    pub fn response_head(&mut self) -> Result<ResponseHead, Error> {
        self.head(http::parse_response)
    }

    /// Reads the request head. The block is then positioned at the body.
    pub fn request_head(&mut self) -> Result<RequestHead, Error> {
        self.head(http::parse_request)
    }

    fn head<H>(
        &mut self,
        parse: impl Fn(&[u8]) -> Result<(H, usize), HttpError>,
    ) -> Result<H, Error> {
        let wrap = |e| Error::io("read", "a record block".into(), e);
        let bytes = self
            .block
            .fill_to(http::MAX_HEAD + 1, |bytes| http::find_end(bytes).is_some())
            .map_err(wrap)?;
        let (head, end) = parse(bytes)?;
        self.block.consume(end);
        Ok(head)
    }

    /// The rest of the block; an error if it is longer than `limit`.
    pub fn read_block(&mut self, limit: u64) -> Result<Vec<u8>, Error> {
        if self.block.remaining() > limit {
            return Err(Error::TooLarge { what: "a record block", limit });
        }
        let mut bytes = Vec::with_capacity(self.block.remaining() as usize);
        self.block
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io("read", "a record block".into(), e))?;
        Ok(bytes)
    }
}

fn bare(uri: &str) -> &str {
    let uri = uri.trim();
    uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri)
}
