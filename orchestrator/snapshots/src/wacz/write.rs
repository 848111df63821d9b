//! Writes a snapshot: takes records, and creates a WACZ.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use super::compress::{Compressor, Member};
use super::container::{ContainerWriter, Description};
use super::entry_lines::{Lines, LinkedRequest, Place};
use super::originals::{Original, Originals};
use crate::body::MEMORY;
use crate::http::{self, Dechunk, MAX_HEAD, RequestHead, ResponseHead};
use crate::sorter::Sorter;
use crate::warc::{RecordHead, new_record_id, sha256_text};
use crate::{Block, Body, Error, Page, Record, RecordKind, Spool, Timestamp, parallel, zipnum};

/// The name of the WARC in written snapshots.
pub const WARC_NAME: &str = "data.warc.gz";
/// The memory for index lines before they go to disk.
const SORT_MEMORY: usize = 64 << 20;
/// The least size of a part of the WARC, in bytes.
const PART: u64 = 4 << 20;
/// The maximum size of a request body that is used for its key.
const MAX_REQUEST: usize = 4 << 20;

const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// The result of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteReport {
    /// Records by kind.
    pub records: BTreeMap<&'static str, u64>,
    /// How many responses became revisits because their payload had already been written.
    pub deduplicated: u64,
    /// Pages.
    pub pages: u64,
    /// `sha256:<hex>` of `datapackage.json`; identifies the content of the snapshot.
    pub digest: String,
    /// Offsets in the WARC at which records start, in order, at least [`PART`] bytes apart. The
    /// parts between them can be read on their own.
    pub(crate) parts: Vec<u64>,
}

/// Writes a WACZ from records of any version. Records become WARC 1.1, each in its own gzip member,
/// and missing digests are added. A response whose payload was already written becomes a revisit.
/// The index and the page list are created on the way. Existing digests of a record are kept:
/// remove them if you change its block.
///
/// Records are compressed on all cores. The number of cores changes no byte of them.
pub struct SnapshotWriter {
    path: Utf8PathBuf,
    container: ContainerWriter,
    compressor: Compressor<PendingLine>,
    originals: Originals,
    lines: Lines,
    index: Sorter,
    pages: Spool,
    main_page: Option<(String, Timestamp)>,
    has_text: bool,
    written: WriteReport,
}

impl SnapshotWriter {
    /// Creates the file `path`, which must not exist.
    pub fn create(path: &Utf8Path) -> Result<SnapshotWriter, Error> {
        SnapshotWriter::with_threads(path, parallel::cores())
    }

    /// The same with this many threads that compress.
    pub(super) fn with_threads(path: &Utf8Path, threads: usize) -> Result<SnapshotWriter, Error> {
        let mut container = ContainerWriter::create(path)?;
        container.start(&format!("archive/{WARC_NAME}"), true)?;
        Ok(SnapshotWriter {
            path: path.to_owned(),
            container,
            compressor: Compressor::new(threads),
            originals: Originals::default(),
            lines: Lines::new(WARC_NAME),
            index: Sorter::new(SORT_MEMORY),
            pages: Spool::new(MEMORY),
            main_page: None,
            has_text: false,
            written: WriteReport::default(),
        })
    }

    /// Writes a record. Its block must not have been read from before.
    pub fn add(&mut self, mut record: Record) -> Result<(), Error> {
        let mut block = std::mem::replace(&mut record.block, Block::from_bytes(Vec::new()));
        let body = Body::spool(&mut block, MEMORY).map_err(|e| self.io(e))?;
        drop(block);
        let start = start_of(&body).map_err(|e| self.io(e))?;
        let (mut response, mut request) = (None, None);
        let mut payload_at = 0;
        if record.holds_http() {
            if record.kind() == RecordKind::Request {
                request = http::parse_request(&start).ok();
            } else {
                response = http::parse_response(&start).ok();
            }
            payload_at = request
                .as_ref()
                .map(|(_, at)| *at)
                .or(response.as_ref().map(|(_, at)| *at))
                .unwrap_or(0);
        }
        let digests = Digests::of(&body, payload_at).map_err(|e| self.io(e))?;
        let request = request.map(|(head, at)| {
            // Only the start of a long body is in memory. It would be the query of another request.
            let body = if start.len() as u64 == body.len() { &start[at..] } else { &[] };
            LinkedRequest::of(&record, &head, &without_chunks(&head, body))
        });
        drop(start);
        let (head, kind, length, digest) = self.head(&record, &body, payload_at, &digests)?;
        *self.written.records.entry(kind.name()).or_default() += 1;
        record.headers.set("WARC-Type", kind.name());
        let response = response.map(|(head, _)| head);
        let unplaced = match request {
            Some(request) => PendingLine::Request(request),
            None => PendingLine::Indexed(Box::new(IndexedRecord { record, response, digest })),
        };
        let pushed = self.compressor.push(Member { head, body, length }, unplaced);
        pushed.map_err(|e| self.io(e))?;
        self.write_compressed(false)
    }

