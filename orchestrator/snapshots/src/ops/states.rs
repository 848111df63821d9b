//! What was done on each site of a snapshot, and what changed.

use serde::Serialize;

use super::{compare_texts, text_of};
use crate::Timestamp;
use crate::index::{ChangedAddress, IndexError, ReplaySet, SiteHistory, Visit, site_of};

/// The sites with writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatesReport {
    /// The sites.
    pub sites: Vec<SiteReport>,
}

/// What was done on one site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SiteReport {
    /// Its name.
    pub site: String,
    /// Each recording of it that has writes.
    pub visits: Vec<VisitReport>,
    /// Requests that were sent like writes, and of which the recording shows that they only ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<String>,
}

/// What one recording of a site has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VisitReport {
    /// In their order.
    pub writes: Vec<WriteReport>,
    /// Pairs of equal states, each by how many of the writes were made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<(usize, usize)>,
}

/// A request that may have changed the site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WriteReport {
    /// Method and address.
    pub request: String,
    /// When it was sent.
    pub at: Timestamp,
    /// Why it counts as a write.
    pub because: String,
    /// The addresses that were captured before and after it, with another content after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangeReport>,
}

/// What was another document after a write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeReport {
    /// The address.
    pub url: String,
    /// What its text had before, marked `-`, and what it has after, marked `+`; the first of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}

/// The longest document that is compared, in bytes.
const LONGEST: u64 = 4 << 20;
/// How many lines of a difference are printed.
const LINES: usize = 4;
/// How many letters of each.
const LETTERS: usize = 100;

/// What was done on each site, and what changed.
///
/// # Errors
/// When the index cannot be read.
pub fn states(set: &ReplaySet) -> Result<StatesReport, IndexError> {
    let mut names: Vec<String> = set.hosts()?.iter().map(|host| site_of(host)).collect();
    names.sort();
    names.dedup();
    let mut sites = Vec::new();
    for site in names {
        let history = set.history(&site)?;
        let queries = history.queries().to_vec();
        if !history.is_empty() || !queries.is_empty() {
            let visits = history.visits().iter().filter(|visit| !visit.writes().is_empty());
            sites.push(SiteReport {
                site,
                visits: visits.map(|visit| visited(set, &history, visit)).collect(),
                queries,
            });
        }
    }
    Ok(StatesReport { sites })
}

fn visited(set: &ReplaySet, history: &SiteHistory, visit: &Visit) -> VisitReport {
    let each = visit.writes().iter().zip(visit.times()).zip(visit.changed());
    let writes = each.filter_map(|((number, at), changed)| {
        let write = history.writes().get(*number as usize)?;
        Some(WriteReport {
            request: history.name_of(*number)?,
            at: Timestamp::from_millis(at as i64),
            because: write.effect.to_string(),
            changed: changed.iter().map(|changed| change(set, changed)).collect(),
        })
    });
    VisitReport { writes: writes.collect(), equal: visit.equal().to_vec() }
}

/// What a write changed at an address. A document that cannot be read shows nothing.
fn change(set: &ReplaySet, changed: &ChangedAddress) -> ChangeReport {
    let text = |hit| Some(text_of(&set.document(hit, LONGEST).ok()??));
    let difference = text(changed.before).zip(text(changed.after));
    let difference = difference.map(|(before, after)| compare_texts(&before, &after));
    let lines = difference.map(|difference| difference.sample).unwrap_or_default();
    let short = |line: String| line.chars().take(LETTERS).collect();
    ChangeReport {
        url: changed.url.clone(),
        text: lines.into_iter().take(LINES).map(short).collect(),
    }
}
