//! WebArena-Verified: the folders of a run, each named after its task, with the answer and the
//! network trace as the benchmark's own package writes them.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use scoring::webarena_verified::{
    Config, DatasetError, Run, Status, Task, TaskResult, evaluate, read,
};
use serde::Serialize;
use thiserror::Error;

/// An error in scoring the folders of a run.
#[derive(Debug, Error)]
pub enum TracesError {
    /// A file or folder cannot be read.
    #[error("{doing}: {path}: {source}")]
    Read {
        /// The reason for reading it, as a verb, for the message.
        doing: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is no configuration.
    #[error("read {path}: {source}")]
    Config {
        /// The file.
        path: Utf8PathBuf,
        /// The cause, with its place in the file.
        source: serde_json::Error,
    },
    /// A file has no tasks of the benchmark.
    #[error("read {path}: {source}")]
    Dataset {
        /// The file.
        path: Utf8PathBuf,
        /// The cause.
        source: DatasetError,
    },
    /// An entry of the run's folder cannot be read.
    #[error("read the run: {source}")]
    Entry {
        /// The cause.
        source: std::io::Error,
    },
    /// A folder of the run has the name of no task.
    #[error("score {folder}: {dataset} has no task {number}")]
    NoTask {
        /// The folder.
        folder: Utf8PathBuf,
        /// The file of tasks.
        dataset: Utf8PathBuf,
        /// The number.
        number: i64,
    },
    /// There is nothing to score.
    #[error("score {runs}: no folder of a task in it has both files")]
    Nothing {
        /// The folder of the run.
        runs: Utf8PathBuf,
    },
}

/// The scores of a run.
#[derive(Debug, Default, Serialize)]
pub struct TraceScores {
    /// The number of tasks that were scored.
    pub tasks: usize,
    /// The number of those that succeeded.
    pub success: usize,
    /// The number of those that failed.
    pub failure: usize,
    /// The number of those that could not be judged.
    pub error: usize,
    /// Folders of tasks that lack a file.
    pub skipped: Vec<i64>,
    /// In the order of the tasks.
    pub results: Vec<TaskResult>,
}

/// Scores the folders of a run by a file of tasks. Without a configuration, each folder's own
/// counts.
///
/// # Errors
/// When something cannot be read, is none of the benchmark, or there is nothing to score.
pub fn score_traces(
    dataset: &Utf8Path,
    runs: &Utf8Path,
    config: Option<&Utf8Path>,
) -> Result<TraceScores, TracesError> {
    let tasks = read(&read_text(dataset, "read the tasks")?)
        .map_err(|source| TracesError::Dataset { path: dataset.to_owned(), source })?;
    let config = config.map(read_config).transpose()?;
    let mut scores = TraceScores::default();
    for (number, folder) in folders(runs)? {
        let Some(task) = tasks.iter().find(|task| task.task_id == number) else {
            return Err(TracesError::NoTask { folder, dataset: dataset.to_owned(), number });
        };
        match score_folder(task, &folder, config.as_ref())? {
            Some(result) => scores.add(result),
            None => scores.skipped.push(number),
        }
    }
    if scores.tasks == 0 {
        return Err(TracesError::Nothing { runs: runs.to_owned() });
    }
    Ok(scores)
}

/// Returns the score of one folder; none if it lacks a file.
fn score_folder(
    task: &Task,
    folder: &Utf8Path,
    config: Option<&Config>,
) -> Result<Option<TaskResult>, TracesError> {
    // A run may have been made elsewhere, and says so.
    let own = folder.join("run_config.json");
    let of_run = if config.is_none() && own.is_file() { Some(read_config(&own)?) } else { None };
    let default = Config::default();
    let config = config.or(of_run.as_ref()).unwrap_or(&default);
    let answer = folder.join(&config.agent_response_file_name);
    let network = folder.join(&config.trace_file_name);
    if !answer.is_file() || !network.is_file() {
        return Ok(None);
    }
    let bytes = |file: &Utf8Path| fs::read(file).map_err(cannot_read("read a run", file));
    let (answer, network) = (bytes(&answer)?, bytes(&network)?);
    Ok(Some(evaluate(task, config, &Run { agent_response: &answer, network: &network })))
}

impl TraceScores {
    fn add(&mut self, result: TaskResult) {
        self.tasks += 1;
        match result.status {
            Status::Success => self.success += 1,
            Status::Failure => self.failure += 1,
            Status::Error => self.error += 1,
        }
        self.results.push(result);
    }
}

/// Returns the folders of tasks with their numbers, in the order of the tasks.
fn folders(runs: &Utf8Path) -> Result<Vec<(i64, Utf8PathBuf)>, TracesError> {
    let entries = runs.read_dir_utf8().map_err(cannot_read("read the run", runs))?;
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| TracesError::Entry { source })?.into_path();
        let number = path.file_name().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if let Some(number) = number.and_then(|name| name.parse().ok()).filter(|_| path.is_dir()) {
            folders.push((number, path));
        }
    }
    folders.sort();
    Ok(folders)
}

fn read_config(path: &Utf8Path) -> Result<Config, TracesError> {
    Config::read(&read_text(path, "read the configuration")?)
        .map_err(|source| TracesError::Config { path: path.to_owned(), source })
}

fn read_text(path: &Utf8Path, doing: &'static str) -> Result<String, TracesError> {
    fs::read_to_string(path).map_err(cannot_read(doing, path))
}

fn cannot_read(doing: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> TracesError {
    let path = path.to_owned();
    move |source| TracesError::Read { doing, path, source }
}
