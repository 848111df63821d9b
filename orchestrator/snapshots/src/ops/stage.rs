//! Copies records of any archives into a new snapshot.
//!
//! Records keep their ids, dates and blocks. Two things are undone, so that the writer can redo
//! them for the new snapshot. Revisits get their payload back; the writer creates new revisits for
//! equal payloads. Digests are dropped after they have been checked.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};

use super::OnProgress;
use super::digest::{self, Check, DigestComparison};
use super::originals::{Originals, Place};
use super::pages::{Candidate, PageFinder};
use super::pairs::Pairs;
use super::snapshot::NewSnapshot;
use crate::body::MEMORY;
use crate::budget::Budget;
use crate::http::write_response;
use crate::recording::is_left_out;
use crate::warc::new_record_id;
use crate::{
    Archive, Body, Error, Headers, Load, Progress, Record, RecordKind, RecordRef, Spool, Timestamp,
    content, ops,
};

/// The start of each segment in the concatenation of all segments, for progress.
pub(super) struct Starts {
    before: Vec<u64>,
    /// Bytes of all segments.
    pub(super) total: u64,
}

impl Starts {
    /// The number of bytes before a record.
    pub(super) fn position(&self, at: RecordRef) -> u64 {
        self.before.get(at.segment as usize).map_or(0, |before| before + at.offset)
    }
}

pub(super) fn starts(archive: &Archive) -> Starts {
    let mut total = 0;
    let mut before = Vec::new();
    for segment in archive.segments() {
        before.push(total);
        total += segment.length;
    }
    Starts { before, total }
}

/// A whole record from an archive.
#[derive(Debug)]
pub(super) struct StagedRecord {
    pub(super) kind: RecordKind,
    /// Whether the block is an HTTP message.
    pub(super) http: bool,
    /// Its fields, without digests and length.
    pub(super) headers: Headers,
    pub(super) block: Body,
}

/// Data from the first pass over the archives that the second pass needs.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) originals: Originals,
    pub(super) pages: PageFinder,
    /// Requests by their response. They are written after it, whatever their original order.
    requests: HashMap<Place, RecordRef>,
    /// All requests that belong to a response.
    paired: HashSet<Place>,
    /// Bytes of all segments of all archives.
    pub(super) total: u64,
}

impl Survey {
    /// Whether the record is a request that is written after its response.
    pub(super) fn is_paired_request(&self, archive: usize, at: RecordRef) -> bool {
        self.paired.contains(&(archive, at))
    }
}

/// The first pass, which reads heads only. It skips damage; the second pass reports it.
pub(super) fn survey(archives: &[Archive]) -> Survey {
    let mut survey = Survey::default();
    for (number, archive) in archives.iter().enumerate() {
        survey.total += starts(archive).total;
        let mut pairs = Pairs::default();
        let mut responses = Vec::new();
        for (at, mut record) in archive.records().flatten() {
            survey.originals.note(number, at, &record);
            pairs.note(at, &record);
            if matches!(record.kind(), RecordKind::Response | RecordKind::Revisit) {
                responses.push((at, pairs.link(&record)));
            }
            survey.pages.note(&mut record);
        }
        for (at, link) in responses {
            // A request belongs to one response at most.
            if let Some(request) =
                pairs.request_of(&link).filter(|request| survey.paired.insert((number, *request)))
            {
                survey.requests.insert((number, at), request);
            }
        }
    }
    survey
}

/// Counts of the second pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Counts {
    /// Records written.
    pub(super) records: u64,
    /// Responses among them.
    pub(super) responses: u64,
    /// Revisits that got their payload back.
    pub(super) expanded: u64,
    /// Revisits whose payload is in none of the archives.
    pub(super) unresolved: u64,
    /// Records omitted as duplicates.
    pub(super) identical: u64,
    /// Digests that do not match their bytes.
    pub(super) wrong_digests: u64,
    /// Records without mandatory fields.
    pub(super) unusable: u64,
}

