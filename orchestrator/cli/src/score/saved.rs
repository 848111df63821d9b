//! `sandbox score assistantbench | fanoutqa | mind2web-live | visualwebarena | webarena`: attempts that were saved, without a browser.

use std::fs;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use runs::Summary;
use tasks::import::visualwebarena;
use tasks::import::webarena::{published, webarena};
use tasks::import::{Import, ImportError, assistantbench, fanoutqa, mind2web_live};
use tasks::saved::read_saved;

use crate::failure::{Failure, OrFail, Outcome};
use crate::progress;
use crate::scoring::Scoring;

/// A benchmark's tasks, and what was attempted
#[derive(clap::Args)]
pub(super) struct Saved {
    /// The benchmark's own file of tasks
    tasks: Utf8PathBuf,
    /// JSON lines, one attempt each: `task` with the benchmark's id, and as far as the benchmark asks for it `answer`, `url` of the page at the end,
    /// `contents` that its targets gave, `steps` with `url`, `selector`, `value` and `html`
    #[arg(long, value_name = "FILE")]
    attempts: Utf8PathBuf,
    /// Count tasks without an attempt as attempted without a result
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    scoring: Scoring,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Whose tasks they are.
#[derive(Clone, Copy)]
pub(super) enum Benchmark {
    AssistantBench,
    FanOutQa,
    Mind2WebLive,
    VisualWebArena,
    WebArena,
}

impl Benchmark {
    fn name(self) -> &'static str {
        match self {
            Benchmark::AssistantBench => "assistantbench",
            Benchmark::FanOutQa => "fanoutqa",
            Benchmark::Mind2WebLive => "mind2web-live",
            Benchmark::VisualWebArena => "visualwebarena",
            Benchmark::WebArena => "webarena",
        }
    }

    fn read(self, text: &str) -> Result<Import, ImportError> {
        match self {
            Benchmark::AssistantBench => assistantbench(text),
            Benchmark::FanOutQa => fanoutqa(text),
            Benchmark::Mind2WebLive => mind2web_live(text),
            Benchmark::VisualWebArena => visualwebarena::visualwebarena(text, &visualwebarena::published()),
            Benchmark::WebArena => webarena(text, &published()),
        }
    }
}

impl Saved {
    /// Exit code 0 when everything that is there was scored, whatever its score.
    pub(super) async fn run(self, benchmark: Benchmark) -> Outcome {
        let import = benchmark.read(&read(&self.tasks)?);
        let import = import.with_context(|| self.tasks.to_string()).or_input("read the tasks")?;
        let attempts = read_saved(&read(&self.attempts)?);
        let mut attempts =
            attempts.with_context(|| self.attempts.to_string()).or_input("read the attempts")?;
        let strange: Vec<&str> = attempts
            .iter()
            .filter(|attempt| !import.tasks.iter().any(|task| attempt.is_of(task)))
            .map(|attempt| attempt.task.as_str())
            .collect();
        if let [first, rest @ ..] = strange.as_slice() {
            let others = if rest.is_empty() { String::new() } else { format!(", nor {} others", rest.len()) };
            return Err(Failure::Input(anyhow::anyhow!(
                "{}: no task `{first}` in {}{others}, as far as it can be scored",
                self.attempts,
                self.tasks
            )));
        }
        let missing: Vec<&str> = import
            .tasks
            .iter()
            .filter(|task| !attempts.iter().any(|attempt| attempt.is_of(task)))
            .map(|task| task.id.as_str())
            .collect();
        if self.all {
            let nothing = missing.iter().map(|id| serde_json::json!({ "task": id }).to_string());
            let nothing: Vec<String> = nothing.collect();
            attempts.extend(read_saved(&nothing.join("\n")).expect("ids are attempts"));
        }
        let played = |task: &&tasks::Task| self.all || !missing.contains(&task.id.as_str());
        let tasks: Vec<tasks::Task> = import.tasks.iter().filter(played).cloned().collect();
        let judge = self.scoring.judge()?;
        let summary =
            runs::score_saved(benchmark.name(), &tasks, &attempts, self.scoring.rules, &judge).await;
        print(&summary, self.json);
        if !missing.is_empty() && !self.all {
            eprintln!(
                "{} of {} tasks have no attempt and are left out; --all counts them",
                missing.len(),
                import.tasks.len()
            );
        }
        Ok(())
    }
}

/// Prints scores, without what only a run has.
pub(super) fn print(summary: &Summary, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(summary).expect("a summary is plain data"));
    } else {
        println!("{}", summary.score_table(progress::columns()));
    }
}

fn read(path: &Utf8Path) -> Result<String, Failure> {
    fs::read_to_string(path).with_context(|| path.to_string()).or_input("score what was saved")
}
