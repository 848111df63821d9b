//! How a run goes, on a terminal: how far it is, what it has earned and cost so far, and what each
//! worker is at.

use std::collections::BTreeMap;
use std::sync::Arc;

use indicatif::{MultiProgress, ProgressBar};
use parking_lot::Mutex;
use play::{Event, Progress};
use results::Totals;

use crate::terminal::out;
use crate::terminal::progress;

/// Lines that redraw themselves.
#[derive(Clone)]
pub(crate) struct Bars {
    lines: MultiProgress,
    episodes: ProgressBar,
    figures: ProgressBar,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    totals: Totals,
    /// By their numbers; those that have had something to do.
    workers: BTreeMap<usize, ProgressBar>,
    /// How the parts stand, of a run on a cluster.
    parts: Option<ProgressBar>,
}

impl Bars {
    pub(super) fn new() -> Bars {
        let lines = MultiProgress::new();
        // It has its place once it is known how many there are.
        let episodes = ProgressBar::hidden();
        let figures = lines.add(progress::line());
        Bars { lines, episodes, figures, inner: Arc::default() }
    }

    /// Takes the lines away.
    pub(super) fn clear(&self) {
        let inner = self.inner.lock();
        for line in [&self.episodes, &self.figures]
            .into_iter()
            .chain(inner.workers.values())
            .chain(&inner.parts)
        {
            line.finish_and_clear();
        }
    }

    /// Shows a run's events.
    pub(super) fn progress(&self) -> Progress {
        let bars = self.clone();
        Arc::new(move |event| bars.show(event))
    }

    fn show(&self, event: Event<'_>) {
        match event {
            Event::Planned { episodes, done } => {
                progress::say(&self.figures, "");
                self.episodes.set_length(episodes as u64);
                self.episodes.set_position(done as u64);
                self.episodes.reset_eta();
                self.lines.insert(0, progress::counting(self.episodes.clone(), "episodes"));
            }
            Event::Opening => {
                progress::say(&self.figures, "opening the snapshots; what is new is indexed")
            }
            Event::Indexing(at) => progress::say(&self.figures, at.to_string()),
            Event::Site(event) => {
                if let Some(warning) = event.warning() {
                    self.suspend(|| out::warn(&warning));
                } else if let Some(text) = event.words() {
                    progress::say(&self.figures, text);
                }
            }
            Event::BringingUp { worker } => self.at(worker, "bringing up the world".to_owned()),
            Event::Started { worker, episode } => self.at(worker, episode.to_string()),
            Event::Step { worker, episode, step, max_steps } => {
                self.at(worker, format!("{episode}, action {step} of {max_steps}"));
            }
            Event::Ended { worker, record, .. } => {
                self.episodes.inc(1);
                let mut inner = self.inner.lock();
                inner.totals.add(record);
                progress::say(&self.figures, inner.totals.words());
                drop(inner);
                self.at(worker, String::new());
            }
            _ => {}
        }
    }

    /// Shows how the parts of a run stand, on a line of their own.
    pub(super) fn parts(&self, text: &str) {
        let mut inner = self.inner.lock();
        let line = inner
            .parts
            .get_or_insert_with(|| self.lines.insert_after(&self.figures, progress::line()));
        progress::say(line, text);
    }

    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.lines.suspend(print);
    }

    pub(super) fn at(&self, worker: usize, text: String) {
        let mut inner = self.inner.lock();
        let line = inner.workers.entry(worker).or_insert_with(|| self.lines.add(progress::line()));
        progress::say(line, format!("  {text}"));
    }
}
