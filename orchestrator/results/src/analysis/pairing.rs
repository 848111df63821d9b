//! Compares the scores of two runs task by task: which is better, how certainly, and where.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use crate::analysis::statistics::{PairedDifference, mean, paired};
use crate::stored::{ModelUsage, RunFolder};
use crate::{Error, Summary};

/// Number of flips listed; others are counted.
const FLIPS: usize = 20;

/// The comparison of two runs over tasks with a score in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pairing {
    /// The first run.
    pub left: Side,
    /// The second.
    pub right: Side,
    /// Number of tasks compared.
    pub tasks: usize,
    /// The second mean minus the first; absent if no task is compared.
    pub difference: Option<PairedDifference>,
    /// Tasks whose score differs, the largest gains of the second run first.
    pub flips: Vec<Flip>,
    /// Tasks that are missing or unjudged in one of the runs.
    pub left_out: Vec<String>,
    /// Whether the suites differ.
    pub different_suites: bool,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The run's folder.
    pub folder: Utf8PathBuf,
    /// Its agent.
    pub agent: String,
    /// The agent's models, by their names at the servers. Absent if no model was used or recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The judge's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Mean over the compared tasks.
    pub score: Option<f64>,
    /// Number of compared tasks that passed in every repeat.
    pub passed: usize,
}

/// A task whose score differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    /// Its id.
    pub task: String,
    /// Its score in the first run.
    pub left: f64,
    /// Its score in the second run.
    pub right: f64,
}

/// Compares two runs task by task. The score of a task is the mean over its repeats.
///
/// # Errors
/// When a run cannot be read, or no task is in both.
pub fn pair(left: &Utf8Path, right: &Utf8Path) -> Result<Pairing, Error> {
    let suites =
        [RunFolder::open(left)?.run()?.suite_digest, RunFolder::open(right)?.run()?.suite_digest];
    let (ours, theirs) = (Summary::read(left)?, Summary::read(right)?);
    let scores = |summary: &Summary| -> BTreeMap<String, (Option<f64>, bool)> {
        summary.tasks.iter().map(|task| (task.task.clone(), (task.score, task.passed))).collect()
    };
    let (a, b) = (scores(&ours), scores(&theirs));
    let score = |of: &BTreeMap<String, (Option<f64>, bool)>, task: &str| {
        of.get(task).and_then(|(score, _)| *score)
    };
    if !a.keys().any(|task| b.contains_key(task)) {
        return Err(Error::NothingInCommon {
            left: left.to_owned(),
            right: right.to_owned(),
            left_suite: ours.suite,
            right_suite: theirs.suite,
        });
    }
    let all: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    // A task without a score on one side is named, not counted as 0.
    let (mut flips, mut left_out) = (Vec::new(), Vec::new());
    for task in all {
        match (score(&a, task), score(&b, task)) {
            (Some(left), Some(right)) => flips.push(Flip { task: task.clone(), left, right }),
            _ => left_out.push(task.clone()),
        }
    }
    let differences: Vec<f64> = flips.iter().map(Flip::gain).collect();
    let passed = |of: &BTreeMap<String, (Option<f64>, bool)>| {
        flips.iter().filter(|flip| of.get(&flip.task).is_some_and(|(_, passed)| *passed)).count()
    };
    let side = |summary: &Summary, of, scores: Vec<f64>| Side {
        folder: summary.folder.clone(),
        agent: summary.agent.clone(),
        model: summary.models.as_ref().and_then(ModelUsage::named),
        judge: summary.judging.as_ref().and_then(ModelUsage::named),
        score: mean(&scores),
        passed: passed(of),
    };
    let left = side(&ours, &a, flips.iter().map(|flip| flip.left).collect());
    let right = side(&theirs, &b, flips.iter().map(|flip| flip.right).collect());
    let tasks = flips.len();
    flips.retain(|flip| flip.left != flip.right);
    flips.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
    let difference = paired(&differences);
    Ok(Pairing {
        left,
        right,
        tasks,
        difference,
        flips,
        left_out,
        different_suites: suites[0] != suites[1],
    })
}

impl Flip {
    fn gain(&self) -> f64 {
        self.right - self.left
    }
}

impl fmt::Display for Pairing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.different_suites {
            writeln!(f, "the suites are not the same: their tasks, worlds or snapshots differ")?;
        }
        for Side { folder, agent, model, judge, score, passed } in [&self.left, &self.right] {
            let score = score.map_or("-".to_owned(), |score| format!("{score:.2}"));
            let model = model.as_ref().map_or_else(String::new, |model| format!(" with {model}"));
            let judge =
                judge.as_ref().map_or_else(String::new, |judge| format!(", judged by {judge}"));
            writeln!(
                f,
                "{score}, {passed}/{} tasks passed: {agent}{model}{judge} in {folder}",
                self.tasks
            )?;
        }
        if let Some(PairedDifference { mean, interval, p }) = self.difference {
            let (low, high) = (interval.low, interval.high);
            writeln!(
                f,
                "difference {mean:+.3}, 95 % interval {low:+.3} to {high:+.3}, p {p:.3}, paired over tasks"
            )?;
        }
        for Flip { task, left, right } in self.flips.iter().take(FLIPS) {
            writeln!(
                f,
                "{}  {left:.2} to {right:.2}  {task}",
                if right > left { "gained" } else { "lost  " }
            )?;
        }
        if self.flips.len() > FLIPS {
            writeln!(f, "and {} other tasks", self.flips.len() - FLIPS)?;
        }
        if !self.left_out.is_empty() {
            writeln!(f, "not in both, or not judged: {}", self.left_out.join(", "))?;
        }
        Ok(())
    }
}
