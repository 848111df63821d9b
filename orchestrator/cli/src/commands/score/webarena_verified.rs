//! `sandbox score webarena-verified`: the folders of a run, each named after its task.

use camino::Utf8PathBuf;
use play::{TraceScores, score_traces};
use results::counted;
use scoring::webarena_verified::Status;

use crate::failure::{Failure, Outcome};
use crate::terminal::out;

/// WebArena-Verified: score the answers and network traces of a run as its package does
///
/// A run is a folder that has a folder for each task, named after its number, with
/// `agent_response.json` and `network.har`. This is the layout of the package's own commands. Tasks
/// without a folder are left out. A folder that lacks a file is named, and not scored.
#[derive(clap::Args)]
pub(super) struct SavedRuns {
    /// File of tasks, `webarena-verified.json`
    dataset: Utf8PathBuf,
    /// Folder with the folders of tasks
    #[arg(long, value_name = "FOLDER")]
    runs: Utf8PathBuf,
    /// The package's configuration with the addresses of the sites [default: the addresses in the
    /// traces]
    #[arg(long, value_name = "FILE")]
    config: Option<Utf8PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl SavedRuns {
    /// Exit code 0 when all tasks that are there were scored, whatever their scores.
    pub(super) fn run(self) -> Outcome {
        let scores = score_traces(&self.dataset, &self.runs, self.config.as_deref());
        let scores = scores.map_err(Failure::input)?;
        if self.json {
            out::json(&scores);
        } else {
            print(&scores);
        }
        Ok(())
    }
}

fn print(report: &TraceScores) {
    println!("{:>6}  {:>5}  {:7}  what is wrong", "task", "score", "status");
    for result in &report.results {
        let status = match result.status {
            Status::Success => "success",
            Status::Failure => "failure",
            Status::Error => "error",
        };
        let wrong = result.wrong().next().unwrap_or_default().lines().next().unwrap_or_default();
        println!("{:>6}  {:>5}  {status:7}  {wrong}", result.task_id, result.score);
    }
    let TraceScores { tasks, success, failure, error, skipped, .. } = report;
    eprintln!("{}: {success} success, {failure} failure, {error} error", counted(tasks, "task"));
    for task in skipped {
        out::warn(&format!("task {task} is not scored: its folder lacks a file"));
    }
}
