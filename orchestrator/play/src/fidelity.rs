//! Measures how well a snapshot replays: its documents are visited twice, offline, each time from a
//! pristine browser.
//!
//! Two visits that end in different documents show what the snapshot and the frozen clock do not
//! hold still. A miss of a document, script, style or fetch is a hole. Pictures, fonts and beacons
//! that were missed are named apart, as a page that lacks them still works.

use std::collections::BTreeSet;
use std::time::Duration;

use browser::Device;
use gateway::Entry;
use gateway::replay::ReplayOptions;
use results::analysis::order::OrderDifference;
use serde::Serialize;
use snapshots::Page;
use snapshots::index::ReplaySet;
use tokio_util::sync::CancellationToken;

use crate::environment::EnvironmentError;
use crate::offline_visit::{Visit, Visitor, absence, is_web, was_answered};

/// The result of visiting the documents of a snapshot twice.
#[derive(Debug, Default, Serialize)]
pub struct Fidelity {
    /// One entry a page, in the order of visits.
    pub pages: Vec<PageFidelity>,
    /// Documents that were not visited, because there are more than the limit.
    pub left_out: Vec<String>,
    /// Whether it ended before all pages were visited.
    pub interrupted: bool,
}

/// The result of two visits to one page.
#[derive(Debug, Serialize)]
pub struct PageFidelity {
    /// The page.
    pub url: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason why it is not shown, or why a visit did not settle.
    pub why: Option<String>,
    /// Digest of the document after each visit.
    pub digests: Vec<String>,
    /// The first difference in the order of events of two more visits, if the documents were
    /// different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderDifference>,
    /// Requests that were answered, over both visits.
    pub answered: u64,
    /// The requests that were missed and leave a hole, each once: `KIND METHOD URL`.
    pub holes: BTreeSet<String>,
    /// The requests that were missed and leave no hole: pictures, fonts, media, beacons and pings.
    pub beside: BTreeSet<String>,
}

/// The verdict on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its document and all that it needs were answered, twice the same.
    Shown,
    /// The same, but documents, scripts, styles or fetches were missed.
    ShownWithHoles,
    /// The document itself was missed.
    NotShown,
    /// Two visits ended in different documents.
    Different,
}

impl Fidelity {
    /// Whether every page is shown, and the same twice.
    pub fn holds(&self) -> bool {
        !self.pages.is_empty() && self.pages.iter().all(|page| page.verdict == Verdict::Shown)
    }

    /// Pages of one verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pages.iter().filter(|page| page.verdict == verdict).count()
    }
}

/// Visits each page twice. `on` receives the page that is next and how many are done.
///
/// # Errors
/// When the gateway or the browser cannot be started, or the browser is gone.
pub async fn check(
    set: ReplaySet,
    options: ReplayOptions,
    pages: &[Page],
    settle_within: Duration,
    cancel: &CancellationToken,
    on: &dyn Fn(&Page, usize),
) -> Result<Fidelity, EnvironmentError> {
    let mut visitor = Visitor::open(set, options, Device::default(), settle_within).await?;
    let mut fidelity = Fidelity::default();
    for (done, page) in pages.iter().enumerate() {
        on(page, done);
        let visits = visit_twice(&mut visitor, page, cancel).await?;
        if cancel.is_cancelled() {
            fidelity.interrupted = true;
            break;
        }
        let mut judged = judged(page, visits);
        // The order of events takes a browser of its own, so only pages that differ pay for it.
        if judged.verdict == Verdict::Different {
            visitor.keep_order(true);
            let visits = visit_twice(&mut visitor, page, cancel).await?;
            visitor.keep_order(false);
            if let [one, other] = &visits[..] {
                judged.order = OrderDifference::between(&one.order, &other.order);
            }
        }
        fidelity.pages.push(judged);
    }
    visitor.leave().await.map_err(EnvironmentError::while_doing("close the browser"))?;
    Ok(fidelity)
}

/// Visits a page twice, or never if a browser cannot show it.
async fn visit_twice(
    visitor: &mut Visitor,
    page: &Page,
    cancel: &CancellationToken,
) -> Result<Vec<Visit>, EnvironmentError> {
    let mut visits = Vec::new();
    if is_web(&page.url) {
        for _ in 0..2 {
            if !cancel.is_cancelled() {
                let visit = visitor.visit(page).await;
                visits.push(visit.map_err(EnvironmentError::while_doing("visit a page"))?);
            }
        }
    }
    Ok(visits)
}

