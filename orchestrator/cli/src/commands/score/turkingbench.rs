//! `sandbox score turkingbench`: what somebody put into fields, against what workers did.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;

use anyhow::{Context as _, anyhow, bail};
use camino::Utf8PathBuf;
use scoring::ScoreError;
use scoring::mode::ScoringMode;
use scoring::turkingbench::{FieldValue, Form, FormValues, Mark, by_kind, mean};
use serde::{Deserialize, Serialize};
use tasks::import::turkingbench::{PASSED, PageHost, forms, kinds, no_task};
use turkingbench::{Batch, Folder, Split};

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

/// A line of predictions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prediction {
    task: String,
    row: usize,
    fields: BTreeMap<String, Option<FieldEntry>>,
}

/// What is in a field.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum FieldEntry {
    Typed { r#type: String, value: Value },
    Plain(Value),
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Ticked(Vec<String>),
}

/// A task as it can be scored.
struct ScorableTask {
    name: String,
    template: String,
    batch: Batch,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct Report {
    instances: usize,
    /// Lines at which the published scorer raises an exception.
    unscored: usize,
    /// The mean over the tasks, each the mean over its instances.
    score: Option<f64>,
    tasks: Vec<TaskReport>,
    /// Over all fields of a type.
    types: BTreeMap<String, Means>,
    /// Over the tasks of a list.
    splits: BTreeMap<&'static str, Means>,
}

#[derive(Serialize)]
struct TaskReport {
    task: String,
    instances: usize,
    /// Instances in which no field counts.
    without_fields: usize,
    score: Option<f64>,
    types: BTreeMap<String, Means>,
}

#[derive(Clone, Serialize)]
struct Means {
    score: f64,
    count: usize,
}

impl SavedFields {
    /// Exit code 0 when all lines were scored, whatever their scores.
    pub(super) fn run(self) -> Outcome {
        let folder = Folder::open(&self.folder).or_input("read the tasks")?;
        let report = self.score(&folder).or_input(format!("score {}", self.attempts))?;
        if self.json {
            out::json(&report);
        } else {
            print(&report);
        }
        Ok(())
    }

    fn score(&self, folder: &Folder) -> anyhow::Result<Report> {
        let text = fs::read_to_string(&self.attempts)?;
        let mut known: BTreeMap<String, ScorableTask> = BTreeMap::new();
        let mut marked: BTreeMap<String, Vec<Vec<Mark>>> = BTreeMap::new();
        let mut unscored = 0;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let (task, marks) = self
                .line(line, folder, &mut known)
                .with_context(|| format!("line {}", number + 1))?;
            match marks {
                Ok(marks) => marked.entry(task).or_default().push(marks),
                Err(error) => {
                    unscored += 1;
                    out::warn(&format!(
                        "{}: line {} of `{task}` has no score: {error}",
                        self.attempts,
                        number + 1
                    ));
                }
            }
        }
        if marked.is_empty() && unscored == 0 {
            bail!("there is no line");
        }
        Ok(Report { unscored, ..report(&marked, folder) })
    }

    /// The task of a line, and the scores of its fields.
    fn line(
        &self,
        line: &str,
        folder: &Folder,
        known: &mut BTreeMap<String, ScorableTask>,
    ) -> anyhow::Result<(String, Result<Vec<Mark>, ScoreError>)> {
        let said: Prediction = serde_json::from_str(line)?;
        let task = match known.entry(said.task.clone()) {
            Entry::Occupied(task) => task.into_mut(),
            Entry::Vacant(task) => task.insert(self.load_task(folder, &said.task)?),
        };
        let form = task.forms.get(said.row).ok_or_else(|| {
            anyhow!("`{}` has {} instances, and no row {}", said.task, task.forms.len(), said.row)
        })?;
        let held = form_state(form, &kinds(&task.template, &task.batch, said.row), &said)?;
        Ok((task.name.clone(), form.marks(&held, self.mode)))
    }

    fn load_task(&self, folder: &Folder, name: &str) -> anyhow::Result<ScorableTask> {
        let task = folder.tasks().iter().find(|task| task.name == name || task.slug == name);
        let task = task.with_context(|| no_task(folder, name))?;
        let (template, batch) = (task.template()?, task.batch()?);
        let forms = forms(task, &batch, PageHost::Own).collect();
        Ok(ScorableTask { name: task.name.clone(), forms, template, batch })
    }
}

/// What a form holds by a prediction.
fn form_state(
    form: &Form,
    kinds: &BTreeMap<String, String>,
    said: &Prediction,
) -> anyhow::Result<FormValues> {
    let is_known =
        |name: &str| PASSED.contains(&name) || form.fields.iter().any(|field| field.name == name);
    if let Some(name) = said.fields.keys().find(|name| !is_known(name)) {
        bail!("`{}` has no answers to a field `{name}`", said.task);
    }
    let fields = form.fields.iter().map(|field| {
        let (given, value) = match said.fields.get(&field.name) {
            Some(None) => return None,
            Some(Some(FieldEntry::Typed { r#type, value })) => (Some(r#type), value.clone()),
            Some(Some(FieldEntry::Plain(value))) => (None, value.clone()),
            None => (None, Value::Text(String::new())),
        };
        let kind = given.or_else(|| kinds.get(&field.name))?.clone();
        let value = match value {
            Value::Text(text) => text,
            Value::Ticked(values) => values.join("|"),
        };
        Some(FieldValue { shown: kind != "hidden", kind, value })
    });
    Ok(FormValues(fields.collect()))
}

fn report(marked: &BTreeMap<String, Vec<Vec<Mark>>>, folder: &Folder) -> Report {
    let task = |(name, instances): (&String, &Vec<Vec<Mark>>)| {
        let scores: Vec<f64> = instances.iter().filter_map(|marks| mean(marks)).collect();
        TaskReport {
            task: name.clone(),
            instances: instances.len(),
            without_fields: instances.len() - scores.len(),
            score: average(&scores).map(|means| means.score),
            types: types(instances.iter().flatten()),
        }
    };
    let tasks: Vec<TaskReport> = marked.iter().map(task).collect();
    let over = |wanted: &dyn Fn(&TaskReport) -> bool| {
        let scores: Vec<f64> =
            tasks.iter().filter(|task| wanted(task)).filter_map(|task| task.score).collect();
        average(&scores)
    };
    let split = |split: Split| {
        let names = folder.split(split).ok()?;
        Some((split.name(), over(&|task| names.contains(&task.task))?))
    };
    Report {
        instances: tasks.iter().map(|task| task.instances).sum(),
        unscored: 0,
        score: over(&|_| true).map(|means| means.score),
        types: types(marked.values().flatten().flatten()),
        splits: Split::ALL.into_iter().filter_map(split).collect(),
        tasks,
    }
}

fn types<'a>(marks: impl IntoIterator<Item = &'a Mark>) -> BTreeMap<String, Means> {
    by_kind(marks)
        .into_iter()
        .map(|(kind, (score, count))| (kind.to_owned(), Means { score, count }))
        .collect()
}

fn average(scores: &[f64]) -> Option<Means> {
    let count = scores.len();
    (count > 0).then(|| Means { score: scores.iter().sum::<f64>() / count as f64, count })
}

fn print(report: &Report) {
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
