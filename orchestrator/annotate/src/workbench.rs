//! The draft as the browser, the panel and the command share it. Each change is on disk before
//! anybody sees it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::Error;
use crate::capture::{CapturedEvent, StepLog};
use crate::draft::checks::{self, TakenIds};
use crate::draft::edit::Edit;
use crate::draft::journal::Journal;
use crate::draft::{Draft, Step};
use crate::panel::view::{self, PanelState, View};

/// How many changes can be undone.
const UNDO: usize = 200;
/// How long a panel that was looking may take to see how the annotation has ended.
const LAST_LOOK: Duration = Duration::from_secs(5);
/// A panel that has asked within this time is looking.
const LOOKING: Duration = Duration::from_secs(40);

/// How far an annotation has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// The browser is open.
    Capturing,
    /// The task is being written.
    Saving,
    /// The task is written.
    Saved {
        /// The file of the task.
        file: String,
        /// The command that plays it.
        play: String,
    },
    /// Everything was thrown away.
    Discarded,
    /// The annotation ended before the task was whole.
    Kept {
        /// The command that goes on with it.
        resume: String,
    },
    /// The task could not be written.
    Failed {
        /// Why not, and what to do.
        why: String,
    },
}

/// A request of the panel to the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PanelCommand {
    Save,
    Discard,
    /// Remove the steps and open the start page again.
    StartOver,
    /// Play the steps in the browser.
    Play,
}

/// The shared draft.
pub struct Workbench {
    state: Mutex<State>,
    changed: Notify,
    seen: Notify,
    journal: Journal,
    taken: TakenIds,
    wishes: mpsc::UnboundedSender<PanelCommand>,
}

struct State {
    draft: Draft,
    undo: Vec<Draft>,
    log: StepLog,
    status: Status,
    /// The failure of the last request, for people.
    notice: String,
    /// The steps are being played.
    is_playing: bool,
    version: u64,
    /// When a panel last asked, and for which version.
    asked: Option<(Instant, u64)>,
}

impl Workbench {
    /// A workbench with a draft that the journal holds already. `taken` are the ids of the suite's
    /// other tasks, with their files. Also returns where the panel's wishes arrive.
    pub(crate) fn new(
        draft: Draft,
        journal: Journal,
        taken: TakenIds,
    ) -> (Arc<Workbench>, mpsc::UnboundedReceiver<PanelCommand>) {
        let (wishes, receiver) = mpsc::unbounded_channel();
        let state = State {
            draft,
            undo: Vec::new(),
            log: StepLog::new(),
            status: Status::Capturing,
            notice: String::new(),
            is_playing: false,
            version: 1,
            asked: None,
        };
        let workbench = Workbench {
            state: Mutex::new(state),
            changed: Notify::new(),
            seen: Notify::new(),
            journal,
            taken,
            wishes,
        };
        (Arc::new(workbench), receiver)
    }

    /// A copy of the draft.
    pub fn draft(&self) -> Draft {
        self.state.lock().draft.clone()
    }

    /// Returns the reasons why the draft is no task yet, as sentences.
    pub fn missing(&self) -> Vec<String> {
        checks::missing(&self.state.lock().draft, &self.taken)
    }

