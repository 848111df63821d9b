//! `inspect`: summarises the contents of a snapshot, without validating it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde_json::Value;

use super::credentials::{Counter, Credentials};
use super::signature::{self, Signature};
use super::{Error, OnProgress};
use crate::{Archive, BrowserState, Encoding, Progress, Record, RecordKind, Timestamp};

/// The maximum number of listed damages; the count continues.
const DAMAGES: usize = 20;

/// The contents of a snapshot.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// The file.
    pub path: Utf8PathBuf,
    /// `wacz`, or the version of the records in a plain file: `WARC/1.0`, `ARC`.
    pub format: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Title of the package.
    pub title: Option<String>,
    /// Description of the package.
    pub description: Option<String>,
    /// When the package was made.
    pub created: Option<String>,
    /// Programs that wrote it: first from the package, then from the records.
    pub software: Vec<String>,
    /// The package's signature; `None` for a plain file.
    pub signature: Option<Signature>,
    /// The record streams.
    pub segments: Vec<SegmentSummary>,
    /// Records by kind.
    pub records: BTreeMap<&'static str, u64>,
    /// Responses and revisits by host.
    pub hosts: BTreeMap<String, HostCount>,
    /// Responses and revisits by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Responses by media type, without parameters; `-` if there is none.
    pub media_types: BTreeMap<String, u64>,
    /// Requests by method.
    pub methods: BTreeMap<String, u64>,
    /// Pages in the page lists.
    pub pages: u64,
    /// Pages with stored text.
    pub pages_with_text: u64,
    /// Date of the earliest response.
    pub first: Option<Timestamp>,
    /// Date of the latest response.
    pub last: Option<Timestamp>,
    /// Bytes of all record blocks, uncompressed.
    pub block_bytes: u64,
    /// Records that contain credentials; `redact --credentials` hides them.
    pub credentials: Credentials,
    /// The size of the browser state; `None` if it is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_state: Option<BrowserStateCounts>,
    /// The number of damaged places.
    pub damaged: u64,
    /// The first damages.
    pub damages: Vec<String>,
}

/// A record stream.
#[derive(Debug, Clone, Serialize)]
pub struct SegmentSummary {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether each record is compressed.
    pub compressed: bool,
}

/// The responses of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HostCount {
    /// Responses and revisits.
    pub responses: u64,
    /// Bytes of their blocks.
    pub bytes: u64,
}

/// The size of the browser state. Values are not shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BrowserStateCounts {
    /// Cookies by domain.
    pub cookies: BTreeMap<String, usize>,
    /// Entries of `localStorage` by origin.
    pub local_storage: BTreeMap<String, usize>,
    /// Entries of `sessionStorage` by origin.
    pub session_storage: BTreeMap<String, usize>,
}

impl BrowserStateCounts {
    /// `None` if the state is empty.
    fn of(state: &BrowserState) -> Option<BrowserStateCounts> {
        if state.is_empty() {
            return None;
        }
        let mut cookies = BTreeMap::new();
        for cookie in &state.cookies {
            *cookies.entry(cookie.domain.clone()).or_default() += 1;
        }
        let counted = |storage: &crate::Storage| {
            storage.iter().map(|(origin, entries)| (origin.clone(), entries.len())).collect()
        };
        let (local_storage, session_storage) =
            (counted(&state.local_storage), counted(&state.session_storage));
        Some(BrowserStateCounts { cookies, local_storage, session_storage })
    }
}

