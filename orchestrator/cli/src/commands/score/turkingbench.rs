//! `sandbox score turkingbench`: what somebody put into fields, against what workers did.

use camino::Utf8PathBuf;
use play::{FieldScores, UnscoredLine, score_fields};
use scoring::mode::ScoringMode;
use turkingbench::Folder;

use crate::failure::{OrFail, Outcome};
use crate::terminal::out;

/// TurkingBench: score saved contents of form fields
///
/// A line at which the published scorer raises an exception has no score. It is named, counted, and
/// left out of the means.
///
/// The file of attempts has one JSON object a line: {"task": NAME, "row": 0, "fields": {"comment":
/// "fine", "colours": ["red", "blue"]}}. The task is the name of its folder; the row is its
/// instance, from 0. A missing field was left empty. A field that is null was not shown, and does
/// not count. The types of fields are those in the task's HTML. A field that only a script makes
/// has its type beside its value: {"type": "radio", "value": "2"}.
#[derive(clap::Args)]
pub(super) struct SavedFields {
    /// Repository of the benchmark, or its folder `tasks`
    folder: Utf8PathBuf,
    /// File with the contents of the fields
    #[arg(long, value_name = "FILE")]
    attempts: Utf8PathBuf,
    /// `faithful` keeps the bugs of the published rules, `fixed` corrects those that
    /// tasks/README.md names
    #[arg(
        id = "scoring-mode",
        long = "scoring-mode",
        alias = "rules",
        value_name = "MODE",
        default_value_t
    )]
    mode: ScoringMode,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl SavedFields {
    /// Exit code 0 when all lines were scored, whatever their scores.
    pub(super) fn run(self) -> Outcome {
        let folder = Folder::open(&self.folder).or_input("read the tasks")?;
        let mut warn = |UnscoredLine { number, task, error }: UnscoredLine<'_>| {
            out::warn(&format!(
                "{}: line {number} of `{task}` has no score: {error}",
                self.attempts
            ));
        };
        let report = score_fields(&self.attempts, &folder, self.mode, &mut warn)
            .or_input(format!("score {}", self.attempts))?;
        if self.json {
            out::json(&report);
        } else {
            print(&report);
        }
        Ok(())
    }
}

fn print(report: &FieldScores) {
    let percent =
        |score: Option<f64>| score.map_or("-".to_owned(), |score| format!("{:.1}", score * 100.0));
    println!("{:>6}  {:>9}  task", "score", "instances");
    for task in &report.tasks {
        let types = task
            .types
            .iter()
            .map(|(kind, means)| format!("{kind} {:.1} of {}", means.score * 100.0, means.count));
        let types = types.collect::<Vec<_>>().join(", ");
        println!("{:>6}  {:>9}  {} ({types})", percent(task.score), task.instances, task.task);
    }
    for (kind, means) in &report.types {
        println!(
            "{:>6}  {:>9}  all fields of type {kind}",
            percent(Some(means.score)),
            means.count
        );
    }
    for (split, means) in &report.splits {
        println!(
            "{:>6}  {:>9}  tasks of the split {split}",
            percent(Some(means.score)),
            means.count
        );
    }
    println!(
        "{:>6}  {:>9}  all {} tasks",
        percent(report.score),
        report.instances,
        report.tasks.len()
    );
    if report.unscored > 0 {
        println!(
            "{:>6}  {:>9}  without a score: the published scorer raises an exception",
            "-", report.unscored
        );
    }
}
