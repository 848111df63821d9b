//! `sandbox env`: one episode for a program of anybody's.

mod program;

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use runs::attach::{self, AttachedSession};
use runs::results::{EpisodeRecord, Outcome as Ended};
use runs::{Event, Options, Progress};
use serde::Serialize;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::{daemon, interrupt, progress, tasks};

/// How long a command may take unless told otherwise, in seconds.
const WITHIN: u64 = 600;

/// Prepare an episode, let any program drive it, and score what it leaves
///
/// Brings up the task's world with a Chromium on the start page, and prints one line of JSON: task, goal, start_url, cdp, proxy, ca,
/// clock, seed and answer_file. `cdp` is what Playwright's connect_over_cdp, Puppeteer's browserURL and, without the http://,
/// Selenium's debuggerAddress take; the first context is logged in and has the start page open. Clocks start at the world's and run on,
/// randomness is seeded, and nothing but the world is reached.
///
/// With a COMMAND, that gets the same facts as SANDBOX_TASK, SANDBOX_GOAL, SANDBOX_START_URL,
/// SANDBOX_CDP, SANDBOX_PROXY, SANDBOX_CA, SANDBOX_CLOCK, SANDBOX_SEED and SANDBOX_ANSWER_FILE, and
/// the episode ends when it ends; what it prints goes to standard error. It is your own program and
/// has your whole environment besides; the browser has none of it. Without one, it ends with a line
/// on standard input, its end, or Ctrl-C.
///
/// The answer is what the answer file holds, or that line; `report_infeasible("why")` says that the goal cannot be reached. Then the
/// task's scorer judges as in a run: by the addresses that tabs came to, the state of the sites and the answer. What is done to single
/// elements is not seen, so key nodes of element values are not reached. A second line of JSON has what came of it. Exit code 1: the command failed, or time ran out.
#[derive(clap::Args)]
pub(crate) struct Env {
    /// A folder with a suite.yaml
    suite: Utf8PathBuf,
    /// The task's id; `sandbox tasks list SUITE` has them
    task: String,
    /// Folder for the results [default: runs/SUITE-env-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
    /// How long all of it may take, in seconds; then the command is killed [default: 600 with a COMMAND, else for ever]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    within: Option<u64>,
    /// Show the browser in a window, for a person to drive or to watch
    #[arg(long)]
    headed: bool,
    /// Fail (exit code 1) when the task was not done entirely, too
    #[arg(long)]
    check: bool,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    data: DataFolder,
}

/// The line that ends it.
#[derive(Serialize)]
struct Result<'a> {
    /// The folder of the results.
    run: &'a Utf8Path,
    #[serde(flatten)]
    record: &'a EpisodeRecord,
}

impl Env {
    /// Plays the attached episode, and prints its result.
    pub(crate) async fn run(self) -> Outcome {
        let suite = tasks::load(&self.suite)?;
        let options = Options {
            out: self.out.clone(),
            headed: self.headed,
            index_cache: Some(self.data.indexes()?),
            town: Some(self.data.town()?),
            helper: crate::confined::helper(),
            ..Options::default()
        };
        let name = if self.command.is_empty() {
            "env".to_owned()
        } else {
            format!("env:{}", self.command.join(" "))
        };
        let stop = interrupt::token();
        let bar = progress::spinner("bringing up the world");
        let shown = bar.clone();
        let told: Progress = Arc::new(move |event| {
            if let Event::Site(event) = event
                && let Some(text) = daemon::told(event)
            {
                shown.set_message(text);
            }
        });
        let within = self.within.or((!self.command.is_empty()).then_some(WITHIN)).map(Duration::from_secs);
        let (command, cancel) = (&self.command, &stop);
        let program = |facts: AttachedSession| async move {
            bar.finish_and_clear();
            println!("{}", json(&facts));
            if command.is_empty() {
                guide(&facts, self.headed);
                program::person(within, cancel).await
            } else {
                program::command(command, &facts, within, cancel).await
            }
        };
        let played = attach::play_attached(&suite, &self.task, &name, &options, &stop, &told, program).await;
        let Some((run, record)) = played? else {
            return Err(Failure::Interrupted("interrupted; nothing of the episode is kept".to_owned()));
        };
        let report = runs::report::write(run.path()).or_environment("write the report")?;
        println!("{}", json(&Result { run: run.path(), record: &record }));
        eprintln!("{}, {}; report {report}", worth(&record), told_of(&record));
        self.verdict(&record)
    }

    fn verdict(&self, record: &EpisodeRecord) -> Outcome {
        match &record.outcome {
            Ended::Error { message } => Err(Failure::No(message.clone())),
            Ended::TimedOut => {
                Err(Failure::No("the program did not end in time; --within sets its limit".to_owned()))
            }
            _ if self.check && !record.success => {
                Err(Failure::No(format!("the task is not solved: {}", worth(record))))
            }
            _ => Ok(()),
        }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("facts and records are plain data")
}

/// Says to a person what to do now.
fn guide(facts: &AttachedSession, headed: bool) {
    let place = if headed { "in its window" } else { "there" };
    eprintln!(
        "goal      {}\nbrowser   {}\ngateway   {}\n\nDrive the browser {place}. Then write the answer here, or nothing, and press Enter.",
        facts.goal, facts.cdp, facts.proxy
    );
}

fn worth(record: &EpisodeRecord) -> String {
    record.score.map_or_else(|| "not judged yet".to_owned(), |score| format!("score {score:.2}"))
}

fn told_of(record: &EpisodeRecord) -> String {
    let mut told = record.outcome.kind().replace('_', " ");
    if !record.misses.is_empty() {
        told.push_str(&format!(", {} misses", record.misses.len()));
    }
    if !record.refused_hosts.is_empty() {
        let hosts: Vec<&str> = record.refused_hosts.iter().map(String::as_str).collect();
        told.push_str(&format!(", refused {}", hosts.join(", ")));
    }
    told
}
