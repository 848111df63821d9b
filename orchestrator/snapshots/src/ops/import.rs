//! `import`: makes one valid WACZ from WARC, ARC and HAR files, and from WACZ files with or without
//! an index.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::collection::open_all;
use super::exchanges::damaged;
use super::pages::{Candidate, choose};
use super::snapshot::{NewSnapshot, describe};
use super::stage::{Stage, Survey, starts, survey};
use super::{Error, OnProgress};
use crate::budget::Watch;
use crate::collection::{Collection, CollectionFlaw};
use crate::har::{self, Note};
use crate::{Archive, Damage, Exchange, Page, Recording, RecordingOptions};

/// More bytes than this between two records may have been a record.
pub(super) const MOST_STRAY: u64 = 16;

/// The metadata of the new snapshot.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
}

/// The result of an import.
#[derive(Debug, Clone, Serialize)]
pub struct ImportReport {
    /// The new snapshot.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// `sha256:<hex>` of its description, which identifies its content.
    pub digest: String,
    /// Responses, including revisits.
    pub responses: u64,
    /// Responses whose payload is in an earlier response.
    pub revisits: u64,
    /// Pages.
    pub pages: u64,
    /// Whether pages had to be detected, because an input had no page list.
    pub pages_found: bool,
    /// Revisits whose payload is in none of the inputs.
    pub unresolved_revisits: u64,
    /// Records omitted because another input contains an identical record.
    pub identical: u64,
    /// Records whose block does not match the digest in the input.
    pub wrong_digests: u64,
    /// The result for each input.
    pub inputs: Vec<InputReport>,
}

/// The result for one input.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InputReport {
    /// The file.
    pub path: Utf8PathBuf,
    /// `har` or `archive`.
    pub format: &'static str,
    /// Entries of a HAR, records of an archive.
    pub read: u64,
    /// How many of them are in the new snapshot.
    pub kept: u64,
    /// Bytes between records that belong to no record.
    pub stray_bytes: u64,
    /// Why the others were skipped.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// Entries of a HAR that are not valid exchanges: the first hundred, each with its number and
    /// the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<String>,
    /// How HAR entries had to be changed, by kind of [`Note`].
    pub notes: BTreeMap<String, u64>,
}

/// Why something was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The request got no response.
    NoResponse,
    /// The log does not contain the body. An empty response would be wrong.
    BodyMissing,
    /// The URL is not one that a browser can request through a gateway.
    NotHttp,
    /// The record lacks a type, a URL or a date, or the HAR entry is not a valid exchange.
    Unusable,
    /// Another input contains an identical record.
    Identical,
}

/// Makes one snapshot at `out` from all `inputs`, in their order.
///
/// A 304 that a HAR lists with the body from the browser's cache is stored as the 200 that the page
/// received.
///
/// # Errors
/// `out` exists, an input cannot be read, or an archive is damaged ([`Error::Damaged`]: `repair` it
/// first).
pub fn import(
    inputs: &[Utf8PathBuf],
    out: &Utf8Path,
    options: &ImportOptions,
    progress: OnProgress<'_>,
) -> Result<ImportReport, Error> {
    if inputs.is_empty() {
        return Err(Error::NoInput { action: "import" });
    }
    let mut archives = Vec::new();
    let mut hars = Vec::new();
    for path in inputs {
        match Collection::read_if_json(path) {
            Ok(Some(_)) => archives.extend(open_all(std::slice::from_ref(path))?),
            Ok(None) if is_har(path)? => hars.push(path),
            Ok(None) => archives.push(Archive::open(path)?),
            // JSON of another form.
            Err(crate::Error::Collection { flaw: CollectionFlaw::Malformed(_), .. }) => {
                hars.push(path)
            }
            Err(error) => return Err(error.into()),
        }
    }
    let description = describe(options.title.as_deref(), options.description.as_deref(), &archives);
    let mut snapshot = NewSnapshot::create(out, description)?;
    let (mut har_reports, mut pages) = (Vec::new(), Vec::new());
    if !hars.is_empty() {
        // Exchanges become records as in a recording. The folder is deleted with the unfinished
        // output.
        let folder = snapshot.folder().join("har");
        let recording = Recording::create(&folder, RecordingOptions::default())?;
        for path in hars {
            har_reports.push(add_har(path, &recording, &mut pages, snapshot.folder())?);
        }
        if let (true, Some(empty)) = (archives.is_empty(), without_bodies(&har_reports)) {
            return Err(empty);
        }
        drop(recording);
        archives.push(Archive::open(&Recording::folder_of(&folder).join("data.warc"))?);
    }
    let survey = survey(&archives);
    let mut copy = copy(&archives, &survey, &mut snapshot, progress)?;
    if !har_reports.is_empty() {
        copy.reports.pop();
        copy.reports.append(&mut har_reports);
        if !pages.is_empty() {
            copy.candidates.pop();
        }
    }
    join_pages(&mut copy.pages, pages);
    let mut pages_found = false;
    for found in copy.candidates.into_iter().map(choose) {
        pages_found |= !found.is_empty();
        join_pages(&mut copy.pages, found);
    }
    for page in &copy.pages {
        snapshot.page(page)?;
    }
    let made = snapshot.finish(|_| Ok(()))?;
    Ok(ImportReport {
        path: out.to_owned(),
        bytes: made.bytes,
        digest: made.digest,
        responses: made.responses,
        revisits: made.revisits,
        pages: made.pages,
        pages_found,
        unresolved_revisits: copy.counts.unresolved,
        identical: copy.counts.identical,
        wrong_digests: copy.counts.wrong_digests,
        inputs: copy.reports,
    })
}

