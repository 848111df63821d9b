//! Checks every index line against its record, and every response against the index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::{GzDecoder, MultiGzDecoder};

use super::records::{RecordSummaries, place};
use super::{Error, Findings, Flaw};
use crate::cdxj::{CdxLine, CdxLines};
use crate::ops::digest::{self, Check, DigestComparison};
use crate::wacz::{Entry, Package};
use crate::zipnum::{self, BlockRef};
use crate::{Archive, Encoding, RecordKind, RecordRef, Timestamp};

/// The maximum size of a block of the compressed index.
const MAX_BLOCK: u64 = 256 << 20;

/// The maximum size of what is remembered of records, in bytes.
const MAX_KNOWN: usize = 64 << 20;

/// The URLs in the index.
#[derive(Debug, Default)]
pub(super) struct IndexedUrls {
    hasher: RandomState,
    urls: HashSet<u64>,
}

impl IndexedUrls {
    /// Whether a URL is among them, ignoring fragments.
    pub(super) fn has(&self, url: &str) -> bool {
        self.urls.contains(&self.hash(url))
    }

    fn hash(&self, url: &str) -> u64 {
        self.hasher.hash_one(url.split('#').next().unwrap_or(url))
    }
}

struct Pass<'a> {
    archive: &'a Archive,
    /// Segments by file name.
    segments: HashMap<&'a str, u32>,
    seen: &'a mut RecordSummaries,
    captured: IndexedUrls,
    /// Key and time of the previous line, to check the order of lines.
    last: String,
    /// Records that lines have named. Many lines may name one record, which may be large.
    known: HashMap<RecordRef, Known>,
    /// Bytes of `known`.
    known_bytes: usize,
}

/// What a line is compared with.
#[derive(Debug, Clone)]
struct Known {
    url: String,
    date: Option<Timestamp>,
    digest: String,
    /// Status and content type of a response.
    head: Option<(u16, String)>,
    /// Digests of the record by algorithm, in the spelling of the first line that has one.
    record_digests: BTreeMap<String, String>,
}

pub(super) fn check(
    archive: &Archive,
    package: &Package,
    seen: &mut RecordSummaries,
    findings: &mut Findings,
) -> Result<IndexedUrls, Error> {
    let names =
        archive.segments().iter().zip(0..).map(|(segment, number)| (segment.name.as_str(), number));
    let mut pass = Pass {
        archive,
        segments: names.collect(),
        seen,
        captured: IndexedUrls::default(),
        last: String::new(),
        known: HashMap::new(),
        known_bytes: 0,
    };
    let named = |end: &str| -> Vec<&Entry> {
        let inside =
            |entry: &&Entry| entry.name.starts_with("indexes/") && entry.name.ends_with(end);
        package.entries().iter().filter(inside).collect()
    };
    let (lists, compressed) = (named(".idx"), named(".cdx.gz"));
    let plain: Vec<&Entry> = named(".cdx").into_iter().chain(named(".cdxj")).collect();
    if compressed.is_empty() && plain.is_empty() {
        findings.error(Flaw::Index, "indexes/", "there is no index");
    }
    // Players find the blocks of a compressed index (ZipNum) by its list alone.
    for entry in &compressed {
        let list = format!("{}.idx", entry.name.trim_end_matches(".cdx.gz"));
        match lists.iter().find(|entry| entry.name == list) {
            Some(list) => blocks(package, list, entry, findings),
            None => {
                findings.error(Flaw::Index, &entry.name, format!("its list {list} is not there"))
            }
        }
    }
    for entry in compressed {
        // A compressed index of a few bytes may unpack without end.
        let lines = MultiGzDecoder::new(package.reader(entry)).take(package.contents());
        let lines = BufReader::new(lines);
        pass.lines(&entry.name, lines, findings);
    }
    for entry in plain {
        pass.lines(&entry.name, package.reader(entry), findings);
    }
    for ((segment, offset), seen) in pass.seen.iter() {
        if seen.must_be_indexed && !seen.indexed {
            let at = RecordRef { segment: *segment, offset: *offset, length: seen.length };
            let url = archive
                .read_at(at)
                .ok()
                .and_then(|record| record.target_uri().map(|url| url.into_owned()));
            let detail = format!("the index does not name it: {}", url.unwrap_or_default());
            findings.error(Flaw::NotIndexed, place(archive, at), detail);
        }
    }
    Ok(pass.captured)
}

