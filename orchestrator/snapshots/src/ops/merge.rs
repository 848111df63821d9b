//! `merge`: combines several snapshots into one. Equal payloads are stored once, page lists are
//! joined.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::collection::open_all;
use super::import::{InputReport, copy};
use super::snapshot::{NewSnapshot, describe};
use super::stage::survey;
use super::{Error, OnProgress};

/// The result of a merge.
#[derive(Debug, Clone, Serialize)]
pub struct MergeReport {
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
    /// Records omitted because an earlier snapshot contains an identical record.
    pub identical: u64,
    /// Revisits whose payload is in none of the snapshots.
    pub unresolved_revisits: u64,
    /// Records whose block does not match the digest in its snapshot.
    pub wrong_digests: u64,
    /// Pages.
    pub pages: u64,
    /// The result for each snapshot.
    pub inputs: Vec<InputReport>,
}

/// Merges `inputs`, which may be collections, into a new snapshot at `out`.
///
/// A record is in the result once, even if several inputs contain it (same id, URL, date and
/// bytes). Captures of one URL at different times are all kept.
///
/// # Errors
/// `out` exists, or an input cannot be read or is damaged.
pub fn merge(
    inputs: &[Utf8PathBuf],
    out: &Utf8Path,
    progress: OnProgress<'_>,
) -> Result<MergeReport, Error> {
    if inputs.is_empty() {
        return Err(Error::NoInput { action: "merge" });
    }
    let archives = open_all(inputs)?;
    let mut snapshot = NewSnapshot::create(out, describe(None, None, &archives))?;
    let survey = survey(&archives);
    let copy = copy(&archives, &survey, &mut snapshot, progress)?;
    for page in &copy.pages {
        snapshot.page(page)?;
    }
    let made = snapshot.finish(|_| Ok(()))?;
    Ok(MergeReport {
        path: out.to_owned(),
        bytes: made.bytes,
        digest: made.digest,
        responses: made.responses,
        revisits: made.revisits,
        identical: copy.counts.identical,
        unresolved_revisits: copy.counts.unresolved,
        wrong_digests: copy.counts.wrong_digests,
        pages: made.pages,
        inputs: copy.reports,
    })
}
