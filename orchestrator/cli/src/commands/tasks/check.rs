//! `sandbox tasks check`: whether the tasks of a suite can be solved, and their scorers tell wrong
//! solutions.

use agents::AgentSpec;
use camino::{Utf8Path, Utf8PathBuf};
use play::Options;
use play::consent::Agreed;
use play::solutions::{self, Finding, Solutions};
use results::{Summary, counted};
use tasks::Suite;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::confinement;
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

impl Check {
    pub(super) async fn run(self) -> Outcome {
        let mut suite = play::suites::load_undated(&self.suite)?;
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
        for id in &self.tasks {
            suite.task(id).or_input("check a task")?;
        }
        let Solutions { solved, wrong: negative, mut findings } =
            Solutions::of(&suite, &self.tasks);
        let options = self.options(agreed)?;
        let oracle =
            self.play(&suite, &AgentSpec::Oracle, &solved, &out.join("oracle"), &options).await?;
        let wrong = self
            .play(&suite, &AgentSpec::Negative, &negative, &out.join("negative"), &options)
            .await?;
        findings.extend(solutions::findings(oracle.as_ref(), wrong.as_ref()));
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

    fn options(&self, agreed: Agreed) -> Result<Options, Failure> {
        Ok(Options {
            workers: self.workers,
            agreed,
            site_variables: self.variables.given.clone(),
            ..confinement::of_user(&self.data)?
        })
    }

    /// Plays some tasks once; nothing where there are none.
    async fn play(
        &self,
        suite: &Suite,
        agent: &AgentSpec,
        tasks: &[String],
        out: &Utf8Path,
        options: &Options,
    ) -> Result<Option<Summary>, Failure> {
        let (board, stop) = (Board::new(), interrupt::token());
        let played =
            solutions::play_once(suite, agent, tasks, out, options, stop, board.progress()).await;
        board.clear();
        let Some(summary) = played? else { return Ok(None) };
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
