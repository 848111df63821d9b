//! The pages of a suite that only a person can get at: behind a CAPTCHA or a log-in.

use std::collections::HashSet;

use browser::Device;
use camino::Utf8Path;
use gateway::WriteGuard;
use recorder::plan::Plan;
use recorder::{CrawlSummary, RecordingGateway};
use results::counted;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Record;
use crate::commands::show;
use crate::failure::{Failure, OrFail as _, Outcome};

/// How many pages are opened at once. The others are named at the end.
const MOST_TABS: usize = 30;

/// Fails early where there is no display, as hours of a recording would come before the window.
pub(super) fn check_display() -> Outcome {
    if show::has_display() {
        return Ok(());
    }
    Err(Failure::Environment(format!("failed to {}", browser::Error::NoDisplay)))
}

impl Record {
    /// Hands the pages behind walls to a person: each in a tab of a window, until the window is
    /// closed. What is loaded there is recorded like everything else.
    pub(super) async fn hand_over(
        &self,
        studio: &RecordingGateway,
        plan: &Plan,
        guard: Option<&WriteGuard>,
        output: &Utf8Path,
        summary: &mut CrawlSummary,
        cancel: &CancellationToken,
    ) -> Outcome {
        let pages = summary.walls.values().flatten().map(|(_, url)| url);
        let urls: Vec<Url> = pages.filter_map(|url| Url::parse(url).ok()).take(MOST_TABS).collect();
        if urls.is_empty() {
            return Ok(());
        }
        eprintln!(
            "{} behind a CAPTCHA or a log-in; get past it in the window, look at each page, then close the window or \
             press Ctrl-C",
            counted(urls.len(), "page")
        );
        let named: Vec<String> = urls.iter().map(Url::to_string).collect();
        studio.hand_over(&named).or_environment(format!("write into the recording of {output}"))?;
        let ledger = studio.gateway().ledger();
        let before = ledger.entries().len();
        let device = plan.vantages.first().map_or_else(Device::default, recorder::suite::device);
        let tour = self.tour(studio, true);
        let mut session = tour.start(device, true).await?;
        guard.iter().for_each(|guard| guard.set_open(true));
        let browsed = recorder::by_hand(&mut session, &urls, cancel).await.or_environment("browse");
        let ended = tour.end(session).await;
        // Agents that go on from here decide nothing.
        guard.iter().for_each(|guard| guard.set_open(false));
        browsed?;
        ended?;
        let shown: HashSet<String> = ledger
            .entries()
            .into_iter()
            .skip(before)
            .filter(|entry| entry.status == 200)
            .map(|entry| entry.url)
            .collect();
        for pages in summary.walls.values_mut() {
            pages.retain(|(_, url)| !shown.contains(url));
        }
        summary.walls.retain(|_, pages| !pages.is_empty());
        Ok(())
    }
}
