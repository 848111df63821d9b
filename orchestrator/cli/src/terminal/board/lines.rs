//! How a run goes, where stderr is no terminal: lines that stay.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use play::{Event, Progress, log};
use results::counted;
use results::{EpisodeRecord, Outcome, Totals};
use tokio::task::AbortHandle;
use tokio::time::{self, Instant};

use crate::terminal::out;

/// The target of these lines where they are logged.
pub(crate) const PROGRESS: &str = "sandbox::progress";

/// How often the line for all episodes is printed.
const EVERY: Duration = Duration::from_secs(30);

/// Workers that are named in it before the rest is only counted.
const NAMED: usize = 16;

/// Prints lines; clones add to the same.
#[derive(Clone)]
pub(crate) struct Lines {
    inner: Arc<Mutex<Inner>>,
    ticking: AbortHandle,
}

struct Inner {
    began: Instant,
    /// Episodes in all, once that is known.
    planned: Option<usize>,
    /// Episodes of those that were there already.
    done: usize,
    totals: Totals,
    /// What goes on before there are episodes.
    doing: String,
    /// What those workers are at that are at something, by their numbers.
    workers: BTreeMap<usize, String>,
    /// How the parts stand, of a run on a cluster.
    parts: Option<String>,
}

/// Whether what happens is logged, episodes' ends included.
pub(super) fn is_logged() -> bool {
    tracing::enabled!(target: log::ENDED, tracing::Level::INFO)
}

impl Lines {
    /// Begins to print every now and then.
    pub(super) fn new() -> Lines {
        let inner = Arc::new(Mutex::new(Inner::new()));
        let seen = Arc::clone(&inner);
        let ticking = tokio::spawn(async move {
            let mut ticks = time::interval_at(Instant::now() + EVERY, EVERY);
            loop {
                ticks.tick().await;
                print(&locked(&seen).summary());
            }
        });
        Lines { inner, ticking: ticking.abort_handle() }
    }

    pub(super) fn clear(&self) {
        self.ticking.abort();
    }

    pub(super) fn at(&self, worker: usize, text: &str) {
        let mut inner = locked(&self.inner);
        if text.is_empty() {
            inner.workers.remove(&worker);
        } else {
            inner.workers.insert(worker, text.to_owned());
        }
    }

    pub(super) fn parts(&self, text: &str) {
        locked(&self.inner).parts = Some(text.to_owned());
    }

    pub(super) fn progress(&self) -> Progress {
        let lines = self.clone();
        Arc::new(move |event| {
            let line = locked(&lines.inner).take(event);
            if let Some(line) = line.filter(|_| !is_logged()) {
                eprintln!("{line}");
            }
        })
    }
}

impl Inner {
    fn new() -> Inner {
        Inner {
            began: Instant::now(),
            planned: None,
            done: 0,
            totals: Totals::default(),
            doing: "it begins".to_owned(),
            workers: BTreeMap::new(),
            parts: None,
        }
    }

    /// Notes what has happened; of an episode's end there is a line to print.
    fn take(&mut self, event: Event<'_>) -> Option<String> {
        match event {
            Event::Planned { episodes, done } => {
                (self.planned, self.done) = (Some(episodes), done);
            }
            Event::Opening => {
                self.doing = "opening the snapshots; what is new is indexed".to_owned()
            }
            Event::Indexing(at) => self.doing = at.to_string(),
            Event::Site(event) => {
                if let Some(warning) = event.warning() {
                    out::warn(&warning);
                } else if let Some(text) = event.words() {
                    tracing::info!("{text}");
                    self.doing = text;
                }
            }
            Event::BringingUp { worker } => {
                self.workers.insert(worker, "bringing up the world".to_owned());
            }
            Event::Started { worker, episode } => {
                self.workers.insert(worker, episode.to_string());
            }
            Event::Step { worker, episode, step, max_steps } => {
                self.workers.insert(worker, format!("{episode}, action {step} of {max_steps}"));
            }
            Event::Ended { worker, record, .. } => {
                self.workers.remove(&worker);
                self.totals.add(record);
                return Some(format!("[{}] {}", self.count(), ended(record)));
            }
            _ => {}
        }
        None
    }

    /// `3/12`: episodes that are there, of all.
    fn count(&self) -> String {
        let there = self.done + self.totals.episodes;
        self.planned.map_or_else(|| there.to_string(), |planned| format!("{there}/{planned}"))
    }

