//! `sandbox tasks check`: whether the tasks of a suite can be solved, and their scorers tell wrong
//! solutions.

use agents::AgentSpec;
use camino::{Utf8Path, Utf8PathBuf};
use results::{Summary, TaskSummary, counted};
use runs::Options;
use runs::consent::Agreed;
use tasks::{Suite, Task};

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::terminal::board::Board;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::trust::{SiteVariables, Trust};

/// Play the solution of every task in its world, and its wrong solution if it has one
///
/// Prints the tasks whose solution fails, and those whose wrong solution has a score. Exit code 1
/// if there are any.
#[derive(clap::Args)]
pub(super) struct Check {
    /// Folder with a suite.yaml
    suite: Utf8PathBuf,
    /// Check only this task; can be repeated
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// Parallel episodes, each with its own browser and gateway
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: usize,
    /// Folder for the results of both runs [default: a temporary folder, kept only if there are
    /// problems]
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<Utf8PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    variables: SiteVariables,
    #[command(flatten)]
    data: DataFolder,
}

/// What is wrong with a task.
#[derive(serde::Serialize)]
struct Finding {
    task: String,
    wrong: String,
}

/// What is wrong with a solution that is to earn so much; nothing where it does.
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

impl Check {
    pub(super) async fn run(self) -> Outcome {
        let mut suite = super::load_undated(&self.suite)?;
        let agreed =
            self.trust.agree_to_suite(&mut suite, &self.tasks, &self.variables, &self.data)?;
        let temporary = processes::temporary::new("check-");
        let temporary = temporary.or_environment("make a folder for the results")?;
        let own = Utf8Path::from_path(temporary.path()).map(Utf8Path::to_owned);
        let out = self.output.clone().or(own).ok_or_else(|| {
            Failure::Environment(
                "failed to use the folder for temporary files: its name is not UTF-8; set TMPDIR"
                    .to_owned(),
            )
        })?;
        let chosen = |task: &&Task| self.tasks.is_empty() || self.tasks.contains(&task.id);
        let with = |has: fn(&Task) -> bool| -> Vec<String> {
            suite
                .tasks
                .iter()
                .filter(chosen)
                .filter(|task| has(task))
                .map(|task| task.id.clone())
                .collect()
        };
        for id in &self.tasks {
            suite.task(id).or_input("check a task")?;
        }
        let mut findings: Vec<Finding> = with(|task| task.oracle.is_empty())
            .into_iter()
            .map(|task| Finding { task, wrong: "nobody has written down a solution".to_owned() })
            .collect();
        let (solved, negative) =
            (with(|task| !task.oracle.is_empty()), with(|task| !task.wrong_solution.is_empty()));
        let oracle =
            self.play(&suite, &AgentSpec::Oracle, &solved, &agreed, &out.join("oracle")).await?;
        let wrong = self
            .play(&suite, &AgentSpec::Negative, &negative, &agreed, &out.join("negative"))
            .await?;
        for (summary, wanted, what) in
            [(&oracle, 1.0, "its solution"), (&wrong, 0.0, "its wrong solution")]
        {
            for task in summary.iter().flat_map(|summary| &summary.tasks) {
                if let Some(wrong) = wrong_with(task, wanted) {
                    findings.push(Finding {
                        task: task.task.clone(),
                        wrong: format!("{what} {wrong}"),
                    });
                }
            }
        }
        self.tell(&findings, solved.len(), negative.len());
        if findings.is_empty() {
            return Ok(());
        }
        let mut no = match findings.len() {
            1 => "the suite has 1 problem".to_owned(),
            more => format!("the suite has {more} problems"),
        };
        if oracle.is_some() || wrong.is_some() {
            no.push_str(&format!("; the episodes are in {out}"));
            if self.output.is_none() {
                let _ = temporary.keep();
            }
        }
        Err(Failure::Negative(no))
    }

    /// Plays some tasks once; nothing where there are none.
    async fn play(
        &self,
        suite: &Suite,
        agent: &AgentSpec,
        tasks: &[String],
        agreed: &Agreed,
        out: &Utf8Path,
    ) -> Result<Option<Summary>, Failure> {
        if tasks.is_empty() {
            return Ok(None);
        }
        let options = Options {
            out: Some(out.to_owned()),
            workers: self.workers,
            tasks: tasks.to_vec(),
            agreed: agreed.clone(),
            site_variables: self.variables.given.clone(),
            index_cache: Some(self.data.indexes()?),
            town: Some(self.data.town()?),
            helper: crate::commands::keep::helper(),
            confinement: crate::options::confinement::by_default(&self.data)?,
            ..Options::default()
        };
        let board = Board::new();
        let outcome = runs::run(suite, agent, &options, interrupt::token(), board.progress()).await;
        board.clear();
        let summary = outcome?;
        if !summary.is_complete() {
            return Err(Failure::Interrupted("interrupted; nothing is kept".to_owned()));
        }
        results::report::write(&summary.folder).or_environment("write the report")?;
        Ok(Some(summary))
    }

    fn tell(&self, findings: &[Finding], solved: usize, negative: usize) {
        if self.json {
            let report = serde_json::json!({ "solutions": solved, "wrong_solutions": negative, "findings": findings });
            out::json(&report);
            return;
        }
        for Finding { task, wrong } in findings {
            println!("{task}: {wrong}");
        }
        let (solved, negative) = (counted(solved, "solution"), counted(negative, "wrong solution"));
        println!("played {solved} and {negative}");
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