    /// Adds a page to the list.
    pub fn add_page(&mut self, page: &Page) -> Result<(), Error> {
        let mut page = page.clone();
        page.id.get_or_insert_with(|| uuid::Uuid::new_v4().to_string());
        self.main_page.get_or_insert_with(|| (page.url.clone(), page.ts));
        self.has_text |= page.text.is_some();
        let line = super::pages::line(&page).map_err(|e| self.io(e.into()))?;
        self.pages.write_all(&line).map_err(|e| Error::io("write", &self.path, e))?;
        self.written.pages += 1;
        Ok(())
    }

    /// Writes index, pages and descriptions. If the description names no main page, the first page
    /// is used.
    pub fn finish(mut self, mut description: Description) -> Result<WriteReport, Error> {
        self.write_compressed(true)?;
        // The last response may still have waited for its request.
        if let Some(line) = self.lines.finish() {
            self.index_line(&line)?;
        }
        let io = |e| Error::io("write", &self.path, e);
        self.container.start("indexes/index.cdx.gz", true)?;
        let mut index = zipnum::Writer::new(&mut self.container, "index.cdx.gz");
        self.index.drain(|line| index.push(line)).map_err(io)?;
        let idx = index.finish().map_err(io)?;
        self.container.add("indexes/index.idx", false, idx.as_bytes())?;

        let pages = self.pages.finish().map_err(io)?;
        self.container.start("pages/pages.jsonl", false)?;
        super::pages::write_header(&mut self.container, self.has_text).map_err(io)?;
        io::copy(&mut pages.reader(), &mut self.container).map_err(io)?;
        description.main_page = description.main_page.or(self.main_page);
        self.written.digest = self.container.finish(&description)?;
        Ok(self.written)
    }

    /// The header of a record, its kind, the length of its block, and the digest of its payload.
    fn head(
        &mut self,
        record: &Record,
        body: &Body,
        payload_at: usize,
        digests: &Digests,
    ) -> Result<(Vec<u8>, RecordKind, u64, String), Error> {
        let mut kind = record.kind();
        let id = record.id().map_or_else(new_record_id, str::to_owned);
        let date = record.date().unwrap_or_else(Timestamp::now);
        let uri = record.target_uri().unwrap_or_default().into_owned();
        let mut length = body.len();
        let mut payload =
            given(record, "WARC-Payload-Digest").unwrap_or_else(|| sha256_text(&digests.payload));
        let mut block =
            given(record, "WARC-Block-Digest").unwrap_or_else(|| sha256_text(&digests.block));

        let mut original = None;
        let whole = !record.headers.contains("WARC-Truncated")
            && !record.headers.contains("WARC-Segment-Number");
        if kind == RecordKind::Response && whole && payload_at > 0 && (payload_at as u64) < length {
            original = self.originals.get(&digests.payload).map_err(|e| self.io(e))?;
            if original.is_none() {
                let this = Original {
                    id: id.clone(),
                    uri: uri.clone(),
                    date: date.to_string(),
                    digest: payload.clone(),
                };
                self.originals.put(&digests.payload, &this).map_err(|e| self.io(e))?;
            }
        }
        let mut head =
            RecordHead::new(if original.is_some() { RecordKind::Revisit } else { kind }, &id, date);
        if !uri.is_empty() {
            head = head.field("WARC-Target-URI", &uri);
        }
        if let Some(original) = &original {
            kind = RecordKind::Revisit;
            length = payload_at as u64;
            payload.clone_from(&original.digest);
            block = sha256_text(&digests.head);
            head = head
                .field("WARC-Profile", IDENTICAL)
                .uri("WARC-Refers-To", &original.id)
                .field("WARC-Refers-To-Target-URI", &original.uri)
                .field("WARC-Refers-To-Date", &original.date);
            self.written.deduplicated += 1;
        }
        for (name, value) in record.headers.iter().filter(|(name, _)| !is_own(name)) {
            match (name.eq_ignore_ascii_case("WARC-Profile"), std::str::from_utf8(value)) {
                (true, Ok(profile)) => head = head.field("WARC-Profile", current_profile(profile)),
                _ => head.push(name, value),
            }
        }
        // The payload of a revisit is elsewhere: its digest is known only if the record names it.
        let named = match kind {
            RecordKind::Warcinfo => false,
            RecordKind::Revisit => {
                original.is_some() || record.headers.contains("WARC-Payload-Digest")
            }
            // The start of a message's payload is unknown if its head cannot be parsed.
            _ => payload_at > 0 || !record.holds_http(),
        };
        if named {
            head = head.field("WARC-Payload-Digest", &payload);
        }
        let head = head.field("WARC-Block-Digest", &block).finish(length);
        Ok((head, kind, length, payload))
    }

