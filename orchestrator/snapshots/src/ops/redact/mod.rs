//! `redact`: removes named headers, cookies and fields, and given values, from a snapshot.
//!
//! There are two passes. The first collects the values under the given names. The second writes a
//! new snapshot in which each value is replaced by a placeholder, wherever it occurs (URLs,
//! headers, bodies, frames, page texts) and in any spelling. Equal values get equal placeholders,
//! so that requests that contained them still match.
//!
//! Values are found in decoded bodies. A body that had to be changed is written without content
//! coding. A value that occurs only inside another encoding (base64 of a longer text, an image) is
//! not found.

mod fields;
mod hidden;
mod json;
mod literals;
mod message;
mod state;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
pub(in crate::ops) use hidden::is_placeholder;
pub use literals::URI_COMPONENT;
use literals::{LEAST, LEAST_FOUND, Literals};
pub(in crate::ops) use message::Cleaner;
use serde::Serialize;

use super::exchanges::{budget_of, damaged};
use super::snapshot::{NewSnapshot, describe};
use super::stage::{Stage, StagedRecord, survey};
use super::{Error, OnProgress};
use crate::budget::Budget;
use crate::{Archive, BrowserState, Page, RecordKind, Timestamp, content};

/// What to remove.
#[derive(Clone, Default)]
pub struct Redaction {
    /// The key for the placeholders. The same key gives the same placeholders in another snapshot.
    pub key: Vec<u8>,
    /// Headers of requests and responses whose whole values are removed.
    pub headers: Vec<String>,
    /// Cookies, in `Cookie` and `Set-Cookie`.
    pub cookies: Vec<String>,
    /// Fields of queries, fragments, forms and JSON, also of JSON within its strings.
    pub fields: Vec<String>,
    /// Whether to also remove authorization headers, all cookies, and fields with names of
    /// passwords and tokens; see [`super::Credentials`].
    pub credentials: bool,
    /// Values of at least four bytes.
    pub values: Vec<String>,
}

impl std::fmt::Debug for Redaction {
    /// Shows names, never the key or the values.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = out.debug_struct("Redaction");
        out.field("headers", &self.headers)
            .field("cookies", &self.cookies)
            .field("fields", &self.fields);
        out.field("credentials", &self.credentials);
        out.finish_non_exhaustive()
    }
}

/// The result of a redaction.
#[derive(Debug, Clone, Serialize)]
pub struct RedactionReport {
    /// The new snapshot.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// `sha256:<hex>` of its description, which identifies its content.
    pub digest: String,
    /// How many different values were searched for: the given ones, and those found under the given
    /// names.
    pub values: u64,
    /// The number of replacements.
    pub replaced: u64,
    /// Records in which something was replaced.
    pub records_changed: u64,
    /// The total number of records.
    pub records: u64,
    /// Pages in which something was replaced.
    pub pages_changed: u64,
    /// Whether something was replaced in the browser state.
    pub state_changed: bool,
}

/// Writes a copy of `input` to `out` with everything in `what` redacted.
///
/// # Errors
/// `out` exists, the input cannot be read or is damaged, a given value is too short, or the result
/// still contains a value ([`Error::StillThere`]; the result is not kept).
pub fn redact(
    input: &Utf8Path,
    out: &Utf8Path,
    what: &Redaction,
    progress: OnProgress<'_>,
) -> Result<RedactionReport, Error> {
    if let Some(index) = what.values.iter().position(|value| value.len() < LEAST) {
        return Err(Error::ShortSecret { name: format!("value {}", index + 1), least: LEAST });
    }
    let archives = [Archive::open(input)?];
    let mut snapshot = NewSnapshot::create(out, describe(None, None, &archives))?;
    let mut cleaner = Cleaner::new(what);
    let pages = archives[0].pages();
    // A secret that a rule finds in one place also stands where no rule would look.
    let found = collect(&archives[0], &cleaner, &pages)?;
    let given = what.values.iter().map(|value| value.clone().into_bytes());
    // A short one, such as `1`, would be replaced all over the pages.
    let long = found.iter().filter(|value| value.len() >= LEAST_FOUND).cloned();
    let values_to_find: BTreeSet<Vec<u8>> = given.chain(long).collect();
    cleaner.literals = Literals::new(&what.key, &values_to_find);

    let mut report = RedactionReport {
        path: out.to_owned(),
        bytes: 0,
        digest: String::new(),
        values: found.union(&values_to_find).count() as u64,
        replaced: 0,
        records_changed: 0,
        records: 0,
        pages_changed: 0,
        state_changed: false,
    };
    copy(&archives, &cleaner, &mut snapshot, &mut report, progress)?;
    let holds_secret = |url: &str| cleaner.page(Page::new(url, Timestamp::from_millis(0))).1 > 0;
    let description = snapshot.description();
    description.main_page.take_if(|(url, _)| holds_secret(url));
    for text in [&mut description.title, &mut description.description].into_iter().flatten() {
        *text = cleaner.shown(text, &mut report.replaced);
    }
    description.rules.retain(|url| !holds_secret(url));
    for page in pages {
        let (page, count) = cleaner.page(page);
        report.replaced += count;
        report.pages_changed += u64::from(count > 0);
        snapshot.page(&page)?;
    }
    let (state, count) = cleaner.state(BrowserState::of(&archives[0]));
    report.replaced += count;
    report.state_changed = count > 0;
    snapshot.set_browser_state(state);
    let made = snapshot.finish(|staged| check(staged, out, &cleaner, budget_of(&archives[0])))?;
    report.bytes = made.bytes;
    report.digest = made.digest;
    Ok(report)
}

