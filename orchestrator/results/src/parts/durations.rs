//! The durations of episodes in an earlier run, which balance the parts of the next.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::Error;
use crate::stored::{Outcome, RunFolder, RunRecord};

/// Mean durations of tasks in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Durations {
    /// The folder of the run.
    pub run: Utf8PathBuf,
    /// Milliseconds by task.
    by_task: BTreeMap<String, f64>,
}

impl Durations {
    /// Those of the episodes of a run that did not end in an error.
    ///
    /// # Errors
    /// When the run cannot be read.
    pub fn read(run: &Utf8Path) -> Result<Durations, Error> {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for episode in RunFolder::open(run)?.episodes()? {
            if !matches!(episode.outcome, Outcome::Error { .. }) {
                let (sum, count) = sums.entry(episode.task).or_default();
                *sum += episode.wall_ms as f64;
                *count += 1.0;
            }
        }
        let by_task = sums.into_iter().map(|(task, (sum, count))| (task, sum / count)).collect();
        Ok(Durations { run: run.to_owned(), by_task })
    }

    /// Those of the newest run beside this one with the same suite and agent. What cannot be read
    /// is passed over: durations only balance the parts.
    pub fn of_earlier(run: &RunFolder) -> Option<Durations> {
        let record = run.run().ok()?;
        let beside = run.path().parent().filter(|parent| !parent.as_str().is_empty());
        let folders =
            beside.unwrap_or(Utf8Path::new(".")).read_dir_utf8().ok()?.filter_map(Result::ok);
        let mut earlier: Vec<(Timestamp, Utf8PathBuf)> = folders
            .filter_map(|entry| Some((started(entry.path(), &record)?, entry.into_path())))
            .filter(|(_, path)| path != run.path())
            .collect();
        earlier.sort();
        let read = earlier.into_iter().rev().filter_map(|(_, path)| Durations::read(&path).ok());
        read.into_iter().find(|durations| !durations.by_task.is_empty())
    }

    /// The mean duration of a task in milliseconds.
    pub fn of(&self, task: &str) -> Option<f64> {
        self.by_task.get(task).copied()
    }

    /// The mean over the tasks, for those that the run did not have.
    pub fn mean(&self) -> f64 {
        self.by_task.values().sum::<f64>() / self.by_task.len().max(1) as f64
    }
}

/// Returns when a run of the same suite and agent began; none for any other folder.
fn started(path: &Utf8Path, record: &RunRecord) -> Option<Timestamp> {
    let other = RunFolder::open(path).ok()?.run().ok()?;
    (other.suite == record.suite && other.agent == record.agent).then_some(other.started)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stored::{EpisodeId, EpisodeRecord};

    fn run(path: &Utf8Path, started: i64, durations: &[(&str, u64)]) -> RunFolder {
        let started = Timestamp::from_second(started).unwrap();
        let record =
            RunRecord::new("town", "digest".to_owned(), "oracle".to_owned(), 1, Vec::new());
        let folder = RunFolder::create(path, &RunRecord { started, ..record }).unwrap();
        for (repeat, (task, wall_ms)) in durations.iter().enumerate() {
            let id = EpisodeId { task: (*task).to_owned(), repeat: repeat as u32 + 1 };
            let record = EpisodeRecord::new(&id, Outcome::Answered, started);
            let record = EpisodeRecord { wall_ms: *wall_ms, ..record };
            folder.keep(folder.begin_episode(&id).unwrap(), &record, &[], &[]).unwrap();
        }
        folder
    }

    #[test]
    fn the_newest_run_beside_it_that_has_any_is_taken() {
        let temporary = tempfile::tempdir().unwrap();
        let runs = Utf8Path::from_path(temporary.path()).unwrap();
        run(&runs.join("first"), 10, &[("a", 1_000)]);
        run(&runs.join("second"), 20, &[("a", 100), ("a", 300), ("b", 600)]);
        run(&runs.join("stopped"), 30, &[]);
        std::fs::create_dir(runs.join("other")).unwrap();
        let this = run(&runs.join("this"), 40, &[]);
        let durations = Durations::of_earlier(&this).unwrap();
        assert_eq!(durations.run, runs.join("second"));
        assert_eq!(
            (durations.of("a"), durations.of("b"), durations.of("c")),
            (Some(200.0), Some(600.0), None)
        );
        assert_eq!(durations.mean(), 400.0);
        let alone = run(&runs.join("other/alone"), 50, &[]);
        assert_eq!(Durations::of_earlier(&alone), None);
    }
}