    /// Writes the records that are compressed, and their index lines; with `all`, all records.
    fn write_compressed(&mut self, all: bool) -> Result<(), Error> {
        while let Some((member, unplaced)) = self.compressor.next(all).map_err(|e| self.io(e))? {
            let offset = self.container.position();
            if self.written.parts.last().is_none_or(|part| offset - part >= PART) {
                self.written.parts.push(offset);
            }
            match &member {
                Body::Bytes(bytes) => self.container.write_all(bytes),
                member => io::copy(&mut member.reader(), &mut self.container).map(drop),
            }
            .map_err(|e| self.io(e))?;
            let place = Place { offset, length: self.container.position() - offset };
            let lines = match unplaced {
                PendingLine::Request(request) => [self.lines.request(request), None],
                PendingLine::Indexed(indexed) => {
                    let IndexedRecord { record, response, digest } = *indexed;
                    self.lines.indexed(&record, response.as_ref(), &digest, place)
                }
            };
            lines.into_iter().flatten().try_for_each(|line| self.index_line(&line))?;
        }
        Ok(())
    }

    fn index_line(&mut self, line: &crate::cdxj::CdxLine) -> Result<(), Error> {
        self.index.push(line.to_string().as_bytes()).map_err(|e| self.io(e))
    }

    fn io(&self, error: io::Error) -> Error {
        Error::io("write", &self.path, error)
    }
}

/// What the index needs of a record whose place in the file is not known yet.
#[derive(Debug)]
enum PendingLine {
    Request(LinkedRequest),
    Indexed(Box<IndexedRecord>),
}

#[derive(Debug)]
struct IndexedRecord {
    /// Its block is read.
    record: Record,
    response: Option<ResponseHead>,
    digest: String,
}

/// The digests of a record: of the whole block, of the HTTP head and of what follows it.
struct Digests {
    block: [u8; 32],
    head: [u8; 32],
    payload: [u8; 32],
}

impl Digests {
    fn of(body: &Body, payload_at: usize) -> io::Result<Digests> {
        let (mut block, mut payload) = (Sha256::new(), Sha256::new());
        let mut reader = body.reader();
        let mut head = Vec::with_capacity(payload_at);
        reader.by_ref().take(payload_at as u64).read_to_end(&mut head)?;
        block.update(&head);
        let head = Sha256::digest(&head).into();
        match body {
            Body::Bytes(bytes) => {
                block.update(&bytes[payload_at..]);
                payload.update(&bytes[payload_at..]);
            }
            _ => {
                let mut buffer = vec![0; 256 << 10];
                loop {
                    let got = reader.read(&mut buffer)?;
                    if got == 0 {
                        break;
                    }
                    block.update(&buffer[..got]);
                    payload.update(&buffer[..got]);
                }
            }
        }
        Ok(Digests { block: block.finalize().into(), head, payload: payload.finalize().into() })
    }
}

/// The start of a block: enough for an HTTP head, or for a request body that is folded.
fn start_of(body: &Body) -> io::Result<Cow<'_, [u8]>> {
    match body {
        Body::Bytes(bytes) => Ok(bytes.as_slice().into()),
        _ => {
            let mut start = Vec::new();
            body.reader().take((MAX_HEAD + MAX_REQUEST) as u64).read_to_end(&mut start)?;
            Ok(start.into())
        }
    }
}

/// The body of a stored request as its server received it.
fn without_chunks<'a>(head: &RequestHead, body: &'a [u8]) -> Cow<'a, [u8]> {
    let coding = head.headers.get_str("Transfer-Encoding").unwrap_or("");
    let mut plain = Vec::new();
    if coding.to_ascii_lowercase().contains("chunked")
        && Dechunk::new(body).read_to_end(&mut plain).is_ok()
    {
        Cow::Owned(plain)
    } else {
        Cow::Borrowed(body)
    }
}

/// A digest from the record itself, if it is readable.
fn given(record: &Record, name: &str) -> Option<String> {
    let text = record.headers.get_str(name)?.trim();
    let (algorithm, value) = text.split_once(':')?;
    (!algorithm.is_empty() && !value.is_empty()).then(|| text.to_owned())
}

/// Fields that are generated from what is known about the record.
fn is_own(name: &str) -> bool {
    const OWN: &[&str] = &[
        "WARC-Type",
        "WARC-Record-ID",
        "WARC-Date",
        "WARC-Target-URI",
        "WARC-Payload-Digest",
        "WARC-Block-Digest",
        "Content-Length",
    ];
    OWN.iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// The current name of a revisit profile.
fn current_profile(profile: &str) -> &str {
    let profile = profile.trim();
    match profile.rsplit('/').next() {
        Some("identical-payload-digest" | "uri-agnostic-identical-payload-digest") => IDENTICAL,
        Some("server-not-modified") => NOT_MODIFIED,
        _ => profile,
    }
}