    /// Tells the panel how far it is.
    pub fn set_status(&self, status: Status) {
        let mut state = self.state.lock();
        state.status = status;
        state.version += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits until a panel that is open has seen the last change, for a moment at most.
    pub async fn last_look(&self) {
        let seen = async {
            loop {
                let told = self.seen.notified();
                tokio::pin!(told);
                told.as_mut().enable();
                {
                    let state = self.state.lock();
                    let is_looking = state
                        .asked
                        .is_some_and(|(at, seen)| at.elapsed() < LOOKING && seen < state.version);
                    if !is_looking {
                        return;
                    }
                }
                told.await;
            }
        };
        // A panel that was closed meanwhile does not ask again.
        let _ = timeout(LAST_LOOK, seen).await;
    }

    /// Adds what has happened in the browser.
    ///
    /// # Errors
    /// When the draft cannot be written.
    pub(crate) fn add(&self, happening: CapturedEvent) -> Result<(), Error> {
        self.change(|state| {
            let State { draft, log, .. } = state;
            let files = log.add(draft, happening, Instant::now());
            let Some(files) = files else { return Ok(()) };
            let Some(step) = draft.step_mut(files.number) else { return Ok(()) };
            self.journal.keep_page(step, &files.html)?;
            if let Some(png) = &files.picture {
                self.journal.keep_picture(step, png)?;
            }
            Ok(())
        })
    }

    /// Makes steps of the tabs that were closed.
    ///
    /// # Errors
    /// When the draft cannot be written.
    pub(crate) fn settle_tabs(&self) -> Result<(), Error> {
        self.change(|State { draft, log, .. }| {
            log.settle_tabs(draft);
            Ok(())
        })
    }

    /// The next page is the start page.
    pub(crate) fn expect_start_page(&self) {
        self.state.lock().log.expect_start_page();
    }

    /// From now on what happens is the playing of the steps.
    pub(crate) fn start_playing(&self) {
        self.set_playing(|log| log.start_playing(), true);
    }

    /// From now on what happens is the person's doing. `front` is the tab that the oracle is in.
    pub(crate) fn stop_playing(&self, front: Option<String>) {
        self.set_playing(|log| log.stop_playing(front), false);
    }

    fn set_playing(&self, tell: impl FnOnce(&mut StepLog), is_playing: bool) {
        let mut state = self.state.lock();
        tell(&mut state.log);
        state.is_playing = is_playing;
        state.version += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Removes every step.
    ///
    /// # Errors
    /// When the draft cannot be written.
    pub(crate) fn clear_steps(&self) -> Result<(), Error> {
        self.change(|State { draft, .. }| {
            draft.clear_steps();
            Ok(())
        })
    }

    /// Makes a change of the panel's.
    ///
    /// # Errors
    /// The inner result is why the change cannot be made.
    pub(crate) fn edit(&self, edit: Edit) -> Result<Result<(), String>, Error> {
        let mut refusal = None;
        self.change(|state| {
            refusal = state.draft.apply(edit).err();
            Ok(())
        })?;
        Ok(refusal.map_or(Ok(()), Err))
    }

    /// Takes the last change back.
    ///
    /// # Errors
    /// When the draft cannot be written.
    pub(crate) fn undo(&self) -> Result<(), Error> {
        let mut state = self.state.lock();
        let Some(earlier) = state.undo.pop() else { return Ok(()) };
        // Numbers are not given twice: pictures are named by them.
        let last_number = state.draft.last_number;
        state.draft = Draft { last_number, ..earlier };
        state.version += 1;
        let kept = self.journal.keep(&state.draft);
        drop(state);
        self.changed.notify_waiters();
        kept
    }

    /// Asks the browser's side for something.
    pub(crate) fn wish(&self, wish: PanelCommand) {
        // It may have ended meanwhile, which the status says.
        let _ = self.wishes.send(wish);
    }

    /// Says why a wish was not done.
    pub(crate) fn set_notice(&self, notice: String) {
        let mut state = self.state.lock();
        state.notice = notice;
        state.version += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Returns the panel's view, once there is one newer than `since` or the time is up.
    pub(crate) async fn view(&self, since: u64, within: Duration) -> View {
        let newer = async {
            loop {
                let told = self.changed.notified();
                tokio::pin!(told);
                told.as_mut().enable();
                if self.state.lock().version > since {
                    return;
                }
                told.await;
            }
        };
        {
            let mut state = self.state.lock();
            state.asked = Some((Instant::now(), since));
        }
        self.seen.notify_waiters();
        // Nothing new is an answer, too.
        let _ = timeout(within, newer).await;
        let (draft, shown) = {
            let state = self.state.lock();
            let shown = PanelState {
                version: state.version,
                status: state.status.clone(),
                notice: state.notice.clone(),
                can_undo: !state.undo.is_empty(),
                is_playing: state.is_playing,
            };
            (state.draft.clone(), shown)
        };
        let page = |step: &Step| self.journal.page(step);
        view::of(&draft, shown, &self.taken, &page)
    }

    /// The picture of a step, which may have been removed meanwhile.
    pub(crate) fn picture(&self, number: u32) -> Option<Vec<u8>> {
        self.journal.picture(number)
    }

    fn change(&self, make: impl FnOnce(&mut State) -> Result<(), Error>) -> Result<(), Error> {
        let mut state = self.state.lock();
        let before = state.draft.clone();
        let made = make(&mut state);
        if state.draft != before {
            if state.undo.len() >= UNDO {
                state.undo.remove(0);
            }
            self.journal.keep(&state.draft)?;
            if !differs_in_urls_only(&before, &state.draft) {
                state.undo.push(before);
            }
            state.notice.clear();
            state.version += 1;
            drop(state);
            self.changed.notify_waiters();
        }
        made
    }
}

/// Whether all that has changed is where steps have led to. The person did not do that, and so does
/// not undo it by itself.
fn differs_in_urls_only(before: &Draft, now: &Draft) -> bool {
    let mut before = before.clone();
    for (step, now) in before.steps.iter_mut().zip(&now.steps) {
        step.url_after.clone_from(&now.url_after);
    }
    before == *now
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;

    use super::*;
    use crate::Source;

    #[test]
    fn where_a_step_leads_is_undone_with_the_step() {
        let folder = tempfile::tempdir().unwrap();
        let suite = Utf8Path::from_path(folder.path()).unwrap();
        let source = Source::Snapshots(Vec::new());
        let start = "https://a.test/".to_owned();
        let draft = Draft::new(source, "a".to_owned(), start.clone(), jiff::Timestamp::UNIX_EPOCH);
        let journal = Journal::begin(suite, &draft).unwrap();
        let (bench, _wishes) = Workbench::new(draft, journal, TakenIds::new());
        let opened = |tab: &str| CapturedEvent::TabOpened { tab: tab.to_owned(), by_page: false };
        let navigated = |tab: &str, url: String| CapturedEvent::Navigated {
            tab: tab.to_owned(),
            url,
            history: None,
        };
        bench.add(opened("1")).unwrap();
        bench.add(navigated("1", start)).unwrap();
        bench.add(opened("2")).unwrap();
        for page in 1..4 {
            bench.add(navigated("2", format!("https://a.test/{page}"))).unwrap();
        }
        let steps = bench.draft().steps;
        assert_eq!((steps.len(), &*steps[0].url_after), (1, "https://a.test/3"));
        bench.undo().unwrap();
        assert!(bench.draft().steps.is_empty());
    }
}
