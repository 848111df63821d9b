//! `sandbox score BENCHMARK`, for the benchmarks of the table: attempts that were saved, without a
//! browser.

use std::{fs, iter};

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use play::ChosenAttempts;
use results::Summary;
use tasks::import::{Benchmark, Import};
use tasks::saved::read_saved;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::benchmarks::BenchmarkArgs;
use crate::options::scoring::Scoring;
use crate::terminal::out;
use crate::terminal::progress;

/// A benchmark's tasks and the saved attempts
#[derive(clap::Args)]
pub(super) struct SavedAttempts {
    /// The benchmark's file of tasks
    tasks: Utf8PathBuf,
    /// File of attempts, one JSON object a line: `task` with the benchmark's id, and what the
    /// benchmark scores of `answer`, the final `url`, `contents` of its targets, and `steps` with
    /// `url`, `selector`, `value` and `html`
    #[arg(long, value_name = "FILE")]
    attempts: Utf8PathBuf,
    /// Count tasks without an attempt as attempts without a result
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    scoring: Scoring,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataFolder,
}

/// The same where an answer is all that counts
#[derive(clap::Args)]
pub(super) struct SavedAnswers {
    #[command(flatten)]
    saved: SavedAttempts,
    /// Attempts of another system, such as a closed-book model, for tasks without an answer in
    /// --attempts. Can be repeated; the first answer counts. The result says how many answers each
    /// file gave
    #[arg(long = "fallback", alias = "fall-back", value_name = "FILE")]
    fallback: Vec<Utf8PathBuf>,
}

/// The arguments for one of the benchmarks.
pub(super) enum Saved {
    Answers(SavedAnswers),
    Attempts(SavedAttempts),
}

impl BenchmarkArgs for Saved {
    fn about(benchmark: &Benchmark) -> Option<&'static str> {
        Some(benchmark.scores)
    }

    fn augment(benchmark: &Benchmark, command: Command) -> Command {
        match benchmark.answer_alone {
            true => SavedAnswers::augment_args(command),
            false => SavedAttempts::augment_args(command),
        }
    }

    fn read(benchmark: &Benchmark, given: &ArgMatches) -> Result<Saved, clap::Error> {
        match benchmark.answer_alone {
            true => SavedAnswers::from_arg_matches(given).map(Saved::Answers),
            false => SavedAttempts::from_arg_matches(given).map(Saved::Attempts),
        }
    }
}

impl Saved {
    /// Exit code 0 when everything that is there was scored, whatever its score.
    pub(super) async fn run(self, benchmark: &Benchmark) -> Outcome {
        match self {
            Saved::Answers(answers) => answers.saved.score(benchmark, answers.fallback).await,
            Saved::Attempts(attempts) => attempts.score(benchmark, Vec::new()).await,
        }
    }
}

impl SavedAttempts {
    async fn score(self, benchmark: &Benchmark, fallback: Vec<Utf8PathBuf>) -> Outcome {
        let import = (benchmark.read)(&read(&self.tasks)?, &self.tasks);
        let import = import.with_context(|| self.tasks.to_string()).or_input("read the tasks")?;
        crate::commands::tasks::import::warn(&import);
        let files: Vec<&Utf8Path> =
            iter::once(&self.attempts).chain(&fallback).map(Utf8PathBuf::as_path).collect();
        let systems = files.iter().map(|file| self.attempts(file, &import));
        let systems = systems.collect::<Result<Vec<_>, Failure>>()?;
        let ChosenAttempts { attempts, answers, tasks, missing } =
            play::choose_attempts(&import.tasks, systems, self.all);
        let sources: Vec<Source> = files
            .into_iter()
            .zip(answers)
            .map(|(file, answers)| Source { file: file.to_owned(), answers })
            .collect();
        let judge = self.scoring.judge(&self.data)?;
        let summary =
            play::score_saved(benchmark.name, &tasks, &attempts, self.scoring.mode, &judge).await;
        if sources.is_empty() {
            print(&summary, self.json);
        } else {
            print_with_sources(&summary, &sources, attempts.len(), self.json);
        }
        if !missing.is_empty() && !self.all {
            out::warn(&format!(
                "{} of {} tasks have no attempt and are left out; --all counts them",
                missing.len(),
                import.tasks.len()
            ));
        }
        Scoring::verdict(&summary)
    }

    /// What was attempted, all of it at tasks that are there.
    fn attempts(
        &self,
        file: &Utf8Path,
        import: &Import,
    ) -> Result<Vec<tasks::saved::SavedAttempt>, Failure> {
        let attempts = read_saved(&read(file)?);
        let attempts = attempts.with_context(|| file.to_string()).or_input("read the attempts")?;
        let strange: Vec<&str> = attempts
            .iter()
            .filter(|attempt| !import.tasks.iter().any(|task| attempt.is_of(task)))
            .map(|attempt| attempt.task.as_str())
            .collect();
        if let [first, rest @ ..] = strange.as_slice() {
            let others = if rest.is_empty() {
                String::new()
            } else {
                format!(", nor {} others", rest.len())
            };
            return Err(Failure::Input(format!(
                "failed to read {file}: no task `{first}` in {}{others} that can be scored",
                self.tasks
            )));
        }
        Ok(attempts)
    }
}

/// Where answers came from.
#[derive(serde::Serialize)]
struct Source {
    file: Utf8PathBuf,
    answers: usize,
}

/// A summary of what several systems attempted together.
#[derive(serde::Serialize)]
struct Combined<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// How many answers came from each file, in their order.
    answers_from: &'a [Source],
    /// Attempts without an answer in any file.
    unanswered: usize,
}

fn print_with_sources(summary: &Summary, sources: &[Source], attempts: usize, json: bool) {
    let answered: usize = sources.iter().map(|source| source.answers).sum();
    let unanswered = attempts - answered;
    if json {
        let combined = Combined { summary, answers_from: sources, unanswered };
        out::json(&combined);
        return;
    }
    print(summary, false);
    for Source { file, answers } in sources {
        println!("answers from   {answers:>6}  {file}");
    }
    println!("no answer      {unanswered:>6}");
}

/// Prints scores, without what only a run has.
pub(super) fn print(summary: &Summary, json: bool) {
    if json {
        out::json(summary);
    } else {
        println!("{}", summary.score_table(progress::columns()));
    }
}

fn read(path: &Utf8Path) -> Result<String, Failure> {
    fs::read_to_string(path).with_context(|| path.to_string()).or_input("score what was saved")
}
