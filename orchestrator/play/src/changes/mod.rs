//! Compares two recordings of the same pages: each page is shown offline from both, and its text
//! and picture are compared.
//!
//! ```text
//! page ── old snapshot ── text, picture ──┐
//!      └─ new snapshot ── text, picture ──┴── same, changed, moved, gone or walled
//! ```
//!
//! Each recording is shown at its own time. Requests that a recording lacks are not counted: a page
//! is what a browser shows of it.

mod junit;
mod pictures;
mod report;

use std::collections::BTreeMap;
use std::time::Duration;

use browser::{Device, ScreenshotOptions};
use camino::{Utf8Path, Utf8PathBuf};
use gateway::replay::ReplayOptions;
pub use junit::write_junit;
pub use pictures::PictureChange;
pub use report::{SuiteChanges, TaskChanges, write_report};
use serde::Serialize;
use snapshots::index::{IndexError, ReplaySet};
use snapshots::ops::{TextDifference, compare_texts};
use snapshots::{Page, Timestamp};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::environment::EnvironmentError;
use crate::offline_visit::{Visitor, absence};
use crate::suites::recorded_at;

/// The result of comparing two recordings.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes {
    /// The pages, in the order of visits.
    pub pages: Vec<PageChange>,
    /// Whether it ended before all pages were visited.
    pub interrupted: bool,
}

/// The comparison of one page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageChange {
    /// The address.
    pub url: String,
    /// The verdict on it.
    pub verdict: Verdict,
    /// The reason, if the verdict alone does not give it.
    pub why: Option<String>,
    /// The times of its recording, in the old snapshot and in the new one.
    pub recorded: (Option<Timestamp>, Option<Timestamp>),
    /// Both titles, if they differ.
    pub title: Option<(String, String)>,
    /// Share of the lines of text that are only in one of them, from 0 to 1.
    pub text_share: f64,
    /// The lines that differ.
    pub text: TextDifference,
    /// The visible differences. Absent without pictures, and if one of them is not shown.
    pub picture: Option<PictureChange>,
}

/// The result for one page, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its text has changed no more than is allowed.
    Same,
    /// Its text has changed.
    Changed,
    /// The browser ends at another address.
    Moved,
    /// A CAPTCHA or a form to log in stands in front of it now.
    Walled,
    /// It is not shown any more.
    Gone,
    /// The old snapshot does not show it either, so there is nothing to compare with.
    NotRecorded,
}

impl Verdict {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Changed => "changed",
            Verdict::Moved => "moved",
            Verdict::Walled => "walled",
            Verdict::Gone => "gone",
            Verdict::NotRecorded => "not recorded",
        }
    }
}

/// The settings of a comparison.
#[derive(Debug, Clone)]
pub struct ChangeOptions {
    /// The browser's page.
    pub device: Device,
    /// How long one page may take to settle.
    pub settle_within: Duration,
    /// Share of the lines of text that may differ in a page that counts as the same, from 0 to 1.
    pub tolerance: f64,
    /// Folder for the pictures of pages that differ. It must exist. Without one none are taken.
    pub pictures: Option<Utf8PathBuf>,
}

/// The pages to compare.
#[derive(Debug, Clone, Default)]
pub struct ComparedPages {
    /// Their addresses.
    pub urls: Vec<String>,
    /// Those that a new visit could not show, and why.
    pub absent: BTreeMap<String, (Verdict, String)>,
}

impl ComparedPages {
    /// The pages that both lists of snapshots list, at most `most` of them.
    ///
    /// # Errors
    /// When a snapshot cannot be opened.
    pub fn of_both(
        old: &[Utf8PathBuf],
        new: &[Utf8PathBuf],
        most: usize,
    ) -> Result<ComparedPages, IndexError> {
        let listed = |files: &[Utf8PathBuf]| -> Result<Vec<String>, IndexError> {
            let set = ReplaySet::open(files, None, &mut |_, _| {})?;
            Ok(set.pages().map(|page| page.url).collect())
        };
        let (old, new) = (listed(old)?, listed(new)?);
        let urls = old.into_iter().filter(|url| new.contains(url)).take(most).collect();
        Ok(ComparedPages { urls, ..ComparedPages::default() })
    }
}