/// The result of copying archives.
#[derive(Debug, Default)]
pub(super) struct Copy {
    pub(super) reports: Vec<InputReport>,
    pub(super) pages: Vec<Page>,
    /// HTML documents of each archive without a page list.
    pub(super) candidates: Vec<Vec<Candidate>>,
    pub(super) counts: super::stage::Counts,
}

/// Copies every record of some archives into a snapshot, and collects their pages.
pub(super) fn copy(
    archives: &[Archive],
    survey: &Survey,
    snapshot: &mut NewSnapshot,
    progress: OnProgress<'_>,
) -> Result<Copy, Error> {
    let mut copy = Copy::default();
    let mut stage = Stage::new(archives, survey, snapshot);
    let mut before = 0;
    for (number, archive) in archives.iter().enumerate() {
        let mut report = InputReport {
            path: archive.path().to_owned(),
            format: "archive",
            ..InputReport::default()
        };
        let earlier = stage.counts.clone();
        let mut stray = 0;
        let mut refuse = |error| match error {
            // Missing or superfluous line ends; no record is lost.
            crate::Error::Damaged { damage: Damage::Stray { bytes }, .. }
                if bytes <= MOST_STRAY =>
            {
                stray += bytes;
                Ok(())
            }
            error => Err(damaged(archive, error)),
        };
        report.read = stage.copy(number, before, progress, &mut refuse, &mut Ok)?;
        report.stray_bytes = stray;
        before += starts(archive).total;
        report.kept = stage.counts.records - earlier.records;
        report.skip(SkipReason::Unusable, stage.counts.unusable - earlier.unusable);
        report.skip(SkipReason::Identical, stage.counts.identical - earlier.identical);
        copy.reports.push(report);
        let (pages, candidates) = (archive.pages(), std::mem::take(&mut stage.candidates));
        if pages.is_empty() {
            copy.candidates.push(candidates);
        }
        join_pages(&mut copy.pages, pages);
    }
    copy.counts = stage.counts;
    Ok(copy)
}

/// Adds pages that are not listed yet. Pages with the same URL and time are equal.
pub(super) fn join_pages(pages: &mut Vec<Page>, more: Vec<Page>) {
    let mut known: HashMap<(String, crate::Timestamp), usize> = pages
        .iter()
        .enumerate()
        .map(|(index, page)| ((page.url.clone(), page.ts), index))
        .collect();
    for page in more {
        match known.get(&(page.url.clone(), page.ts)) {
            Some(index) => {
                let there = &mut pages[*index];
                there.title = there.title.take().or(page.title);
                there.text = there.text.take().or(page.text);
            }
            None => {
                known.insert((page.url.clone(), page.ts), pages.len());
                pages.push(page);
            }
        }
    }
}

impl InputReport {
    fn skip(&mut self, why: SkipReason, count: u64) {
        if count > 0 {
            *self.skipped.entry(why).or_default() += count;
        }
    }
}

