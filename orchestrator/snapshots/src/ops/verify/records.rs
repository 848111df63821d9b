//! Checks every record: its fields, digests, HTTP message, request, and payload in another record.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};

use super::{Error, Findings, Flaw, OnProgress};
use crate::content::is_chunked;
use crate::http::{Dechunk, parse_request, parse_response};
use crate::ops::digest::{self, Check, DigestComparison};
use crate::ops::originals::Originals;
use crate::ops::pairs::{Link, Pairs};
use crate::ops::stage::starts;
use crate::warc::Version;
use crate::{Archive, Headers, Progress, Record, RecordKind, RecordRef};

/// The data for comparison with the index.
#[derive(Debug)]
pub(super) struct RecordSummary {
    pub(super) kind: RecordKind,
    /// Its length in the stream, as determined by the reader.
    pub(super) length: u64,
    /// Whether the index must list it.
    pub(super) must_be_indexed: bool,
    /// Set by the index pass.
    pub(super) indexed: bool,
}

/// All records by position: index of the segment, and offset in it.
pub(super) type RecordSummaries = HashMap<(u32, u64), RecordSummary>;

pub(super) fn check(
    archive: &Archive,
    findings: &mut Findings,
    progress: OnProgress<'_>,
) -> Result<RecordSummaries, Error> {
    let mut pass = Pass {
        archive,
        hasher: RandomState::new(),
        ids: HashSet::new(),
        pairs: Pairs::default(),
        originals: Originals::default(),
        responses: Vec::new(),
        revisits: Vec::new(),
    };
    let starts = starts(archive);
    let mut seen = RecordSummaries::new();
    for item in archive.records() {
        match item {
            Ok((at, record)) => {
                progress(Progress { done: starts.position(at), total: starts.total });
                findings.report.records += 1;
                let kind = record.kind();
                let must_be_indexed = matches!(kind, RecordKind::Response | RecordKind::Revisit)
                    && record.holds_http();
                seen.insert(
                    (at.segment, at.offset),
                    RecordSummary { kind, length: at.length, must_be_indexed, indexed: false },
                );
                pass.record(at, record, findings);
            }
            // Damage is a finding: the scan goes on behind it.
            Err(crate::Error::Damaged { segment, offset, damage, .. }) => {
                findings.error(
                    Flaw::Damaged,
                    format!("{segment} at offset {offset}"),
                    damage.to_string(),
                );
            }
            Err(error) => return Err(error.into()),
        }
    }
    // Records may refer to others that come after them.
    pass.requests(findings);
    pass.revisits(findings)?;
    Ok(seen)
}

struct Pass<'a> {
    archive: &'a Archive,
    hasher: RandomState,
    ids: HashSet<u64>,
    pairs: Pairs,
    originals: Originals,
    responses: Vec<(RecordRef, Link)>,
    revisits: Vec<RecordRef>,
}

