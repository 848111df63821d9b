//! An annotation from the first page to its end.
//!
//! ```text
//! start page -> capturing -> saved      the panel, or the window of a new task was closed and nothing is missing
//!                   |   ^--- refused    something is missing: the panel says what
//!                   +------> discarded  the panel
//!                   +------> kept       the window was closed, a crash, or Ctrl-C: the draft stays
//! ```

use std::sync::Arc;
use std::time::Duration;

use actions::Action;
use browser::{CaptureEvent, Session};
use in_flight::InFlight;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::capture::CapturedEvent;
use crate::draft::checks::TakenIds;
use crate::draft::journal::Journal;
use crate::workbench::PanelCommand;
use crate::{Draft, Error, Panel, Workbench};

/// How long a page may take to come to rest while the steps are played.
const SETTLE: Duration = Duration::from_secs(20);

/// How an annotation has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The task is whole and is to be written.
    Save,
    /// The draft is to be removed.
    Discard,
    /// The draft is on disk, and the annotation can go on from there.
    Keep,
}

/// The first page of an annotation that has steps already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstPage {
    /// On the page that the steps lead to. They are played.
    AfterSteps,
    /// On the last page that the steps came to. The live web is not asked for all of it again.
    LastUrl,
}

/// The parts of an annotation: its draft, its browser and its panel.
pub struct Annotation {
    /// The draft, shared with the panel.
    pub workbench: Arc<Workbench>,
    /// The panel, which serves as long as this is there.
    pub panel: Panel,
    wishes: mpsc::UnboundedReceiver<PanelCommand>,
    in_flight: InFlight,
}

impl Annotation {
    /// Opens the panel of a draft that the journal holds. `taken` are the ids of the suite's other
    /// tasks, with their files; `in_flight` the requests of the browser's gateway.
    ///
    /// # Errors
    /// When the panel finds no port.
    pub async fn open(
        draft: Draft,
        journal: Journal,
        taken: TakenIds,
        in_flight: InFlight,
    ) -> Result<Annotation, Error> {
        let (workbench, wishes) = Workbench::new(draft, journal, taken);
        let panel = Panel::open(Arc::clone(&workbench)).await?;
        Ok(Annotation { workbench, panel, wishes, in_flight })
    }

