//! How a run goes, on a terminal: how far it is, what it has earned and cost so far, and what each worker is at. Elsewhere nothing is shown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar};
use runs::results::{EpisodeRecord, Outcome, Spent};
use runs::{Event, Progress};

use crate::{progress, town};

/// Lines that redraw themselves.
#[derive(Clone)]
pub(crate) struct Board {
    lines: MultiProgress,
    episodes: ProgressBar,
    figures: ProgressBar,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    so_far: SoFar,
    /// By their numbers; those that have had something to do.
    workers: BTreeMap<usize, ProgressBar>,
}

/// What the episodes of now have come to.
#[derive(Debug, Clone, Default, PartialEq)]
struct SoFar {
    scored: u64,
    score: f64,
    passed: u64,
    errors: u64,
    timed_out: u64,
    misses: u64,
    models: Option<Spent>,
}

impl SoFar {
    fn add(&mut self, record: &EpisodeRecord) {
        if let Some(score) = record.score {
            self.scored += 1;
            self.score += score;
        }
        self.passed += u64::from(record.success);
        self.errors += u64::from(matches!(record.outcome, Outcome::Error { .. }));
        self.timed_out += u64::from(matches!(record.outcome, Outcome::TimedOut));
        self.misses += record.requests.miss;
        self.models = Spent::sum(self.models.take().into_iter().chain(record.models.clone()));
    }

    fn words(&self) -> String {
        let mut words = vec![match self.scored {
            0 => "no score yet".to_owned(),
            count => format!("score {:.2}", self.score / count as f64),
        }];
        words.push(format!("{} passed", self.passed));
        let mut told = |count: u64, what: &str| {
            if count > 0 {
                words.push(format!("{count} {what}"));
            }
        };
        told(self.errors, "errors");
        told(self.timed_out, "timed out");
        told(self.misses, "misses");
        if let Some(Spent { prompt_tokens, completion_tokens, cost, .. }) = &self.models {
            told(prompt_tokens + completion_tokens, "tokens");
            words.extend(cost.map(|cost| format!("${cost:.2}")));
        }
        words.join(" · ")
    }
}

impl Board {
    pub(crate) fn new() -> Board {
        let lines = MultiProgress::new();
        // It has its place once it is known how many there are.
        let episodes = ProgressBar::hidden();
        let figures = lines.add(progress::line());
        Board { lines, episodes, figures, inner: Arc::default() }
    }

    /// Takes the lines away.
    pub(crate) fn clear(&self) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        for line in [&self.episodes, &self.figures].into_iter().chain(inner.workers.values()) {
            line.finish_and_clear();
        }
    }

    /// Shows a run's events.
    pub(crate) fn progress(&self) -> Progress {
        let board = self.clone();
        Arc::new(move |event| board.show(event))
    }

    fn show(&self, event: Event<'_>) {
        match event {
            Event::Planned { episodes, done } => {
                self.figures.set_message("");
                self.episodes.set_length(episodes as u64);
                self.episodes.set_position(done as u64);
                self.episodes.reset_eta();
                self.lines.insert(0, progress::counting(self.episodes.clone(), "episodes"));
            }
            Event::Opening => self.figures.set_message("opening the snapshots; what is new is indexed"),
            Event::Site(event) => {
                if let Some(text) = town::told(event) {
                    self.figures.set_message(text);
                }
            }
            Event::BringingUp { worker } => self.at(worker, "bringing up the world".to_owned()),
            Event::Started { worker, episode } => self.at(worker, episode.to_string()),
            Event::Step { worker, episode, step, max_steps } => {
                self.at(worker, format!("{episode}, action {step} of {max_steps}"));
            }
            Event::Ended { worker, record, .. } => {
                self.episodes.inc(1);
                let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                inner.so_far.add(record);
                self.figures.set_message(inner.so_far.words());
                drop(inner);
                self.at(worker, String::new());
            }
            _ => {}
        }
    }

    fn at(&self, worker: usize, text: String) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let line = inner.workers.entry(worker).or_insert_with(|| self.lines.add(progress::line()));
        line.set_message(format!("  {text}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nothing_is_not_told() {
        let mut so_far = SoFar::default();
        assert_eq!(so_far.words(), "no score yet · 0 passed");
        so_far = SoFar { scored: 4, score: 3.0, passed: 3, errors: 1, ..so_far };
        assert_eq!(so_far.words(), "score 0.75 · 3 passed · 1 errors");
        let spent = Spent {
            calls: 2,
            prompt_tokens: 900,
            completion_tokens: 100,
            cost: Some(0.126),
            ..Spent::default()
        };
        so_far = SoFar { misses: 2, models: Some(spent), ..so_far };
        assert_eq!(so_far.words(), "score 0.75 · 3 passed · 1 errors · 2 misses · 1000 tokens · $0.13");
    }
}
