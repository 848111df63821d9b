//! Checks that the tasks of a suite can be solved: their solutions are played and have to earn
//! everything, their wrong solutions have to earn nothing.

use agents::AgentSpec;
use camino::Utf8Path;
use results::{Summary, TaskSummary};
use serde::Serialize;
use tasks::{Suite, Task};
use tokio_util::sync::CancellationToken;

use crate::{Error, Options, Progress};

/// A problem of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The task.
    pub task: String,
    /// The problem, in words.
    pub wrong: String,
}

/// The tasks whose solutions are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solutions {
    /// Ids of those with a solution.
    pub solved: Vec<String>,
    /// Ids of those with a wrong solution.
    pub wrong: Vec<String>,
    /// The tasks without a solution, as findings.
    pub findings: Vec<Finding>,
}

impl Solutions {
    /// Selects from these tasks of a suite; from all if none is given.
    pub fn of(suite: &Suite, ids: &[String]) -> Solutions {
        let with = |has: fn(&Task) -> bool| -> Vec<String> {
            let tasks = suite.tasks.iter();
            let chosen = tasks.filter(|task| ids.is_empty() || ids.contains(&task.id));
            chosen.filter(|task| has(task)).map(|task| task.id.clone()).collect()
        };
        let unsolved = with(|task| task.oracle.is_empty()).into_iter();
        let findings = unsolved
            .map(|task| Finding { task, wrong: "nobody has written down a solution".to_owned() });
        Solutions {
            findings: findings.collect(),
            solved: with(|task| !task.oracle.is_empty()),
            wrong: with(|task| !task.wrong_solution.is_empty()),
        }
    }
}

/// Plays some tasks once, by an agent that replays what they have written down; nothing if there
/// are none. If it was interrupted, the summary is not complete.
///
/// # Errors
/// As [`run()`](crate::run()).
pub async fn play_once(
    suite: &Suite,
    agent: &AgentSpec,
    tasks: &[String],
    out: &Utf8Path,
    options: &Options,
    stop: CancellationToken,
    progress: Progress,
) -> Result<Option<Summary>, Error> {
    if tasks.is_empty() {
        return Ok(None);
    }
    let (out, tasks) = (Some(out.to_owned()), tasks.to_vec());
    let options = Options { out, tasks, ..options.clone() };
    crate::run(suite, agent, &options, stop, progress).await.map(Some)
}

/// Returns the problems of solutions and wrong solutions that were played.
pub fn findings(solved: Option<&Summary>, wrong: Option<&Summary>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (summary, wanted, what) in
        [(solved, 1.0, "its solution"), (wrong, 0.0, "its wrong solution")]
    {
        for task in summary.iter().flat_map(|summary| &summary.tasks) {
            if let Some(wrong) = wrong_with(task, wanted) {
                let wrong = format!("{what} {wrong}");
                findings.push(Finding { task: task.task.clone(), wrong });
            }
        }
    }
    findings
}

/// Returns the problem of a solution that should earn `wanted`; none if it does.
fn wrong_with(task: &TaskSummary, wanted: f64) -> Option<String> {
    let ended = |outcome: &str| task.outcomes.contains_key(outcome);
    match task.score {
        _ if ended("error") || ended("timed_out") => Some("did not come to an end".to_owned()),
        // A scorer that breaks down on a solution has not found it wrong.
        _ if ended("agent_failed") => Some("ended in `agent_failed`, without a score".to_owned()),
        Some(score) if (score - wanted).abs() < 1e-9 => None,
        Some(score) => Some(format!("earns {score:.2}")),
        None if task.unjudged > 0 => Some("waits for a judge".to_owned()),
        None => Some("was not played".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(outcome: &'static str, score: Option<f64>) -> TaskSummary {
        TaskSummary {
            task: "a".to_owned(),
            episodes: 1,
            score,
            variance: None,
            unjudged: usize::from(score.is_none()),
            passed: false,
            outcomes: [(outcome, 1)].into(),
            fingerprints: Vec::new(),
            steps: 1.0,
            requests: Default::default(),
            wall_ms: 1,
        }
    }

    #[test]
    fn a_wrong_solution_is_found_wrong_by_its_scorer_or_not_at_all() {
        assert_eq!(wrong_with(&task("answered", Some(0.0)), 0.0), None);
        assert_eq!(wrong_with(&task("answered", Some(1.0)), 1.0), None);
        for (outcome, score, wrong) in [
            ("answered", Some(0.5), "earns 0.50"),
            ("answered", None, "waits for a judge"),
            ("error", Some(0.0), "did not come to an end"),
            ("timed_out", Some(0.0), "did not come to an end"),
            ("agent_failed", Some(0.0), "ended in `agent_failed`, without a score"),
        ] {
            assert_eq!(wrong_with(&task(outcome, score), 0.0).as_deref(), Some(wrong), "{outcome}");
        }
    }
}