/// Detected by content: a JSON text, or a ZIP with a `.har` and no `archive/`.
fn is_har(path: &Utf8Path) -> Result<bool, Error> {
    let failed = |source| Error::io("open", path, source);
    let file = files::open(path).map_err(failed)?;
    let mut start = Vec::new();
    (&file).take(64).read_to_end(&mut start).map_err(failed)?;
    if start.starts_with(b"PK") {
        let Ok(zip) = zip::ZipArchive::new(file) else { return Ok(false) };
        let names: Vec<String> = zip.file_names().flatten().map(|name| name.into_owned()).collect();
        return Ok(names.iter().any(|name| name.ends_with(".har"))
            && !names.iter().any(|name| name.starts_with("archive/")));
    }
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&start);
    Ok(text.trim_ascii_start().starts_with(b"{") || path.extension() == Some("har"))
}

fn add_har(
    path: &Utf8Path,
    recording: &Recording,
    pages: &mut Vec<Page>,
    folder: &Utf8Path,
) -> Result<InputReport, Error> {
    let mut report = InputReport { path: path.to_owned(), format: "har", ..InputReport::default() };
    let mut documents: HashMap<String, Page> = HashMap::new();
    // The log may be a small file that unpacks to a large one.
    let mut watch = Watch::new(folder.to_owned());
    let log = har::read_file(path, har::Limits::default(), |entry| {
        report.read += 1;
        for note in &entry.notes {
            *report.notes.entry(note.kind().to_owned()).or_default() += 1;
        }
        if let Some(why) = refusal(&entry) {
            report.skip(why, 1);
            return Ok(());
        }
        let mut exchange = entry.exchange;
        // A page that has nothing in its cache needs the body under status 200.
        if entry.notes.contains(&Note::BodyFromCache) {
            exchange.response.status = 200;
            exchange.response.reason = "OK".to_owned();
        }
        if let Some(id) = entry.page.as_ref().filter(|_| is_document(&exchange))
            && documents.len() < har::MOST_PAGES
        {
            let page =
                || Page { id: Some(id.clone()), ..Page::new(&exchange.url, exchange.started) };
            documents.entry(id.clone()).or_insert_with(page);
        }
        let bodies = exchange.request.body.len().saturating_add(exchange.response.body.len());
        watch.before(bodies).map_err(|full| Error::io("import", path, full))?;
        exchange.page = entry.page;
        match entry.frames {
            Some(frames) => recording.append_websocket(&exchange, &frames)?,
            None => recording.append(&exchange)?,
        }
        report.kept += 1;
        Ok::<(), Error>(())
    })?;
    report.skip(SkipReason::Unusable, log.unusable);
    report.read += log.unusable;
    report.unusable =
        log.named.iter().map(|(number, why)| format!("entry {number}: {why}")).collect();
    let listed = log.pages.into_iter().filter_map(|listed| {
        let page = documents.remove(&listed.id)?;
        Some(Page { title: listed.title.filter(|title| *title != page.url), ..page })
    });
    join_pages(pages, listed.collect());
    Ok(report)
}

/// Why a HAR (the first, if several) has nothing to replay; `None` if one of them has.
fn without_bodies(reports: &[InputReport]) -> Option<Error> {
    let first = reports.first().filter(|_| reports.iter().all(|report| report.kept == 0))?;
    let missing = first.skipped.get(&SkipReason::BodyMissing).copied().unwrap_or_default();
    let reason = match missing {
        0 => "they got no answer, or are no requests of the web".to_owned(),
        missing => format!(
            "{missing} of them lack the body; save the HAR with content (in Chromium: \"Export HAR with content\")"
        ),
    };
    Some(Error::NothingToReplay { path: first.path.clone(), entries: first.read, reason })
}

/// Whether a browser displayed it as a page. The first one is the page of a HAR, whatever comes
/// before it.
fn is_document(exchange: &Exchange) -> bool {
    let headers = &exchange.response.headers;
    let media = headers.get_str("content-type").unwrap_or_default().trim().to_ascii_lowercase();
    exchange.request.method == "GET"
        && exchange.response.status == 200
        && (media.starts_with("text/html") || media.starts_with("application/xhtml"))
}

fn refusal(entry: &har::Entry) -> Option<SkipReason> {
    let scheme = entry.exchange.url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https" | "ws" | "wss") {
        return Some(SkipReason::NotHttp);
    }
    entry.notes.iter().find_map(|note| match note {
        Note::NoResponse { .. } => Some(SkipReason::NoResponse),
        Note::BodyMissing | Note::RequestBodyMissing => Some(SkipReason::BodyMissing),
        _ => None,
    })
}