    /// Opens the first page and captures until the person ends it. `events` are those of the
    /// session's capture.
    ///
    /// # Errors
    /// When the first page does not open, or the draft cannot be written.
    pub async fn capture(
        &mut self,
        session: &mut Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
        first: FirstPage,
        cancel: &CancellationToken,
    ) -> Result<Ending, Error> {
        session.hold_for_pictures().await?;
        // What the browser did before the start page is nobody's step.
        self.workbench.start_playing();
        self.stop_playing(session, events).await?;
        self.workbench.expect_start_page();
        let draft = self.workbench.draft();
        if first == FirstPage::AfterSteps && draft.step_count() > 0 {
            self.play(session, events, cancel).await?;
        } else {
            open(session, draft.last_url()).await?;
        }
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    Some(event) => self.workbench.add(CapturedEvent::of(event).await)?,
                    None => return Ok(self.closed(session)),
                },
                wish = self.wishes.recv() => {
                    if let Some(ending) = self.fulfil(wish, session, events, cancel).await? {
                        return Ok(ending);
                    }
                }
                () = cancel.cancelled() => {
                    self.flush(session, events).await?;
                    return Ok(Ending::Keep);
                }
                () = session.wait_until_closed() => {
                    self.drain(events).await?;
                    return Ok(self.closed(session));
                }
            }
        }
    }

    async fn fulfil(
        &self,
        wish: Option<PanelCommand>,
        session: &mut Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
        cancel: &CancellationToken,
    ) -> Result<Option<Ending>, Error> {
        match wish {
            Some(PanelCommand::Save) => {
                self.flush(session, events).await?;
                self.workbench.settle_tabs()?;
                let missing = self.workbench.missing();
                if missing.is_empty() {
                    return Ok(Some(Ending::Save));
                }
                self.workbench.set_notice(missing.join(" "));
            }
            Some(PanelCommand::Discard) => return Ok(Some(Ending::Discard)),
            Some(PanelCommand::StartOver) => {
                // What happens until the start page is there is no step.
                self.workbench.start_playing();
                self.flush(session, events).await?;
                self.workbench.clear_steps()?;
                let opened = self.open_start_page(session, events).await;
                self.stop_playing(session, events).await?;
                if let Err(error) = opened {
                    self.workbench
                        .set_notice(format!("failed to {}", error_text::with_causes(&error)));
                }
            }
            Some(PanelCommand::Play) => {
                self.flush(session, events).await?;
                self.workbench.settle_tabs()?;
                self.play(session, events, cancel).await?;
            }
            // The panel lives as long as we do.
            None => {}
        }
        Ok(None)
    }

    /// Plays the steps, from the start page on, as the oracle does. What cannot be played is told
    /// in the panel.
    async fn play(
        &self,
        session: &mut Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        self.workbench.start_playing();
        let played = self.play_steps(session, events, cancel).await;
        self.stop_playing(session, events).await?;
        match played {
            Ok(()) => {}
            Err(PlayError::Step(number, why)) => {
                let notice = format!("Step {number} could not be played: failed to {why}.");
                self.workbench.set_notice(notice);
            }
            Err(PlayError::Over(error)) => return Err(error),
        }
        Ok(())
    }

    async fn play_steps(
        &self,
        session: &mut Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
        cancel: &CancellationToken,
    ) -> Result<(), PlayError> {
        let draft = self.workbench.draft();
        let opened = self.open_start_page(session, events).await;
        opened.map_err(|error| PlayError::Step(1, error_text::with_causes(&error)))?;
        for (place, step) in draft.actions().enumerate() {
            if cancel.is_cancelled() {
                break;
            }
            let number = place + 1;
            let failed = |error: &dyn std::error::Error| {
                PlayError::Step(number, error_text::with_causes(error))
            };
            session.settle(&self.in_flight, SETTLE).await.map_err(|error| failed(&error))?;
            let observation = session.observe().await.map_err(|error| failed(&error))?;
            let action = agents::oracle_action(step, number, &observation);
            if let Some(action) = action.map_err(|error| failed(&error))? {
                session.act(&action).await.map_err(|error| failed(&error))?;
            }
            self.drain(events).await.map_err(PlayError::Over)?;
        }
        // The last effects are the steps' own. A window that was closed meanwhile is told later.
        if let Err(error) = session.settle(&self.in_flight, SETTLE).await {
            tracing::debug!(%error, "the page does not settle after the last step");
        }
        Ok(())
    }

    /// Opens the start page as at the beginning of an episode: in the only tab.
    async fn open_start_page(
        &self,
        session: &mut Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
    ) -> Result<(), Error> {
        session.keep_first_tab().await?;
        self.drain(events).await?;
        self.workbench.expect_start_page();
        open(session, &self.workbench.draft().start_url).await
    }

    /// From here on the person goes on, in the tab that the steps have led to.
    async fn stop_playing(
        &self,
        session: &Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
    ) -> Result<(), Error> {
        self.drain(events).await?;
        self.workbench.stop_playing(session.active_tab());
        Ok(())
    }

    /// Makes steps of the typing that the page has not reported yet.
    async fn flush(
        &self,
        session: &Session,
        events: &mut mpsc::UnboundedReceiver<CaptureEvent>,
    ) -> Result<(), Error> {
        if let Err(error) = session.flush_captured().await {
            tracing::debug!(%error, "what was typed last is not told");
        }
        self.drain(events).await
    }

    async fn drain(&self, events: &mut mpsc::UnboundedReceiver<CaptureEvent>) -> Result<(), Error> {
        while let Ok(event) = events.try_recv() {
            self.workbench.add(CapturedEvent::of(event).await)?;
        }
        Ok(())
    }

    /// The window has gone. A new task that lacks nothing is saved. A task that is there already is
    /// only replaced by the panel's button, and nothing is saved for a browser that has crashed.
    fn closed(&self, session: &Session) -> Ending {
        let is_edited = self.workbench.draft().edited.is_some();
        let is_whole = self.workbench.missing().is_empty();
        if is_whole && !is_edited && !session.has_crashed() { Ending::Save } else { Ending::Keep }
    }
}

/// Why the steps were not played to their end.
enum PlayError {
    /// This step could not be played.
    Step(usize, String),
    /// Nothing works any more.
    Over(Error),
}

async fn open(session: &mut Session, url: &str) -> Result<(), Error> {
    let opened = session.act(&Action::Goto { url: url.to_owned() }).await;
    opened.map_err(|source| Error::Open { url: url.to_owned(), source })
}
