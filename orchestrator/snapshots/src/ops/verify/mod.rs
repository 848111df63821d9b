//! `verify`: checks everything in a snapshot that can be checked without a network.
//!
//! There are three passes: the container against its description ([`container`]), every record on
//! its own and against the others ([`records`]), and every index line against its record
//! ([`index`]). Every flaw becomes a [`Finding`], and reading continues as far as possible. A plain
//! WARC or ARC has only the second pass.

mod container;
mod index;
mod records;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::signature::{self, Signature};
use super::{Error, OnProgress};
use crate::Archive;

/// The maximum number of listed findings; the counts continue.
const FINDINGS: usize = 1000;

/// The result of verification.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    /// The file.
    pub path: Utf8PathBuf,
    /// Whether no error was found. Warnings do not count.
    pub valid: bool,
    /// Errors found.
    pub errors: u64,
    /// Warnings found.
    pub warnings: u64,
    /// How often each flaw was found.
    pub flaws: BTreeMap<Flaw, u64>,
    /// The findings, the first thousand.
    pub findings: Vec<Finding>,
    /// Records read.
    pub records: u64,
    /// Lines of the index read.
    pub index_lines: u64,
    /// Files in the container whose digest was checked.
    pub files: u64,
    /// The signature; `None` for a plain file.
    pub signature: Option<Signature>,
}

/// One flaw at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub flaw: Flaw,
    /// The place: a file of the container, with offset or line.
    pub place: String,
    /// What was expected and what was found.
    pub detail: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The snapshot is not valid.
    Error,
    /// The snapshot is still valid.
    Warning,
}

/// The kinds of flaws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flaw {
    /// `datapackage.json` is missing, is not JSON, or lacks mandatory fields.
    Description,
    /// `datapackage-digest.json` is missing or wrong.
    DescriptionDigest,
    /// The signature does not match this package.
    Signature,
    /// A file is in the container but not in the description.
    NotListed,
    /// A file is in the description but not in the container.
    Missing,
    /// A file is listed or contained twice.
    Twice,
    /// The size of a file differs from the description.
    FileSize,
    /// The digest of a file differs from the description.
    FileDigest,
    /// A file that must be stored uncompressed is deflated.
    Deflated,
    /// A page list is missing or invalid.
    Pages,
    /// A page is not among the captured URLs.
    PageNotCaptured,
    /// The index is missing or unreadable.
    Index,
    /// The index lines are not sorted.
    IndexOrder,
    /// A block of the compressed index differs from its list in position or content.
    IndexBlock,
    /// An index line refers to no record.
    IndexTarget,
    /// An index line differs from its record.
    IndexValue,
    /// A response is not in the index.
    NotIndexed,
    /// A record cannot be read.
    Damaged,
    /// A mandatory field of a record is missing or wrong.
    Field,
    /// Two records have the same id.
    RecordId,
    /// The block digest of a record does not match its block.
    BlockDigest,
    /// The payload digest of a record does not match its payload.
    PayloadDigest,
    /// The algorithm of a digest is unknown.
    UnknownDigest,
    /// The block of a record should be an HTTP message but is not.
    Http,
    /// A response has no request.
    NoRequest,
    /// The payload of a revisit is not in the snapshot.
    Unresolved,
}

/// Collects findings.
#[derive(Debug)]
struct Findings {
    report: Verification,
}

impl Findings {
    fn error(&mut self, flaw: Flaw, place: impl Into<String>, detail: impl Into<String>) {
        self.report.errors += 1;
        self.add(Severity::Error, flaw, place.into(), detail.into());
    }

    fn warning(&mut self, flaw: Flaw, place: impl Into<String>, detail: impl Into<String>) {
        self.report.warnings += 1;
        self.add(Severity::Warning, flaw, place.into(), detail.into());
    }

    fn add(&mut self, severity: Severity, flaw: Flaw, place: String, detail: String) {
        *self.report.flaws.entry(flaw).or_default() += 1;
        if self.report.findings.len() < FINDINGS {
            self.report.findings.push(Finding { severity, flaw, place, detail });
        }
    }
}

/// Verifies the snapshot at `path`.
///
/// # Errors
/// The file is not a snapshot that can be opened. All flaws of one that can are in the report.
pub fn verify(path: &Utf8Path, progress: OnProgress<'_>) -> Result<Verification, Error> {
    let mut findings = Findings {
        report: Verification {
            path: path.to_owned(),
            valid: false,
            errors: 0,
            warnings: 0,
            flaws: BTreeMap::new(),
            findings: Vec::new(),
            records: 0,
            index_lines: 0,
            files: 0,
            signature: None,
        },
    };
    check(&Archive::open(path)?, &mut findings, progress)?;
    let mut report = findings.report;
    report.valid = report.errors == 0;
    Ok(report)
}

fn check(
    archive: &Archive,
    findings: &mut Findings,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    if let Some(package) = archive.package() {
        findings.report.signature = Some(signature::of(package));
        container::check(package, findings)?;
    }
    let mut seen = records::check(archive, findings, progress)?;
    if let Some(package) = archive.package() {
        let captured = index::check(archive, package, &mut seen, findings)?;
        pages(archive, &captured, findings);
    }
    Ok(())
}

/// Checks that every page is among the captured URLs. An unreadable line is skipped.
fn pages(archive: &Archive, captured: &index::IndexedUrls, findings: &mut Findings) {
    for page in archive.page_lines() {
        match page {
            Ok(page) if captured.has(&page.url) => {}
            Ok(page) => findings.error(
                Flaw::PageNotCaptured,
                "pages",
                format!("{} is in no line of the index", page.url),
            ),
            Err(error) => findings.warning(Flaw::Pages, "pages", error.to_string()),
        }
    }
}