    /// All episodes in one line.
    fn summary(&self) -> String {
        let after = format!("after {} s", self.began.elapsed().as_secs());
        if self.planned.is_none() {
            return format!("{after}: {}", self.doing);
        }
        let workers: Vec<&str> = self.workers.values().take(NAMED).map(String::as_str).collect();
        let mut now = if workers.is_empty() {
            String::new()
        } else {
            format!("; now: {}", workers.join("; "))
        };
        if let Some(more @ 1..) = self.workers.len().checked_sub(NAMED) {
            now.push_str(&format!("; and {more} more"));
        }
        let parts = self.parts.as_ref().map(|parts| format!("; {parts}")).unwrap_or_default();
        format!("[{}] {after}: {}{parts}{now}", self.count(), self.totals.words())
    }
}

/// An episode that has ended, in one line.
fn ended(record: &EpisodeRecord) -> String {
    let came_to = match (&record.outcome, record.score) {
        (Outcome::Error { message }, _) => format!("error: {}", error_text::in_one_line(message)),
        (Outcome::AgentFailed { message, .. }, _) => {
            format!("the agent failed: {}", error_text::in_one_line(message))
        }
        (_, None) => "not judged yet".to_owned(),
        (Outcome::TimedOut, Some(score)) => format!("timed out, score {score:.2}"),
        (_, Some(score)) if record.success => format!("passed, score {score:.2}"),
        (_, Some(score)) => format!("failed, score {score:.2}"),
    };
    let (actions, seconds) = (counted(record.steps, "action"), record.wall_ms as f64 / 1000.0);
    format!("{} {came_to} ({actions}, {seconds:.1} s)", record.id())
}

/// Prints a line, or logs it where that is done.
fn print(line: &str) {
    if is_logged() {
        tracing::info!(target: PROGRESS, "{line}");
    } else {
        eprintln!("{line}");
    }
}

fn locked(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use results::EpisodeId;

    use super::*;

    fn record(repeat: u32, outcome: Outcome, score: Option<f64>) -> EpisodeRecord {
        let id = EpisodeId { task: "tea".to_owned(), repeat };
        let record = EpisodeRecord::new(&id, outcome, Timestamp::UNIX_EPOCH);
        EpisodeRecord { score, success: score == Some(1.0), steps: 3, wall_ms: 1250, ..record }
    }

    fn line(inner: &mut Inner, record: &EpisodeRecord) -> String {
        let episode = record.id();
        inner.take(Event::Ended { worker: 0, episode: &episode, record }).unwrap_or_default()
    }

    #[test]
    fn each_episode_has_a_line() {
        let mut inner = Inner::new();
        assert_eq!(inner.take(Event::Planned { episodes: 12, done: 2 }), None);
        let died = "failed to get an answer:\nTraceback\n  File\nValueError: x".to_owned();
        for (record, expected) in [
            (
                record(1, Outcome::Answered, Some(1.0)),
                "[3/12] tea-1 passed, score 1.00 (3 actions, 1.2 s)",
            ),
            (
                record(2, Outcome::MaxSteps, Some(0.5)),
                "[4/12] tea-2 failed, score 0.50 (3 actions, 1.2 s)",
            ),
            (
                record(3, Outcome::TimedOut, Some(0.0)),
                "[5/12] tea-3 timed out, score 0.00 (3 actions, 1.2 s)",
            ),
            (record(4, Outcome::Answered, None), "[6/12] tea-4 not judged yet (3 actions, 1.2 s)"),
            (
                record(5, Outcome::Error { message: died }, Some(0.0)),
                "[7/12] tea-5 error: failed to get an answer: … ValueError: x (3 actions, 1.2 s)",
            ),
        ] {
            assert_eq!(line(&mut inner, &record), expected);
        }
    }

    #[test]
    fn all_episodes_have_a_line_that_says_what_goes_on() {
        let mut inner = Inner::new();
        inner.take(Event::Opening);
        assert_eq!(inner.summary(), "after 0 s: opening the snapshots; what is new is indexed");
        inner.take(Event::Planned { episodes: 2, done: 0 });
        line(&mut inner, &record(1, Outcome::Answered, Some(1.0)));
        let episode = EpisodeId { task: "tea".to_owned(), repeat: 2 };
        inner.take(Event::Step { worker: 0, episode: &episode, step: 3, max_steps: 30 });
        let expected = "[1/2] after 0 s: score 1.00 · 1 passed; now: tea-2, action 3 of 30";
        assert_eq!(inner.summary(), expected);
        inner.parts = Some("parts: 20 on n1".to_owned());
        inner.workers = (0..18).map(|part| (part, format!("part {part}"))).collect();
        let summary = inner.summary();
        assert!(
            summary.starts_with(
                "[1/2] after 0 s: score 1.00 · 1 passed; parts: 20 on n1; now: part 0;"
            )
        );
        assert!(summary.ends_with("part 15; and 2 more"), "{summary}");
    }
}
