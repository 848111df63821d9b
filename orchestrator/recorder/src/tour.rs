//! Browsers that visit through a recording, one after the other.

use std::cell::Cell;
use std::collections::HashSet;

use browser::{Device, Launch, Session};
use camino::Utf8PathBuf;
use gateway::WriteGuard;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::frontier::{Bounds, Frontier, Interest};
use crate::plan::Plan;
use crate::{
    CrawlOptions, CrawlSummary, Crawler, Error, Event, RecordingGateway, by_hand, keep_state, suite,
};

/// Why a browser could not visit.
#[derive(Debug, thiserror::Error)]
pub enum TourError {
    /// It cannot be started.
    #[error("start the browser: {0}")]
    Start(#[source] browser::Error),
    /// It does not end as it should.
    #[error("close the browser: {0}")]
    Close(#[source] browser::Error),
    /// The recording cannot be written.
    #[error("write into the recording of {path}: {source}")]
    Write {
        /// The snapshot.
        path: Utf8PathBuf,
        /// Why not.
        source: Error,
    },
    /// The visits have ended.
    #[error("{doing}: {source}")]
    Visit {
        /// The purpose of its visits, as [`Tour::doing`].
        doing: &'static str,
        /// Why.
        source: Error,
    },
}

/// The settings that the browsers of a recording share.
pub struct Tour<'a> {
    /// The recording.
    pub studio: &'a RecordingGateway,
    /// The purpose of the visits; reads after "failed to".
    pub doing: &'static str,
    /// How many requests are made again after a write, at most.
    pub ask_again: usize,
    /// Called where cookies and storage of a browser cannot be read at its end, with the reason.
    /// None if the recording does not keep them.
    pub on_lost_state: Option<&'a dyn Fn(&Error)>,
}

impl Tour<'_> {
    /// Starts a browser.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn start(&self, device: Device, visible: bool) -> Result<Session, TourError> {
        self.studio.begin_visit(self.ask_again).await;
        let launch = Launch::new(self.studio.gateway(), self.studio.ca().spki_sha256_base64());
        let launch = Launch { headless: !visible, device, ..launch };
        Session::start(&launch).await.map_err(TourError::Start)
    }

    /// Ends a browser.
    ///
    /// # Errors
    /// When it does not end as it should.
    pub async fn end(&self, mut session: Session) -> Result<(), TourError> {
        if let Some(lost) = self.on_lost_state
            && let Err(error) = keep_state(&mut session, self.studio).await
        {
            lost(&error);
        }
        session.close().await.map_err(TourError::Close)
    }

    /// Visits what is in a queue, in one browser.
    ///
    /// # Errors
    /// When the browser or the recording cannot go on.
    pub async fn follow(
        &self,
        crawler: &mut Crawler<'_>,
        frontier: Frontier,
        device: Device,
    ) -> Result<(), TourError> {
        let mut session = self.start(device, false).await?;
        let followed = crawler.follow(&mut session, frontier).await;
        self.end(session).await?;
        followed.map_err(self.failed())
    }

    /// Visits what is in a plan: each of its browsers all tasks. `now` has how many tasks are done,
    /// and the id of the next one.
    ///
    /// # Errors
    /// When a browser or the recording cannot go on.
    pub async fn follow_plan<'p>(
        &self,
        crawler: &mut Crawler<'_>,
        plan: &'p Plan,
        include: &[String],
        cancel: &CancellationToken,
        now: &Cell<(usize, &'p str)>,
    ) -> Result<(), TourError> {
        for (round, vantage) in plan.vantages.iter().enumerate() {
            let mut session = self.start(vantage.clone(), false).await?;
            let mut followed = Ok(());
            for (number, task) in plan.tasks.iter().enumerate() {
                now.set((round * plan.tasks.len() + number, &task.id));
                let frontier = suite::frontier(plan, task, include);
                followed = crawler.follow(&mut session, frontier).await;
                if followed.is_err() || cancel.is_cancelled() {
                    break;
                }
            }
            self.end(session).await?;
            followed.map_err(self.failed())?;
            if cancel.is_cancelled() {
                break;
            }
            crawler.next_vantage();
        }
        Ok(())
    }

    /// Visits these pages, and nothing that they lead to. `on` receives the progress.
    ///
    /// # Errors
    /// When the browser or the recording cannot go on.
    pub async fn visit(
        &self,
        urls: &[Url],
        device: Device,
        options: CrawlOptions,
        cancel: &CancellationToken,
        on: &dyn Fn(Event<'_>),
    ) -> Result<(), TourError> {
        let mut crawler = Crawler::new(self.studio, options, cancel, on).map_err(self.failed())?;
        let bounds = Bounds { depth: 0, pages: urls.len(), include: Vec::new() };
        let frontier = Frontier::new(urls, bounds, Interest::default());
        self.follow(&mut crawler, frontier, device).await
    }

    /// Hands pages behind walls to a person: each in a tab of a window, until the window is closed.
    /// What is loaded there is recorded like everything else, and writes pass the guard until then.
    /// Pages that were shown are no walls of the summary any more.
    ///
    /// # Errors
    /// When the window cannot be opened or closed, or the recording cannot go on.
    pub async fn hand_over(
        &self,
        urls: &[Url],
        device: Device,
        guard: Option<&WriteGuard>,
        summary: &mut CrawlSummary,
        cancel: &CancellationToken,
    ) -> Result<(), TourError> {
        let named: Vec<String> = urls.iter().map(Url::to_string).collect();
        let path = self.studio.path().unwrap_or_default();
        self.studio.hand_over(&named).map_err(|source| TourError::Write { path, source })?;
        let ledger = self.studio.gateway().ledger();
        let before = ledger.entries().len();
        let mut session = self.start(device, true).await?;
        guard.iter().for_each(|guard| guard.set_open(true));
        let browsed = by_hand(&mut session, urls, cancel).await;
        let ended = self.end(session).await;
        // Agents that go on from here decide nothing.
        guard.iter().for_each(|guard| guard.set_open(false));
        browsed.map_err(|source| TourError::Visit { doing: "browse", source })?;
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

    fn failed(&self) -> impl Fn(Error) -> TourError {
        let doing = self.doing;
        move |source| TourError::Visit { doing, source }
    }
}
