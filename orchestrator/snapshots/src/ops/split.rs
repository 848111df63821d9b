//! `split`: makes many WACZ files of one snapshot, and a collection that lists them.

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::collection::{CollectionReport, list, write};
use super::exchanges::damaged;
use super::import::{MOST_STRAY, join_pages};
use super::output::Output;
use super::pages::choose;
use super::snapshot::{NewSnapshot, describe};
use super::stage::{Stage, Survey, survey};
use super::{Error, OnProgress};
use crate::collection::{Collection, MOST_MEMBERS, PROFILE};
use crate::index::host_of;
use crate::recording::SOFTWARE;
use crate::wacz::{Description, WACZ_VERSION};
use crate::{Archive, Damage, Page, Progress, Record, RecordKind, RecordRef, Timestamp};

/// The name of the collection in its folder, as Data Packages have it.
pub const COLLECTION_NAME: &str = "datapackage.json";
/// The name of the file for what has no host.
const OTHER: &str = "other";
/// The maximum length of a file name, without its ending.
const MAX_NAME: usize = 120;

/// What decides to which file a record belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitBy {
    /// The host of its URL.
    #[default]
    Host,
    /// The day of its date, in UTC.
    Date,
}

/// The result of a split.
#[derive(Debug, Clone, Serialize)]
pub struct SplitReport {
    /// The folder with the files.
    pub path: Utf8PathBuf,
    /// The collection in it.
    pub collection: CollectionReport,
    /// Revisits whose payload is not in the snapshot.
    pub unresolved_revisits: u64,
    /// Records whose block does not match its digest in the snapshot.
    pub wrong_digests: u64,
}

/// A file to write.
#[derive(Debug, Default)]
struct Part {
    name: String,
    /// Its records, but for requests, which follow their responses.
    records: Vec<RecordRef>,
    pages: Vec<Page>,
}

/// The parts, in the order in which they were found.
#[derive(Debug, Default)]
struct Parts {
    parts: Vec<Part>,
    by_key: HashMap<String, usize>,
    names: HashSet<String>,
}

/// Splits the snapshot at `input` into WACZ files in the new folder `out`, and lists them in the
/// collection `datapackage.json` there. Merged again, they give the same captures and pages.
///
/// Every file has the rules and the browser state of the whole, and stands on its own: the payload
/// of a revisit is in the same file.
///
/// # Errors
/// `out` exists, or the input cannot be read or is damaged.
pub fn split(
    input: &Utf8Path,
    out: &Utf8Path,
    by: SplitBy,
    progress: OnProgress<'_>,
) -> Result<SplitReport, Error> {
    let archives = [Archive::open(input)?];
    let archive = &archives[0];
    let output = Output::create(out)?;
    std::fs::create_dir(output.path())
        .map_err(|source| Error::io("create", output.path(), source))?;
    let survey = survey(&archives);
    let mut whole = describe(None, None, &archives);
    let mut parts = Parts::default();
    // The file with the main page is the first, so that merging finds that page.
    if let Some((url, date)) = &whole.main_page {
        parts.part(&key(by, url, *date));
    }
    let info = parts.assign(archive, &survey, by)?;
    let paged = archive.listed_pages().next().is_some();
    for page in archive.listed_pages() {
        let part = parts.part(&key(by, &page.url, page.ts));
        parts.parts[part].pages.push(page);
    }
    for part in &mut parts.parts {
        let listed = std::mem::take(&mut part.pages);
        join_pages(&mut part.pages, listed);
    }
    parts.parts.retain(|part| !part.records.is_empty() || !part.pages.is_empty());
    match parts.parts.len() {
        0 => return Err(Error::Nothing { action: "split", path: input.to_owned() }),
        count if count > MOST_MEMBERS => {
            return Err(Error::TooManyParts { path: input.to_owned(), count, most: MOST_MEMBERS });
        }
        _ => {}
    }
    let main_page = whole.main_page.take();
    let mut done = SplitProgress { bytes: 0, total: survey.total, unresolved: 0, wrong_digests: 0 };
    let mut files = Vec::with_capacity(parts.parts.len());
    for (number, part) in parts.parts.into_iter().enumerate() {
        let file = output.path().join(format!("{}.wacz", part.name));
        let main_page = main_page.clone().filter(|_| number == 0);
        let description = Description { main_page, ..whole.clone() };
        let records = info.iter().chain(&part.records);
        let mut snapshot = NewSnapshot::create(&file, description)?;
        let pages = copy(&archives, &survey, &mut snapshot, records, &mut done, progress)?;
        let pages = if paged { part.pages } else { pages };
        pages.iter().try_for_each(|page| snapshot.page(page))?;
        snapshot.finish(|_| Ok(()))?;
        files.push(file);
    }
    let path = output.path().join(COLLECTION_NAME);
    let collection = Collection {
        profile: PROFILE.to_owned(),
        resources: list(&files, output.path(), &path, &mut |_| ())?,
        title: whole.title,
        description: whole.description,
        created: Some(Timestamp::now().to_seconds().to_string()),
        software: Some(SOFTWARE.to_owned()),
        wacz_version: Some(WACZ_VERSION.to_owned()),
    };
    let mut report = write(&collection, &path, Output::create(&path)?)?;
    output.keep()?;
    report.path = out.join(COLLECTION_NAME);
    Ok(SplitReport {
        path: out.to_owned(),
        collection: report,
        unresolved_revisits: done.unresolved,
        wrong_digests: done.wrong_digests,
    })
}