/// Snapshots by name, with the day of their recording.
pub fn dated(files: &[Utf8PathBuf]) -> String {
    let each = files.iter().map(|path| {
        let name = path.file_name().unwrap_or(path.as_str());
        match recorded_at(path).ok().flatten() {
            Some(time) => format!("{name} of {}", time.inner().strftime("%Y-%m-%d")),
            None => name.to_owned(),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

impl Changes {
    /// Number of pages of one verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pages.iter().filter(|page| page.verdict == verdict).count()
    }

    /// Whether every page is the same.
    pub fn is_same(&self) -> bool {
        self.pages.iter().all(|page| page.verdict == Verdict::Same)
    }
}

/// Shows each page from both snapshots, and compares. `on` receives the address that is next and
/// how many are done.
///
/// # Errors
/// When the gateway or the browser cannot be started, the browser is gone, or a picture cannot be
/// written.
pub async fn compare(
    old: ReplaySet,
    new: ReplaySet,
    pages: &ComparedPages,
    options: &ChangeOptions,
    cancel: &CancellationToken,
    on: &dyn Fn(&str, usize),
) -> Result<Changes, EnvironmentError> {
    let mut old = SnapshotVisitor::open(old, options).await?;
    let mut new = SnapshotVisitor::open(new, options).await?;
    let mut changes = Changes::default();
    for (done, url) in pages.urls.iter().enumerate() {
        on(url, done);
        let before = old.try_to_show(url, options).await?;
        let after = match pages.absent.get(url) {
            Some((verdict, why)) => PageState::absent(*verdict, why.clone()),
            None => new.try_to_show(url, options).await?,
        };
        if cancel.is_cancelled() {
            changes.interrupted = true;
            break;
        }
        let mut change = judge(url, &before, &after, options.tolerance);
        if let (Some(folder), true) = (&options.pictures, change.verdict != Verdict::Same) {
            let written = pictures::write(folder, done, before.picture, after.picture);
            change.picture =
                written.map_err(EnvironmentError::while_doing("write the pictures"))?;
        }
        changes.pages.push(change);
    }
    old.leave().await?;
    new.leave().await?;
    Ok(changes)
}

/// How many pages in a row may fail before the browser is to blame.
const MAX_FAILURES: usize = 3;

/// A snapshot, and the browser that shows it.
struct SnapshotVisitor {
    visitor: Visitor,
    /// The times at which its pages were recorded, by address.
    times: BTreeMap<String, Timestamp>,
    /// The time of pages that it does not list.
    otherwise: Timestamp,
    /// Number of pages in a row that a browser could not show.
    failures: usize,
}

/// A page as it is shown.
#[derive(Debug, Default)]
struct PageState {
    at: Option<Timestamp>,
    /// The reason why it is not shown.
    absent: Option<(Verdict, String)>,
    address: String,
    title: String,
    lines: Vec<String>,
    /// A PNG file; empty if none was taken.
    picture: Vec<u8>,
}

impl PageState {
    fn absent(verdict: Verdict, why: String) -> PageState {
        PageState { absent: Some((verdict, why)), ..PageState::default() }
    }
}

impl SnapshotVisitor {
    async fn open(
        set: ReplaySet,
        options: &ChangeOptions,
    ) -> Result<SnapshotVisitor, EnvironmentError> {
        let times: BTreeMap<_, _> =
            set.pages().map(|page| (without_fragment(&page.url).to_owned(), page.ts)).collect();
        let first = set.members().filter_map(|(archive, _)| archive.recorded()).min();
        // Nobody reads which recorded requests are near to a missed one.
        let replay = ReplayOptions { list_nearest: false, ..ReplayOptions::default() };
        let visitor =
            Visitor::open(set, replay, options.device.clone(), options.settle_within).await?;
        Ok(SnapshotVisitor {
            visitor,
            times,
            otherwise: first.unwrap_or(Timestamp::from_millis(0)),
            failures: 0,
        })
    }

    /// Shows a page. One that a browser cannot show, such as one whose script never ends, counts as
    /// not shown; the next one gets another browser.
    async fn try_to_show(
        &mut self,
        url: &str,
        options: &ChangeOptions,
    ) -> Result<PageState, EnvironmentError> {
        match self.show(url, options).await {
            Ok(shown) => {
                self.failures = 0;
                Ok(shown)
            }
            Err(error) if self.failures < MAX_FAILURES => {
                self.failures += 1;
                self.visitor.forget();
                Ok(PageState::absent(
                    Verdict::Gone,
                    format!("failed to {}", error_text::with_causes(&error)),
                ))
            }
            Err(error) => Err(EnvironmentError::while_doing("visit a page")(error)),
        }
    }

    async fn show(
        &mut self,
        url: &str,
        options: &ChangeOptions,
    ) -> Result<PageState, browser::Error> {
        let at = self.times.get(without_fragment(url)).copied();
        let visit = self.visitor.visit(&Page::new(url, at.unwrap_or(self.otherwise))).await?;
        let Some(session) = self.visitor.session() else { return Ok(PageState::default()) };
        let text = session.page_text().await?;
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let picture = match options.pictures {
            Some(_) => session.picture(&ScreenshotOptions { full_page: true, marks: None }).await?,
            None => Vec::new(),
        };
        Ok(PageState {
            at,
            absent: absence(&visit).map(|why| (Verdict::Gone, why)),
            title: session.title().await?,
            lines: lines.filter(|line| !line.is_empty()).collect(),
            address: visit.address,
            picture,
        })
    }

    async fn leave(self) -> Result<(), EnvironmentError> {
        self.visitor.leave().await.map_err(EnvironmentError::while_doing("close the browser"))
    }
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

fn judge(url: &str, old: &PageState, new: &PageState, tolerance: f64) -> PageChange {
    let mut change = PageChange {
        url: url.to_owned(),
        verdict: Verdict::Same,
        why: None,
        recorded: (old.at, new.at),
        title: None,
        text_share: 0.0,
        text: TextDifference::default(),
        picture: None,
    };
    // Without the old page there is nothing to compare with, whatever the new one shows.
    if let Some((_, why)) = &old.absent {
        change.verdict = Verdict::NotRecorded;
        change.why = Some(why.clone());
        return change;
    }
    if let Some((verdict, why)) = &new.absent {
        change.verdict = *verdict;
        change.why = Some(why.clone());
        return change;
    }
    change.title = (old.title != new.title).then(|| (old.title.clone(), new.title.clone()));
    change.text = compare_texts(&old.lines, &new.lines);
    let lines = old.lines.len() + new.lines.len();
    change.text_share = (change.text.removed + change.text.added) as f64 / lines.max(1) as f64;
    // Another address comes first: the different text only follows from it.
    if place(&old.address) != place(&new.address) {
        change.verdict = Verdict::Moved;
        change.why = Some(format!("it leads to {} instead of {}", new.address, old.address));
    } else if change.text_share > tolerance {
        change.verdict = Verdict::Changed;
    }
    change
}

/// Returns host and path of a page. Parameters may be tokens that each visit gets anew.
fn place(address: &str) -> Option<(String, String)> {
    let url = Url::parse(address).ok()?;
    let path = url.path().trim_end_matches('/').to_owned();
    Some((url.host_str()?.to_owned(), path))
}

/// The folder for the pictures of a report, beside it.
pub fn pictures_of(report: &Utf8Path) -> Utf8PathBuf {
    report.with_extension("pictures")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str, text: &str) -> PageState {
        let lines = text.split(' ').map(str::to_owned).collect();
        PageState {
            address: address.to_owned(),
            title: "T".to_owned(),
            lines,
            ..PageState::default()
        }
    }

    #[test]
    fn a_page_is_judged_by_its_address_and_its_text() {
        const URL: &str = "https://a.test/x";
        let old = shown(URL, "one two three four five six seven eight nine ten");
        let check = |new: PageState, verdict: Verdict, share: f64| {
            let change = judge(URL, &old, &new, 0.1);
            assert_eq!((change.verdict, change.text_share), (verdict, share), "{change:?}");
        };
        let text = "one two three four five six seven eight nine ten";
        check(shown("https://a.test/x/?token=2#top", text), Verdict::Same, 0.0);
        check(shown(URL, &text.replace("ten", "11")), Verdict::Same, 0.1);
        check(shown(URL, &text.replace("nine ten", "10 11")), Verdict::Changed, 0.2);
        check(shown("https://b.test/x", text), Verdict::Moved, 0.0);
        check(PageState::absent(Verdict::Walled, "a CAPTCHA".into()), Verdict::Walled, 0.0);
        let lost = judge(URL, &PageState::absent(Verdict::Gone, "a miss".into()), &old, 0.1);
        assert_eq!(lost.verdict, Verdict::NotRecorded);
    }

    #[test]
    fn a_title_that_has_changed_is_told() {
        let old = shown("https://a.test/", "x");
        let new = PageState { title: "U".to_owned(), ..shown("https://a.test/", "x") };
        let change = judge("https://a.test/", &old, &new, 0.0);
        assert_eq!(change.title, Some(("T".to_owned(), "U".to_owned())));
    }
}
