//! `verify`: whether a snapshot is what it claims to be, in every respect that can be checked
//! without a network.
//!
//! Three passes: the container against its description ([`container`]), every record in itself and
//! against the others ([`records`]), and every line of the index against the record it names
//! ([`index`]). Whatever does not hold is a [`Finding`]; reading goes on as far as it can. A plain
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

/// Longest list of findings that a report carries; the counts go on.
const FINDINGS: usize = 1000;

/// The result of verification.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    /// The file.
    pub path: Utf8PathBuf,
    /// Whether no error was found; warnings do not count.
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

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub flaw: Flaw,
    /// Where: a file of the container, with offset or line.
    pub place: String,
    /// What was expected and what is there.
    pub detail: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The snapshot is not valid.
    Error,
    /// Worth knowing; the snapshot is valid all the same.
    Warning,
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flaw {
    /// `datapackage.json` is absent, is no JSON, or lacks what it must have.
    Description,
    /// `datapackage-digest.json` is absent or wrong.
    DescriptionDigest,
    /// The signature is not one for this package.
    Signature,
    /// A file is in the container and not in the description.
    NotListed,
    /// A file is in the description and not in the container.
    Missing,
    /// A file is listed or contained twice.
    Twice,
    /// A file has another size than the description says.
    FileSize,
    /// A file has another digest than the description says.
    FileDigest,
    /// A file that must be stored as it is is deflated.
    Deflated,
    /// A page list is absent or broken.
    Pages,
    /// A page is not among the captured URLs.
    PageNotCaptured,
    /// There is no index, or it cannot be read.
    Index,
    /// The lines of the index are not in order.
    IndexOrder,
    /// A block of the compressed index is not where or what its list says.
    IndexBlock,
    /// A line of the index names no record.
    IndexTarget,
    /// A line of the index differs from the record it names.
    IndexValue,
    /// A response is not in the index.
    NotIndexed,
    /// A record cannot be read.
    Damaged,
    /// A record lacks a field that it must have, or has a wrong one.
    Field,
    /// Two records have the same id.
    RecordId,
    /// The block digest of a record is not that of its block.
    BlockDigest,
    /// The payload digest of a record is not that of its payload.
    PayloadDigest,
    /// A digest is of an unknown kind.
    UnknownDigest,
    /// The block of a record is no HTTP message although it should be.
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
/// If it is no snapshot that can be opened; whatever is wrong with one that can is in the report.
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

fn check(archive: &Archive, findings: &mut Findings, progress: OnProgress<'_>) -> Result<(), Error> {
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

/// Every page must be among the captured URLs. A line that cannot be read costs its page.
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