/// Collects the values under the given names, from all messages and pages.
fn collect(
    archive: &Archive,
    cleaner: &Cleaner,
    pages: &[Page],
) -> Result<BTreeSet<Vec<u8>>, Error> {
    let (mut found, mut budget) = (BTreeSet::new(), budget_of(archive));
    for item in archive.records() {
        let (_, mut record) = item.map_err(|error| damaged(archive, error))?;
        if let Some(url) = record.target_uri() {
            cleaner.find_in_url(url.as_bytes(), &mut found);
        }
        let (kind, http) = (record.kind(), record.holds_http());
        if !matches!(
            kind,
            RecordKind::Request | RecordKind::Response | RecordKind::Revisit | RecordKind::Resource
        ) {
            continue;
        }
        let block = content::block(&mut record, &mut budget)?;
        cleaner.find_in_block(kind, http, &block, &mut found)?;
    }
    for page in pages {
        cleaner.find_in_url(page.url.as_bytes(), &mut found);
    }
    cleaner.find_in_state(&BrowserState::of(archive), &mut found);
    Ok(found)
}

fn copy(
    archives: &[Archive; 1],
    cleaner: &Cleaner,
    snapshot: &mut NewSnapshot,
    report: &mut RedactionReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let survey = survey(archives);
    let mut stage = Stage::new(archives, &survey, snapshot);
    let mut refuse = |error| Err(damaged(&archives[0], error));
    let mut clean = |taken| {
        let (taken, count) = cleaner.record(taken)?;
        report.replaced += count;
        report.records_changed += u64::from(count > 0);
        Ok(taken)
    };
    stage.copy(0, 0, progress, &mut refuse, &mut clean)?;
    report.records = stage.counts.records;
    Ok(())
}

/// Redacts the result again: there must be nothing left to replace. Its bodies are those of the
/// input, so they have the budget of the input.
fn check(
    staged: &Utf8Path,
    out: &Utf8Path,
    cleaner: &Cleaner,
    mut budget: Budget,
) -> Result<(), Error> {
    let archive = Archive::open(staged)?;
    let (mut left, mut first) = (0, None);
    for item in archive.records() {
        let (at, mut record) = item.map_err(|error| damaged(&archive, error))?;
        let http = record.holds_http();
        let block = content::block(&mut record, &mut budget)?;
        let taken = StagedRecord { kind: record.kind(), http, headers: record.headers, block };
        let (_, count) = cleaner.record(taken)?;
        left += count;
        if count > 0 {
            first.get_or_insert_with(|| format!("the record at offset {}", at.offset));
        }
    }
    for page in archive.pages() {
        let (_, count) = cleaner.page(page);
        left += count;
        if count > 0 {
            first.get_or_insert_with(|| "a page".to_owned());
        }
    }
    let (_, count) = cleaner.state(BrowserState::of(&archive));
    left += count;
    if count > 0 {
        first.get_or_insert_with(|| "what pages had kept".to_owned());
    }
    match first {
        Some(place) => Err(Error::StillThere { path: out.to_owned(), count: left, place }),
        None => Ok(()),
    }
}
