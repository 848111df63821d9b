//! `sandbox score webarena-verified`: the folders of a run, each named after its task.

use std::fs;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use results::counted;
use scoring::webarena_verified::{self, Config, Run, Status, Task, TaskResult};
use serde::Serialize;

use crate::failure::{Failure, OrFail, Outcome};
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

#[derive(Serialize)]
struct Report {
    tasks: usize,
    success: usize,
    failure: usize,
    error: usize,
    /// Folders of tasks that lack a file.
    skipped: Vec<i64>,
    results: Vec<TaskResult>,
}

impl SavedRuns {
    /// Exit code 0 when all tasks that are there were scored, whatever their scores.
    pub(super) fn run(self) -> Outcome {
        let tasks = webarena_verified::read(&read_text(&self.dataset)?)
            .map_err(|error| at(&self.dataset, error))?;
        let config = match &self.config {
            Some(file) => Some(read_config(file)?),
            None => None,
        };
        let report = self.score(&tasks, config.as_ref())?;
        if self.json {
            out::json(&report);
        } else {
            print(&report);
        }
        Ok(())
    }

    fn score(&self, tasks: &[Task], config: Option<&Config>) -> Result<Report, Failure> {
        let mut report = Report {
            tasks: 0,
            success: 0,
            failure: 0,
            error: 0,
            skipped: Vec::new(),
            results: Vec::new(),
        };
        for (number, folder) in self.folders()? {
            let Some(task) = tasks.iter().find(|task| task.task_id == number) else {
                return Err(Failure::Input(format!(
                    "failed to score {folder}: {} has no task {number}",
                    self.dataset
                )));
            };
            // A run may have been made elsewhere, and says so.
            let own = folder.join("run_config.json");
            let of_run =
                if config.is_none() && own.is_file() { Some(read_config(&own)?) } else { None };
            let default = Config::default();
            let config = config.or(of_run.as_ref()).unwrap_or(&default);
            let answer = folder.join(&config.agent_response_file_name);
            let network = folder.join(&config.trace_file_name);
            if !answer.is_file() || !network.is_file() {
                report.skipped.push(number);
                continue;
            }
            let (answer, network) = (read(&answer)?, read(&network)?);
            let run = Run { agent_response: &answer, network: &network };
            let result = webarena_verified::evaluate(task, config, &run);
            report.tasks += 1;
            match result.status {
                Status::Success => report.success += 1,
                Status::Failure => report.failure += 1,
                Status::Error => report.error += 1,
            }
            report.results.push(result);
        }
        if report.tasks == 0 {
            return Err(Failure::Input(format!(
                "failed to score {}: no folder of a task in it has both files",
                self.runs
            )));
        }
        Ok(report)
    }

    /// In order of the tasks.
    fn folders(&self) -> Result<Vec<(i64, Utf8PathBuf)>, Failure> {
        let entries = self
            .runs
            .read_dir_utf8()
            .with_context(|| self.runs.to_string())
            .or_input("read the run")?;
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry.or_input("read the run")?.into_path();
            let number = path.file_name().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
            if let Some(number) =
                number.and_then(|name| name.parse().ok()).filter(|_| path.is_dir())
            {
                folders.push((number, path));
            }
        }
        folders.sort();
        Ok(folders)
    }
}

fn print(report: &Report) {
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
    let Report { tasks, success, failure, error, skipped, .. } = report;
    eprintln!("{}: {success} success, {failure} failure, {error} error", counted(tasks, "task"));
    for task in skipped {
        out::warn(&format!("task {task} is not scored: its folder lacks a file"));
    }
}

fn read(file: &Utf8Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).with_context(|| file.to_string()).or_input("read a run")
}

fn read_text(file: &Utf8Path) -> Result<String, Failure> {
    fs::read_to_string(file).with_context(|| file.to_string()).or_input("read the tasks")
}

fn read_config(file: &Utf8Path) -> Result<Config, Failure> {
    let text = fs::read_to_string(file)
        .with_context(|| file.to_string())
        .or_input("read the configuration")?;
    Config::read(&text).map_err(|error| at(file, error))
}

fn at(file: &Utf8Path, error: impl Into<anyhow::Error>) -> Failure {
    Failure::input(error.into().context(format!("read {file}")))
}