/// Inspects the snapshot at `path`.
///
/// # Errors
/// The file is not a snapshot. Damage inside it is counted, and is not an error.
pub fn inspect(path: &Utf8Path, progress: OnProgress<'_>) -> Result<Inspection, Error> {
    let archive = Archive::open(path)?;
    let bytes = archive.source().length().map_err(|source| Error::io("open", path, source))?;
    let mut report = Inspection {
        path: path.to_owned(),
        format: String::new(),
        bytes,
        title: None,
        description: None,
        created: None,
        software: Vec::new(),
        signature: archive.package().map(signature::of),
        segments: segments(&archive),
        records: BTreeMap::new(),
        hosts: BTreeMap::new(),
        statuses: BTreeMap::new(),
        media_types: BTreeMap::new(),
        methods: BTreeMap::new(),
        pages: 0,
        pages_with_text: 0,
        first: None,
        last: None,
        block_bytes: 0,
        credentials: Credentials::default(),
        browser_state: BrowserStateCounts::of(&BrowserState::of(&archive)),
        damaged: 0,
        damages: Vec::new(),
    };
    if let Some(package) = archive.package() {
        report.format = "wacz".to_owned();
        // A damaged description is a finding: the records can still be read.
        match package.description() {
            Ok(description) => report.take_description(&description.unwrap_or_default()),
            Err(error) => report.damage(error.to_string()),
        }
    }
    for page in archive.page_lines() {
        match page {
            Ok(page) => {
                report.pages += 1;
                report.pages_with_text += u64::from(page.text.is_some());
            }
            Err(error) => report.damage(error.to_string()),
        }
    }
    let mut counter = Counter::default();
    counter.kept(&BrowserState::of(&archive));
    let starts = super::stage::starts(&archive);
    for item in archive.records() {
        match item {
            Ok((at, record)) => {
                progress(Progress { done: starts.position(at), total: starts.total });
                report.take(record, &mut counter);
            }
            Err(error) if error.is_damage() => report.damage(error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    report.credentials = counter.found;
    Ok(report)
}

fn segments(archive: &Archive) -> Vec<SegmentSummary> {
    let summary = |segment: &crate::Segment| SegmentSummary {
        name: segment.name.clone(),
        bytes: segment.length,
        compressed: segment.encoding == Encoding::Gzip,
    };
    archive.segments().iter().map(summary).collect()
}

impl Inspection {
    fn take_description(&mut self, description: &Value) {
        let text = |key: &str| description.get(key).and_then(Value::as_str).map(str::to_owned);
        self.title = text("title");
        self.description = text("description");
        self.created = text("created");
        self.software.extend(text("software"));
    }

    fn take(&mut self, mut record: Record, counter: &mut Counter) {
        if self.format.is_empty() {
            self.format = record.version.to_string();
        }
        let kind = record.kind();
        *self.records.entry(kind.name()).or_default() += 1;
        let block = record.block.remaining();
        self.block_bytes += block;
        match kind {
            RecordKind::Warcinfo => self.take_info(record),
            RecordKind::Request => {
                if let Ok(head) = record.request_head() {
                    *self.methods.entry(head.method).or_default() += 1;
                    counter.message(&head.headers, &mut record);
                }
            }
            RecordKind::Response | RecordKind::Revisit => {
                if let Some(date) = record.date() {
                    self.first = Some(self.first.map_or(date, |first| first.min(date)));
                    self.last = Some(self.last.map_or(date, |last| last.max(date)));
                }
                let url = record.target_uri().and_then(|url| url::Url::parse(&url).ok());
                let host = url
                    .and_then(|url| url.host_str().map(str::to_owned))
                    .unwrap_or_else(|| "-".to_owned());
                let count = self.hosts.entry(host).or_default();
                count.responses += 1;
                count.bytes += block;
                self.take_head(kind, record, counter);
            }
            RecordKind::Resource => counter.frames(&mut record),
            _ => {}
        }
    }

    fn take_head(&mut self, kind: RecordKind, mut record: Record, counter: &mut Counter) {
        if !record.holds_http() || block_is_empty(&record) {
            return;
        }
        let Ok(head) = record.response_head() else { return };
        *self.statuses.entry(head.status).or_default() += 1;
        if kind == RecordKind::Response {
            let media =
                head.headers.get_str("content-type").and_then(|media| media.split(';').next());
            let media = media
                .map(|media| media.trim().to_ascii_lowercase())
                .filter(|media| !media.is_empty());
            *self.media_types.entry(media.unwrap_or_else(|| "-".to_owned())).or_default() += 1;
        }
        counter.message(&head.headers, &mut record);
    }

    fn take_info(&mut self, mut record: Record) {
        let Ok(block) = record.read_block(1 << 20) else { return };
        for line in String::from_utf8_lossy(&block).lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim().to_owned();
            if name.trim().eq_ignore_ascii_case("software") && !self.software.contains(&value) {
                self.software.push(value);
            }
        }
    }

    fn damage(&mut self, what: String) {
        self.damaged += 1;
        if self.damages.len() < DAMAGES {
            self.damages.push(what);
        }
    }
}

fn block_is_empty(record: &Record) -> bool {
    record.block.remaining() == 0
}