/// What is done of the whole.
struct SplitProgress {
    bytes: u64,
    total: u64,
    unresolved: u64,
    wrong_digests: u64,
}

/// Copies records into one file. Returns the pages that are found in them.
fn copy<'a>(
    archives: &[Archive],
    survey: &Survey,
    snapshot: &mut NewSnapshot,
    records: impl Iterator<Item = &'a RecordRef>,
    done: &mut SplitProgress,
    progress: OnProgress<'_>,
) -> Result<Vec<Page>, Error> {
    let mut stage = Stage::new(archives, survey, snapshot);
    let mut refuse = |error| Err(damaged(&archives[0], error));
    for at in records {
        match archives[0].read_at(*at) {
            Ok(record) => stage.copy_record((0, *at), record, &mut refuse, &mut Ok)?,
            Err(error) => refuse(error)?,
        }
        done.bytes = (done.bytes + at.length).min(done.total);
        progress(Progress { done: done.bytes, total: done.total });
    }
    done.unresolved += stage.counts.unresolved;
    done.wrong_digests += stage.counts.wrong_digests;
    Ok(choose(std::mem::take(&mut stage.candidates)))
}

impl Parts {
    /// The number of the part for this host or day.
    fn part(&mut self, key: &str) -> usize {
        if let Some(number) = self.by_key.get(key) {
            return *number;
        }
        let name = self.free_name(key);
        self.parts.push(Part { name, ..Part::default() });
        self.by_key.insert(key.to_owned(), self.parts.len() - 1);
        self.parts.len() - 1
    }

    /// A file name that is not used yet.
    fn free_name(&mut self, key: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
        let name: String = key.chars().take(MAX_NAME).map(plain).collect();
        let name = if name.starts_with('.') { format!("_{name}") } else { name };
        let mut free = name.clone();
        let mut number = 2;
        while !self.names.insert(free.to_ascii_lowercase()) {
            free = format!("{name}-{number}");
            number += 1;
        }
        free
    }

    /// Assigns every record to a part. Returns those that belong to every part.
    fn assign(
        &mut self,
        archive: &Archive,
        survey: &Survey,
        by: SplitBy,
    ) -> Result<Vec<RecordRef>, Error> {
        let mut info = Vec::new();
        for item in archive.records() {
            let (at, record) = match item {
                Ok(found) => found,
                // Missing or superfluous line ends; no record is lost.
                Err(crate::Error::Damaged { damage: Damage::Stray { bytes }, .. })
                    if bytes <= MOST_STRAY =>
                {
                    continue;
                }
                Err(error) => return Err(damaged(archive, error)),
            };
            if record.kind() == RecordKind::Warcinfo {
                info.push(at);
            } else if !survey.is_paired_request(0, at) {
                let part = self.part(&key_of(by, &record));
                self.parts[part].records.push(at);
            }
        }
        Ok(info)
    }
}

fn key_of(by: SplitBy, record: &Record) -> String {
    // A record without a date is not copied, whatever its part.
    let date = record.date().unwrap_or_else(|| Timestamp::from_millis(0));
    key(by, &record.target_uri().unwrap_or_default(), date)
}

/// The host of a URL, or the day of a date.
fn key(by: SplitBy, url: &str, date: Timestamp) -> String {
    match by {
        SplitBy::Date => date.to_string().chars().take(10).collect(),
        SplitBy::Host => {
            // Some records about a page have its URL inside of theirs, as `urn:text:https://...`.
            let page = match url.find("http") {
                Some(at) if url.starts_with("urn:") => &url[at..],
                _ => url,
            };
            host_of(page).unwrap_or_else(|| OTHER.to_owned())
        }
    }
}
