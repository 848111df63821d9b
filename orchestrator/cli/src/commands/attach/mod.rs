//! `sandbox attach`: one episode that another program drives.

pub(crate) mod program;

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use play::Options;
use play::attach::{self, AttachedProgram, AttachedSession};
use processes::confine::Confined;
use results::{EpisodeRecord, Outcome as Ended};
use serde::Serialize;

use crate::commands::daemon;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::confinement::{self, Confine};
use crate::options::units;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;
use crate::trust::{SiteVariables, Trust};

/// How long a command may take unless told otherwise.
const WITHIN: Duration = Duration::from_secs(600);

/// Start an episode, let any program drive its browser, and score the result
///
/// Starts the task's world and a Chromium on the start page. Prints one line of JSON: task, goal,
/// start_url, cdp, ws, clock, seed and answer_file. Playwright's connect_over_cdp takes `cdp`, and
/// Puppeteer's browserWSEndpoint takes `ws`. With --webdriver there is `webdriver`, too: the
/// address of a WebDriver server for Selenium. The first context is logged in and has the start
/// page open. Clocks start at the world's time and run on. Randomness is seeded. Only the world can
/// be reached.
///
/// A COMMAND gets the same facts as SANDBOX_TASK, SANDBOX_GOAL, SANDBOX_START_URL, SANDBOX_CDP,
/// SANDBOX_CDP_WS, SANDBOX_WEBDRIVER, SANDBOX_CLOCK, SANDBOX_SEED and SANDBOX_ANSWER_FILE. The
/// episode ends with the command, and with all that it has started. Its output goes to standard
/// error. It also has your whole environment; the browser has none of it. The suite, the results
/// and your data are hidden from it (`--confine`). Without a COMMAND, the episode ends with a line
/// on standard input, the end of standard input, or Ctrl-C.
///
/// The answer is the content of the answer file, or that line. `report_infeasible("why")` says that
/// the goal cannot be reached. The task's scorer then judges the addresses of the tabs, the state
/// of the sites and the answer. It does not see actions on single elements, so key nodes of element
/// values are not reached. A second line of JSON has the result. Exit code 1: the command failed,
/// or time ran out.
#[derive(clap::Args)]
pub(crate) struct Attach {
    /// Folder with a suite.yaml
    suite: Utf8PathBuf,
    /// Id of the task; `sandbox tasks list SUITE` prints the ids
    task: String,
    /// Folder for the results [default: runs/SUITE-attach-TIME]
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<Utf8PathBuf>,
    /// How long the episode may take; then the command is killed [default: 600s with a COMMAND,
    /// otherwise no limit]
    #[arg(long, value_name = "TIME", value_parser = units::some_seconds)]
    within: Option<Duration>,
    /// Show the browser in a window, to drive or watch it
    #[arg(long)]
    headed: bool,
    /// Serve WebDriver clients, such as Selenium, through chromedriver
    #[arg(long)]
    webdriver: bool,
    /// Fail (exit code 1) also when the score is less than 1
    #[arg(long)]
    check: bool,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    variables: SiteVariables,
    #[command(flatten)]
    confine: Confine,
    #[command(flatten)]
    data: DataFolder,
}

/// The line that ends it.
#[derive(Serialize)]
struct EpisodeReport<'a> {
    /// The folder of the results.
    run: &'a Utf8Path,
    #[serde(flatten)]
    record: &'a EpisodeRecord,
}

impl Attach {
    /// Starts the episode, and prints its result.
    pub(crate) async fn run(self) -> Outcome {
        self.output.as_deref().map_or(Ok(()), out::is_a_path)?;
        let mut suite = play::suites::load_undated(&self.suite)?;
        let task = std::slice::from_ref(&self.task);
        let agreed = self.trust.agree_to_suite(&mut suite, task, &self.variables, &self.data)?;
        let options = Options {
            out: self.output.clone(),
            headed: self.headed,
            agreed,
            site_variables: self.variables.given.clone(),
            webdriver: self.webdriver,
            confinement: self.confine.options(&self.data)?,
            ..confinement::of_user(&self.data)?
        };
        let name = if self.command.is_empty() {
            "attach".to_owned()
        } else {
            format!("attach:{}", self.command.join(" "))
        };
        let stop = interrupt::token();
        let bar = progress::spinner("bringing up the world");
        let on_event = daemon::show_sites(&bar);
        let within = self.within.or((!self.command.is_empty()).then_some(WITHIN));
        let (command, cancel) = (&self.command, &stop);
        let program = |facts: AttachedSession, confined: Confined| async move {
            bar.finish_and_clear();
            out::json_line(&facts);
            if command.is_empty() {
                guide(&facts, self.headed);
                program::line(within, cancel).await
            } else {
                program::command(command, &facts, &confined, within, cancel).await
            }
        };
        let by = AttachedProgram { name: &name, command };
        let played =
            attach::play_attached(&suite, &self.task, by, &options, &stop, &on_event, program)
                .await;
        let Some((run, record)) = played? else {
            return Err(Failure::Interrupted(
                "interrupted; nothing of the episode is kept".to_owned(),
            ));
        };
        let report = results::report::write(run.path()).or_environment("write the report")?;
        out::json_line(&EpisodeReport { run: run.path(), record: &record });
        eprintln!("{}, {}; report {report}", score_text(&record), outcome_text(&record));
        self.verdict(&record)
    }

    fn verdict(&self, record: &EpisodeRecord) -> Outcome {
        match &record.outcome {
            Ended::Error { message } | Ended::AgentFailed { message, .. } => {
                Err(Failure::Negative(message.clone()))
            }
            Ended::TimedOut => Err(Failure::Negative(
                "the program did not end in time; --within sets its limit".to_owned(),
            )),
            _ if self.check && !record.success => {
                Err(Failure::Negative(format!("the task is not solved: {}", score_text(record))))
            }
            _ => Ok(()),
        }
    }
}

/// Says to a person what to do now.
fn guide(facts: &AttachedSession, headed: bool) {
    let place = if headed { "in its window" } else { "there" };
    let webdriver =
        facts.webdriver.iter().map(|url| format!("webdriver {url}\n")).collect::<String>();
    eprintln!(
        "goal      {}\nbrowser   {}\n{webdriver}\nDrive the browser {place}. Then write the answer here, or nothing, and press Enter.",
        facts.goal, facts.cdp
    );
}

fn score_text(record: &EpisodeRecord) -> String {
    record.score.map_or_else(|| "not judged yet".to_owned(), |score| format!("score {score:.2}"))
}

fn outcome_text(record: &EpisodeRecord) -> String {
    let mut text = record.outcome.kind().replace('_', " ");
    if !record.misses.is_empty() {
        text.push_str(&format!(", {} misses", record.misses.len()));
    }
    if !record.refused_hosts.is_empty() {
        let hosts: Vec<&str> = record.refused_hosts.iter().map(String::as_str).collect();
        text.push_str(&format!(", refused {}", hosts.join(", ")));
    }
    text
}