/// Checks the compressed index against its list: position, length and digest of every block, and no
/// bytes between blocks.
fn blocks(package: &Package, list: &Entry, entry: &Entry, findings: &mut Findings) {
    let blocks = match zipnum::read_index(&list.name, package.reader(list)) {
        Ok(blocks) => blocks,
        Err(error) => return findings.error(Flaw::Index, &list.name, error.to_string()),
    };
    let mut reader = package.reader(entry);
    let mut expected = 0;
    for found in &blocks {
        let place = format!("{} at offset {}", entry.name, found.offset);
        if found.offset != expected || found.length > MAX_BLOCK {
            let detail = format!(
                "the list has a block of {} bytes here, expected one at {expected}",
                found.length
            );
            return findings.error(Flaw::IndexBlock, place, detail);
        }
        expected += found.length;
        let mut bytes = Vec::new();
        if let Err(error) = reader.by_ref().take(found.length).read_to_end(&mut bytes) {
            return findings.error(Flaw::Damaged, place, error.to_string());
        }
        block(&place, found, &bytes, findings);
    }
    // An index without lines has no blocks; its file may contain an empty member.
    let mut rest: Box<dyn BufRead> = match blocks.is_empty() {
        true => Box::new(BufReader::new(MultiGzDecoder::new(reader))),
        false => Box::new(reader),
    };
    match io::copy(&mut rest, &mut io::sink()) {
        Ok(0) => {}
        Ok(rest) => findings.error(
            Flaw::IndexBlock,
            &entry.name,
            format!("{rest} bytes are in no block of the list"),
        ),
        Err(error) => findings.error(Flaw::Damaged, &entry.name, error.to_string()),
    }
}

fn block(place: &str, block: &BlockRef, bytes: &[u8], findings: &mut Findings) {
    if bytes.len() as u64 != block.length {
        let detail = format!("the list says {} bytes, {} are there", block.length, bytes.len());
        return findings.error(Flaw::IndexBlock, place, detail);
    }
    match &block.digest {
        Some(said) if !digest::same(said, &digest::sha256(bytes)) => {
            let detail = format!("the list says {said}, it is {}", digest::sha256(bytes));
            findings.error(Flaw::IndexBlock, place, detail);
        }
        Some(_) => {}
        None => findings.warning(Flaw::IndexBlock, place, "the list gives no digest for it"),
    }
    let mut start = Vec::new();
    let wanted = block.first.len() as u64;
    if let Err(error) = GzDecoder::new(bytes).take(wanted).read_to_end(&mut start) {
        return findings.error(Flaw::IndexBlock, place, format!("it is no gzip member: {error}"));
    }
    if start != block.first.as_bytes() {
        let detail = format!("the list says it starts with {:?}, it does not", block.first);
        findings.error(Flaw::IndexBlock, place, detail);
    }
}