fn judged(page: &Page, visits: Vec<Visit>) -> PageFidelity {
    let (mut holes, mut beside, mut answered) = (BTreeSet::new(), BTreeSet::new(), 0);
    let not_shown = match is_web(&page.url) {
        true => visits.iter().find_map(absence),
        false => Some("a browser shows pages of http: and https: only".to_owned()),
    };
    for entry in visits.iter().flat_map(|visit| &visit.entries) {
        if was_answered(entry) {
            answered += 1;
            continue;
        }
        let kind = kind_of(entry);
        let line = format!("{kind} {} {}", entry.method, entry.url);
        match kind {
            "document" | "frame" | "script" | "style" | "fetch" => holes.insert(line),
            _ => beside.insert(line),
        };
    }
    let same = visits.iter().all(|visit| visit.digest == visits[0].digest);
    let verdict = match (&not_shown, same) {
        (Some(_), _) => Verdict::NotShown,
        (None, false) => Verdict::Different,
        (None, true) if holes.is_empty() => Verdict::Shown,
        (None, true) => Verdict::ShownWithHoles,
    };
    let unsettled = visits.iter().find_map(|visit| visit.unsettled.clone());
    PageFidelity {
        url: page.url.clone(),
        verdict,
        why: not_shown.or(unsettled),
        order: None,
        digests: visits.into_iter().map(|visit| visit.digest).collect(),
        answered,
        holes,
        beside,
    }
}

/// Returns the kind of a request. Browsers do not send it over http, where the file's extension has
/// to do.
fn kind_of(entry: &Entry) -> &str {
    let path = entry.url.split(['?', '#']).next().unwrap_or_default();
    match entry.destination.as_deref() {
        Some("document") => "document",
        Some("iframe" | "frame" | "object" | "embed") => "frame",
        Some(
            "script" | "worker" | "sharedworker" | "serviceworker" | "audioworklet"
            | "paintworklet",
        ) => "script",
        Some("style" | "xslt") => "style",
        Some("empty" | "websocket" | "json") => "fetch",
        Some(other) => other,
        None if path.ends_with(".js") || path.ends_with(".mjs") => "script",
        None if path.ends_with(".css") => "style",
        None => "fetch",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use gateway::Answer;

    use super::*;

    fn entry(url: &str, destination: &str, answer: Answer) -> Entry {
        let status = if matches!(answer, Answer::Exact) { 200 } else { 404 };
        let (method, destination) = ("GET".to_owned(), Some(destination.to_owned()));
        Entry {
            seq: 0,
            method,
            url: url.to_owned(),
            status,
            answer,
            bytes: 9,
            destination,
            took_ms: None,
            capture: None,
        }
    }

    fn miss() -> Answer {
        Answer::Miss { near: Vec::new() }
    }

    const URL: &str = "https://a.test/";

    fn verdict(digests: [&str; 2], entries: &[Entry]) -> PageFidelity {
        let page = Page::new(URL, snapshots::Timestamp::from_millis(0));
        let visit = |digest: &str| Visit {
            digest: digest.to_owned(),
            address: format!("{URL}#top"),
            entries: entries.to_vec(),
            unsettled: None,
            order: Vec::new(),
        };
        judged(&page, digests.into_iter().map(visit).collect())
    }

    #[test]
    fn a_page_is_shown_only_with_its_document_and_all_that_it_needs() {
        let document = entry(URL, "document", Answer::Exact);
        let image = entry("https://a.test/i.png", "image", miss());
        let beacon = entry("https://a.test/ping", "beacon", miss());
        let shown = verdict(["1", "1"], &[document.clone(), image, beacon]);
        assert_eq!((shown.verdict, shown.beside.len()), (Verdict::Shown, 2));
        for kind in ["script", "style", "empty", "iframe"] {
            let hole = entry("https://a.test/x", kind, miss());
            assert_eq!(
                verdict(["1", "1"], &[document.clone(), hole]).verdict,
                Verdict::ShownWithHoles
            );
        }
        assert_eq!(
            verdict(["1", "2"], std::slice::from_ref(&document)).verdict,
            Verdict::Different
        );
        assert_eq!(
            verdict(["1", "1"], &[entry(URL, "document", miss())]).verdict,
            Verdict::NotShown
        );
        let empty = Entry { bytes: 0, ..document };
        let empty = verdict(["1", "1"], &[empty]);
        assert_eq!(empty.verdict, Verdict::NotShown);
        assert!(empty.why.unwrap().contains("without a body"));
    }

    #[test]
    fn what_is_no_address_of_the_web_is_not_shown() {
        let page = Page::new("file:///home/me/x.html", snapshots::Timestamp::from_millis(0));
        assert_eq!(judged(&page, Vec::new()).verdict, Verdict::NotShown);
    }

    #[test]
    fn nothing_is_no_success() {
        assert!(!Fidelity::default().holds());
    }
}