/// The second pass.
pub(super) struct Stage<'a> {
    archives: &'a [Archive],
    survey: &'a Survey,
    out: &'a mut NewSnapshot,
    hasher: RandomState,
    ids: HashSet<u64>,
    whole: HashSet<u64>,
    pub(super) counts: Counts,
    /// HTML documents that may be pages, for archives without a page list.
    pub(super) candidates: Vec<Candidate>,
    /// Periods whose records are not copied.
    pub(super) left_out: Vec<Load>,
    /// What may still come out of the archives, all together.
    budget: Budget,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        archives: &'a [Archive],
        survey: &'a Survey,
        out: &'a mut NewSnapshot,
    ) -> Stage<'a> {
        let counts = Counts::default();
        // What cannot be read has no length, and fails at once.
        let lengths = archives.iter().map(|archive| archive.source().length().unwrap_or(0));
        let (ids, whole, candidates) = (HashSet::new(), HashSet::new(), Vec::new());
        Stage {
            archives,
            survey,
            out,
            hasher: RandomState::new(),
            ids,
            whole,
            counts,
            candidates,
            left_out: Vec::new(),
            budget: Budget::of_contents(lengths.fold(0, u64::saturating_add)),
        }
    }

    /// Copies the archive `number`; `before` bytes are in earlier archives. `change` transforms its
    /// records. Unreadable places are passed to `damaged`, which may stop the copy. Returns the
    /// number of records read.
    pub(super) fn copy(
        &mut self,
        number: usize,
        before: u64,
        progress: OnProgress<'_>,
        damaged: &mut dyn FnMut(Error) -> Result<(), ops::Error>,
        change: &mut dyn FnMut(StagedRecord) -> Result<StagedRecord, ops::Error>,
    ) -> Result<u64, ops::Error> {
        let archive = &self.archives[number];
        let starts = starts(archive);
        let mut read = 0;
        for item in archive.records() {
            let (at, record) = match item {
                Ok(found) => found,
                Err(error) => {
                    damaged(error)?;
                    continue;
                }
            };
            progress(Progress { done: before + starts.position(at), total: self.survey.total });
            read += 1;
            self.copy_record((number, at), record, damaged, change)?;
        }
        Ok(read)
    }

    /// Copies one record, and its request if it is a response. A request that belongs to a response
    /// is skipped.
    pub(super) fn copy_record(
        &mut self,
        (number, at): Place,
        record: Record,
        damaged: &mut dyn FnMut(Error) -> Result<(), ops::Error>,
        change: &mut dyn FnMut(StagedRecord) -> Result<StagedRecord, ops::Error>,
    ) -> Result<(), ops::Error> {
        // A paired request comes with its response, so that they stay next to each other.
        if self.survey.is_paired_request(number, at) || is_left_out(&record, &self.left_out) {
            return Ok(());
        }
        let request = self.survey.requests.get(&(number, at));
        let request = request.map(|at| self.archives[number].read_at(*at)).transpose();
        for record in [Ok(Some(record)), request].into_iter().filter_map(Result::transpose) {
            match record.and_then(|record| self.take(record)) {
                Ok(Some(taken)) => self.write(change(taken)?)?,
                Ok(None) => {}
                Err(error) => damaged(error)?,
            }
        }
        Ok(())
    }

    /// Takes a record with its block; `None` if it lacks mandatory fields. A block whose end cannot
    /// be read is an error, and nothing is written.
    fn take(&mut self, mut record: Record) -> Result<Option<StagedRecord>, Error> {
        let (kind, http) = (record.kind(), record.holds_http());
        let needs_url =
            !matches!(kind, RecordKind::Warcinfo | RecordKind::Metadata | RecordKind::Other);
        if kind == RecordKind::Other
            || record.date().is_none()
            || (needs_url && record.target_uri().is_none())
        {
            self.counts.unusable += 1;
            return Ok(None);
        }
        if kind == RecordKind::Revisit && is_identical_payload(&record) {
            match self.survey.originals.find(&record) {
                Some((archive, at)) => {
                    let original = self.archives[archive].read_at(at)?;
                    let taken = expand(record, original, &mut self.budget)?;
                    self.counts.expanded += 1;
                    self.consider(&taken);
                    return Ok(Some(taken));
                }
                None => self.counts.unresolved += 1,
            }
        }
        let said = record.headers.get_str("WARC-Block-Digest").map(str::to_owned);
        let (block, check) = spool(&mut record, said.as_deref(), &mut self.budget)?;
        if matches!(check, Some(DigestComparison::Differs(_))) {
            self.counts.wrong_digests += 1;
        }
        let mut headers = record.headers;
        // The writer makes these anew, from the bytes that it writes. Those of the input may be
        // wrong.
        headers.remove("WARC-Block-Digest");
        // A revisit has no payload: only this field says which one it stands for.
        if kind != RecordKind::Revisit {
            headers.remove("WARC-Payload-Digest");
        }
        headers.remove("Content-Length");
        let taken = StagedRecord { kind, http, headers, block };
        self.consider(&taken);
        Ok(Some(taken))
    }

    fn consider(&mut self, taken: &StagedRecord) {
        let text = |name| taken.headers.get_str(name);
        let date = text("WARC-Date").and_then(|date| Timestamp::parse(date).ok());
        if let (RecordKind::Response, Some(url), Some(date)) =
            (taken.kind, text("WARC-Target-URI"), date)
        {
            let url = url.trim_matches(['<', '>']);
            self.candidates.extend(self.survey.pages.consider(url, date, taken.block.reader()));
        }
    }

    /// Writes a record, unless an identical one was written before. A different record with an id
    /// that is already used gets a new id.
    fn write(&mut self, mut taken: StagedRecord) -> Result<(), Error> {
        let id = taken.headers.get("WARC-Record-ID").map(<[u8]>::to_vec);
        match id {
            Some(id) => {
                let id = self.hasher.hash_one(&id);
                let whole = self.hasher.hash_one((id, fingerprint(&taken)?));
                if !self.whole.insert(whole) {
                    self.counts.identical += 1;
                    return Ok(());
                }
                if !self.ids.insert(id) {
                    // Another record has this ID, but an ID names one record.
                    taken.headers.set("WARC-Record-ID", format!("<{}>", new_record_id()));
                }
            }
            None => taken.headers.set("WARC-Record-ID", format!("<{}>", new_record_id())),
        }
        let responses = taken.kind == RecordKind::Response;
        self.out.add(taken.headers, taken.block)?;
        self.counts.records += 1;
        self.counts.responses += u64::from(responses);
        Ok(())
    }
}