impl Pass<'_> {
    fn lines(&mut self, name: &str, reader: impl BufRead, findings: &mut Findings) {
        self.last.clear();
        for (line, number) in CdxLines::new(name, reader).zip(1..) {
            match line {
                Ok(line) => {
                    findings.report.index_lines += 1;
                    self.line(&format!("{name}, line {number}"), &line, findings);
                }
                Err(error) => findings.error(Flaw::Index, name, error.to_string()),
            }
        }
    }

    fn line(&mut self, place: &str, line: &CdxLine, findings: &mut Findings) {
        let order = format!("{} {}", line.key, line.time);
        if order.as_bytes() < self.last.as_bytes() {
            findings.error(
                Flaw::IndexOrder,
                place,
                format!("{order:?} comes after {:?}", self.last),
            );
        }
        self.last = order;
        if let Some(url) = line.url() {
            let hash = self.captured.hash(url);
            self.captured.urls.insert(hash);
        }
        let (Some(file), Some(offset), Some(length)) =
            (line.filename(), line.offset(), line.length())
        else {
            return findings.error(Flaw::IndexTarget, place, "it lacks filename, offset or length");
        };
        let base = file.rsplit('/').next().unwrap_or(file);
        let Some(segment) = self.segments.get(base).copied() else {
            return findings.error(
                Flaw::IndexTarget,
                place,
                format!("no file under archive/ is called {file:?}"),
            );
        };
        let Some(seen) = self.seen.get_mut(&(segment, offset)) else {
            return findings.error(
                Flaw::IndexTarget,
                place,
                format!("no record of {file} starts at offset {offset}"),
            );
        };
        seen.indexed = true;
        let plain = self.archive.segments()[segment as usize].encoding == Encoding::Plain;
        // The length may or may not include the two line ends after an uncompressed record.
        if length != seen.length && !(plain && length == seen.length + 4) {
            let detail = format!("it says the record has {length} bytes, it has {}", seen.length);
            findings.error(Flaw::IndexTarget, place, detail);
        }
        let (kind, at) = (seen.kind, RecordRef { segment, offset, length: seen.length });
        self.values(place, line, kind, at, findings);
    }

    /// Checks the values of a line against the record.
    fn values(
        &mut self,
        place: &str,
        line: &CdxLine,
        kind: RecordKind,
        at: RecordRef,
        findings: &mut Findings,
    ) {
        let known = match self.known.get(&at) {
            Some(known) => known.clone(),
            None => match self.read(kind, at) {
                Ok(known) => known,
                Err(error) => return findings.error(Flaw::Damaged, place, error.to_string()),
            },
        };
        let known = self.record_digest(place, line, known, at, findings);
        let mut differs = |what: &str, said: Option<&str>, is: &str| {
            let detail = format!("{what} is {:?}, the record has {is:?}", said.unwrap_or_default());
            findings.error(Flaw::IndexValue, place, detail);
        };
        if line.url() != Some(known.url.as_str()) {
            differs("url", line.url(), &known.url);
        }
        let date =
            known.date.map(|date| if line.time.len() > 14 { date.cdx17() } else { date.cdx14() });
        if date.as_deref() != Some(line.time.as_str()) {
            differs("the time", Some(&line.time), &date.unwrap_or_default());
        }
        let said = line.text("digest").unwrap_or_default();
        let is = known.digest.as_str();
        // Some writers omit the algorithm in the line.
        let bare = is.split_once(':').map_or(is, |(_, value)| value);
        if !is.is_empty() && !digest::same(said, is) && !digest::same(said, bare) {
            differs("digest", Some(said), is);
        }
        let mime = line.text("mime").unwrap_or_default().to_owned();
        if kind == RecordKind::Revisit {
            if mime != "warc/revisit" {
                differs("mime", Some(&mime), "warc/revisit");
            }
        } else if let Some((status, media)) = &known.head {
            if line.status() != Some(*status) {
                differs("status", line.text("status"), &status.to_string());
            }
            let unknown = media.is_empty() && matches!(mime.as_str(), "" | "-" | "unk");
            if !mime.eq_ignore_ascii_case(media) && !unknown {
                differs("mime", Some(&mime), media);
            }
        }
        let bytes = known.url.len() + known.digest.len() + size_of::<Known>();
        if self.known_bytes < MAX_KNOWN {
            self.known_bytes += bytes;
            self.known.insert(at, known);
        }
    }

    /// Reads the values of a record.
    fn read(&self, kind: RecordKind, at: RecordRef) -> Result<Known, crate::Error> {
        let mut record = self.archive.read_at(at)?;
        let mut known = Known {
            url: record.target_uri().unwrap_or_default().into_owned(),
            date: record.date(),
            digest: record.headers.get_str("WARC-Payload-Digest").unwrap_or_default().to_owned(),
            head: None,
            record_digests: BTreeMap::new(),
        };
        // A block that is not an HTTP message is already a finding of the record.
        if kind == RecordKind::Response
            && record.holds_http()
            && let Ok(head) = record.response_head()
        {
            let media = head.headers.get_str("content-type").unwrap_or_default().trim();
            let media = media.split([';', ' ']).next().unwrap_or_default();
            known.head = Some((head.status, media.to_owned()));
        }
        Ok(known)
    }

    /// Checks the digest of a record, which is computed once for all lines that name the record.
    fn record_digest(
        &self,
        place: &str,
        line: &CdxLine,
        mut known: Known,
        at: RecordRef,
        findings: &mut Findings,
    ) -> Known {
        let Some(said) = line.text("recordDigest") else { return known };
        let name = said.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('-', "");
        if !matches!(name.as_str(), "sha1" | "sha256" | "sha512") {
            return known;
        }
        let is = match known.record_digests.get(&name) {
            Some(is) => Ok(is.clone()),
            None => {
                let mut check = Check::new(said);
                // The two line ends after an uncompressed record may count.
                let length =
                    line.length().filter(|length| *length <= at.length + 4).unwrap_or(at.length);
                let bytes =
                    self.archive.segments()[at.segment as usize].window_at(at.offset, length);
                digest::run(bytes, &mut [&mut check]).map(|_| match check.compare() {
                    DigestComparison::Differs(is) => is,
                    DigestComparison::Equal | DigestComparison::Unknown => said.to_owned(),
                })
            }
        };
        let is = is.unwrap_or_else(|error| error.to_string());
        if !digest::same(said, &is) {
            let detail = format!("recordDigest is {said:?}, the record has {is:?}");
            findings.error(Flaw::IndexValue, place, detail);
        }
        known.record_digests.insert(name, is);
        known
    }
}
