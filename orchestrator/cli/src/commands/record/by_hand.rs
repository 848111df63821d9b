//! The pages of a suite that only a person can get at: behind a CAPTCHA or a log-in.

use gateway::WriteGuard;
use processes::desktop;
use recorder::plan::Plan;
use recorder::{CrawlSummary, RecordingGateway};
use results::counted;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Record;
use crate::failure::{Failure, Outcome};

/// How many pages are opened at once. The others are named at the end.
const MOST_TABS: usize = 30;

/// Fails early where there is no display, as hours of a recording would come before the window.
pub(super) fn check_display() -> Outcome {
    if desktop::has_display() {
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
        let device = plan.vantages.first().cloned().unwrap_or_default();
        let tour = self.tour(studio, true);
        Ok(tour.hand_over(&urls, device, guard, summary, cancel).await?)
    }
}