fn is_identical_payload(record: &Record) -> bool {
    record
        .headers
        .get_str("WARC-Profile")
        .is_none_or(|profile| profile.contains("identical-payload-digest"))
}

/// One digest over URL, date and block of a record.
fn fingerprint(taken: &StagedRecord) -> Result<String, Error> {
    let mut check = Check::new("sha256:");
    for name in ["WARC-Target-URI", "WARC-Date"] {
        check.update(taken.headers.get(name).unwrap_or_default());
        check.update(b"\n");
    }
    digest::run(taken.block.reader(), &mut [&mut check])
        .map_err(|e| Error::io("read", "a spooled body".into(), e))?;
    match check.compare() {
        DigestComparison::Differs(label) => Ok(label),
        DigestComparison::Equal | DigestComparison::Unknown => Ok(String::new()),
    }
}

/// The block of a record, hashed while it is read if there is a digest to compare with.
fn spool(
    record: &mut Record,
    said: Option<&str>,
    budget: &mut Budget,
) -> Result<(Body, Option<DigestComparison>), Error> {
    let failed = |source| Error::io("read", "a record block".into(), source);
    let mut check = said.map(Check::new);
    let mut spool = Spool::new(MEMORY);
    let mut buffer = vec![0; 64 << 10];
    // One byte more than is left, so that `take` refuses a larger block.
    let mut block = (&mut record.block).take(budget.left().saturating_add(1));
    loop {
        let count = block.read(&mut buffer).map_err(failed)?;
        if count == 0 {
            break;
        }
        if let Some(check) = &mut check {
            check.update(&buffer[..count]);
        }
        spool.write_all(&buffer[..count]).map_err(failed)?;
    }
    budget.take(spool.len())?;
    Ok((spool.finish().map_err(failed)?, check.map(Check::compare)))
}

/// A revisit with the payload of its original, as a response.
fn expand(
    mut revisit: Record,
    mut original: Record,
    budget: &mut Budget,
) -> Result<StagedRecord, Error> {
    let failed = |source| Error::io("read", "a record block".into(), source);
    let own = if revisit.block.remaining() > 0 { Some(revisit.response_head()?) } else { None };
    let theirs = if original.holds_http() { Some(original.response_head()?) } else { None };
    let coded = theirs.as_ref().map(|head| head.headers.clone()).unwrap_or_default();
    let body = content::within(original, &coded, budget)?;
    let mut spool = Spool::new(MEMORY);
    if let Some(mut head) = own.or(theirs) {
        // The body was read without its chunks.
        if head.headers.remove("transfer-encoding") > 0 {
            head.headers.set("Content-Length", body.len().to_string());
        }
        let mut bytes = Vec::new();
        write_response(&mut bytes, head.status, &head.reason, &head.headers);
        spool.write_all(&bytes).map_err(failed)?;
    }
    io::copy(&mut body.reader(), &mut spool).map_err(failed)?;
    let mut headers = revisit.headers;
    headers.set("WARC-Type", RecordKind::Response.name());
    headers.set("Content-Type", "application/http; msgtype=response");
    let obsolete = [
        "WARC-Profile",
        "WARC-Refers-To",
        "WARC-Refers-To-Target-URI",
        "WARC-Refers-To-Date",
        "WARC-Block-Digest",
        "WARC-Payload-Digest",
        "WARC-Truncated",
        "Content-Length",
    ];
    for name in obsolete {
        headers.remove(name);
    }
    let block = spool.finish().map_err(failed)?;
    Ok(StagedRecord { kind: RecordKind::Response, http: true, headers, block })
}