impl Pass<'_> {
    fn place(&self, at: RecordRef) -> String {
        place(self.archive, at)
    }

    fn record(&mut self, at: RecordRef, mut record: Record, findings: &mut Findings) {
        self.pairs.note(at, &record);
        self.originals.note(0, at, &record);
        self.fields(at, &record, findings);
        match record.kind() {
            RecordKind::Revisit => self.revisits.push(at),
            // An ARC has no requests.
            RecordKind::Response if record.holds_http() && record.version != Version::Arc => {
                self.responses.push((at, self.pairs.link(&record)));
            }
            _ => {}
        }
        if let Err(error) = self.block(at, &mut record, findings) {
            findings.error(
                Flaw::Damaged,
                self.place(at),
                format!("its block cannot be read: {error}"),
            );
        }
    }

    fn fields(&mut self, at: RecordRef, record: &Record, findings: &mut Findings) {
        let archive = self.archive;
        let place = || place(archive, at);
        let kind = record.kind();
        if kind == RecordKind::Other {
            let name = record.headers.get_str("WARC-Type").unwrap_or("nothing");
            findings.warning(Flaw::Field, place(), format!("its WARC-Type is {name}"));
        }
        // The other fields do not exist in ARC.
        if record.version == Version::Arc {
            return;
        }
        if record.date().is_none() {
            let said = record.headers.get_str("WARC-Date").unwrap_or("absent");
            findings.error(Flaw::Field, place(), format!("its WARC-Date is {said}"));
        }
        let about =
            !matches!(kind, RecordKind::Warcinfo | RecordKind::Metadata | RecordKind::Other);
        if about && record.target_uri().is_none_or(|uri| uri.is_empty()) {
            findings.error(Flaw::Field, place(), "it has no WARC-Target-URI");
        }
        match record.id() {
            None => findings.error(Flaw::Field, place(), "it has no WARC-Record-ID"),
            Some(id) => {
                if !self.ids.insert(self.hasher.hash_one(id)) {
                    findings.error(
                        Flaw::RecordId,
                        place(),
                        format!("an earlier record has the id {id} too"),
                    );
                }
            }
        }
    }

    fn block(&self, at: RecordRef, record: &mut Record, findings: &mut Findings) -> io::Result<()> {
        let kind = record.kind();
        let http = record.holds_http();
        let mut start = Vec::new();
        record.block.by_ref().take(crate::http::MAX_HEAD as u64 + 1).read_to_end(&mut start)?;
        let has_head = http && !(kind == RecordKind::Revisit && start.is_empty());
        let head = has_head.then(|| head(kind, &start)).transpose();
        let (headers, payload_start) = match &head {
            Ok(Some((headers, end))) => (Some(headers), *end),
            _ => (None, 0),
        };
        let said_of_block = record.headers.get_str("WARC-Block-Digest").map(str::to_owned);
        // The payload of a revisit is in another record.
        let said = record.headers.get_str("WARC-Payload-Digest").map(str::to_owned);
        let said = said.filter(|_| kind != RecordKind::Revisit && head.is_ok());
        let mut of_block = Check::new(said_of_block.as_deref().unwrap_or_default());
        let mut of_payload = Check::new(said.as_deref().unwrap_or_default());
        of_block.update(&start);
        of_payload.update(&start[payload_start..]);
        // As a stream: a block may be larger than any disk.
        digest::run(&mut record.block, &mut [&mut of_block, &mut of_payload])?;
        if let Some(said) = said_of_block {
            self.digest(at, Flaw::BlockDigest, &said, &of_block.compare(), findings);
        }
        if let Err(error) = &head {
            findings.error(Flaw::Http, self.place(at), error.to_string());
        }
        if let Some(said) = said {
            let mut found = of_payload.compare();
            if found != DigestComparison::Equal && headers.is_some_and(is_chunked) {
                // Writers disagree on whether the payload includes the chunk framing.
                let again = self.archive.read_at(at).map_err(io::Error::other)?;
                let payload = skip(again.block, payload_start as u64)?;
                let dechunked = compare(&said, Dechunk::new(io::BufReader::new(payload)))?;
                found = if dechunked == DigestComparison::Equal { dechunked } else { found };
            }
            self.digest(at, Flaw::PayloadDigest, &said, &found, findings);
        }
        Ok(())
    }

    fn digest(
        &self,
        at: RecordRef,
        flaw: Flaw,
        said: &str,
        found: &DigestComparison,
        findings: &mut Findings,
    ) {
        match found {
            DigestComparison::Equal => {}
            DigestComparison::Differs(is) => {
                findings.error(flaw, self.place(at), format!("the record says {said}, it is {is}"));
            }
            DigestComparison::Unknown => {
                findings.warning(
                    Flaw::UnknownDigest,
                    self.place(at),
                    format!("{said:?} was not checked"),
                );
            }
        }
    }

    fn requests(&self, findings: &mut Findings) {
        for (at, link) in &self.responses {
            if self.pairs.request_of(link).is_none() {
                findings.warning(
                    Flaw::NoRequest,
                    self.place(*at),
                    "no request record belongs to it",
                );
            }
        }
    }

    fn revisits(&self, findings: &mut Findings) -> Result<(), Error> {
        for at in &self.revisits {
            let revisit = self.archive.read_at(*at)?;
            let profile = revisit.headers.get_str("WARC-Profile").unwrap_or_default();
            let not_modified = profile.contains("server-not-modified");
            let Some((_, original)) = self.originals.find(&revisit) else {
                let url = revisit.target_uri().unwrap_or_default();
                findings.error(
                    Flaw::Unresolved,
                    self.place(*at),
                    format!("no record holds the payload of {url}"),
                );
                continue;
            };
            let original = self.archive.read_at(original)?;
            let label =
                |record: &Record| record.headers.get_str("WARC-Payload-Digest").map(str::to_owned);
            if let (Some(said), Some(is), false) = (label(&revisit), label(&original), not_modified)
                && !digest::same(&said, &is)
            {
                let detail = format!("it says {said}, the record it refers to says {is}");
                findings.error(Flaw::PayloadDigest, self.place(*at), detail);
            }
        }
        Ok(())
    }
}

pub(super) fn place(archive: &Archive, at: RecordRef) -> String {
    let name =
        archive.segments().get(at.segment as usize).map_or("?", |segment| segment.name.as_str());
    format!("{name} at offset {}", at.offset)
}

fn compare(said: &str, bytes: impl Read) -> io::Result<DigestComparison> {
    let mut check = Check::new(said);
    digest::run(bytes, &mut [&mut check])?;
    Ok(check.compare())
}

fn skip<R: Read>(mut reader: R, count: u64) -> io::Result<R> {
    io::copy(&mut reader.by_ref().take(count), &mut io::sink())?;
    Ok(reader)
}

/// The header fields at the start of a block, and the offset of its body.
fn head(kind: RecordKind, start: &[u8]) -> Result<(Headers, usize), crate::http::HttpError> {
    match kind {
        RecordKind::Request => parse_request(start).map(|(head, end)| (head.headers, end)),
        _ => parse_response(start).map(|(head, end)| (head.headers, end)),
    }
}
