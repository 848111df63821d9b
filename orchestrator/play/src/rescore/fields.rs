//! Scores saved fields of TurkingBench against the answers of workers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;

use camino::Utf8Path;
use scoring::ScoreError;
use scoring::mode::ScoringMode;
use scoring::turkingbench::{FieldValue, Form, FormValues, Mark, by_kind, mean};
use serde::{Deserialize, Serialize};
use tasks::import::turkingbench::{PASSED, PageHost, forms, kinds, no_task};
use thiserror::Error;
use turkingbench::{Batch, Folder, Split};

/// An error in scoring saved fields.
#[derive(Debug, Error)]
pub enum FieldsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// A line of it cannot be scored.
    #[error("line {number}: {source}")]
    Line {
        /// Its number, from 1.
        number: usize,
        /// The problem with the line.
        source: LineError,
    },
    /// It has no line.
    #[error("there is no line")]
    Empty,
}

/// The problem with a line of saved fields.
#[derive(Debug, Error)]
pub enum LineError {
    /// It is not in the form of such lines.
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
    /// The benchmark has no such task.
    #[error("{0}")]
    NoTask(String),
    /// A file of the task cannot be read.
    #[error(transparent)]
    Task(#[from] turkingbench::Error),
    /// The task has no such instance.
    #[error("`{task}` has {instances} instances, and no row {row}")]
    NoRow {
        /// The task.
        task: String,
        /// The number of its instances.
        instances: usize,
        /// The number of the one that is named.
        row: usize,
    },
    /// Workers were not asked for such a field.
    #[error("`{task}` has no answers to a field `{field}`")]
    UnknownField {
        /// The task.
        task: String,
        /// The field.
        field: String,
    },
}

/// A line at which the published scorer raises an exception.
#[derive(Debug, Clone, Copy)]
pub struct UnscoredLine<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The name of its task.
    pub task: &'a str,
    /// The scorer's exception.
    pub error: &'a ScoreError,
}

/// A line of predictions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prediction {
    task: String,
    row: usize,
    fields: BTreeMap<String, Option<FieldEntry>>,
}

/// The content of a field.
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

/// A task with everything that its scoring needs.
struct ScorableTask {
    name: String,
    template: String,
    batch: Batch,
    forms: Vec<Form>,
}

/// The scores of saved fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldScores {
    /// The number of instances that were scored.
    pub instances: usize,
    /// Lines at which the published scorer raises an exception.
    pub unscored: usize,
    /// The mean over the tasks, each the mean over its instances.
    pub score: Option<f64>,
    /// By the names of the tasks.
    pub tasks: Vec<TaskScores>,
    /// Over all fields of a type.
    pub types: BTreeMap<String, Means>,
    /// Over the tasks of a list.
    pub splits: BTreeMap<&'static str, Means>,
}

/// The scores of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskScores {
    /// Its name.
    pub task: String,
    /// The number of its instances that were scored.
    pub instances: usize,
    /// Instances in which no field counts.
    pub without_fields: usize,
    /// The mean over its instances.
    pub score: Option<f64>,
    /// Over its fields of a type.
    pub types: BTreeMap<String, Means>,
}

/// A mean, with the number of its values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Means {
    /// The mean.
    pub score: f64,
    /// The number of values.
    pub count: usize,
}

/// Scores the lines of a file. Lines without a score are reported, counted, and left out of the
/// means.
///
/// # Errors
/// When the file cannot be read, or a line is not one of it.
pub fn score_fields(
    attempts: &Utf8Path,
    folder: &Folder,
    mode: ScoringMode,
    on_unscored: &mut dyn FnMut(UnscoredLine<'_>),
) -> Result<FieldScores, FieldsError> {
    let text = fs::read_to_string(attempts)?;
    let mut known: BTreeMap<String, ScorableTask> = BTreeMap::new();
    let mut marked: BTreeMap<String, Vec<Vec<Mark>>> = BTreeMap::new();
    let mut unscored = 0;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    for (line, number) in lines {
        let (task, marks) = score_line(line, folder, mode, &mut known)
            .map_err(|source| FieldsError::Line { number, source })?;
        match marks {
            Ok(marks) => marked.entry(task).or_default().push(marks),
            Err(error) => {
                unscored += 1;
                on_unscored(UnscoredLine { number, task: &task, error: &error });
            }
        }
    }
    if marked.is_empty() && unscored == 0 {
        return Err(FieldsError::Empty);
    }
    Ok(FieldScores { unscored, ..report(&marked, folder) })
}

/// Returns the task of a line, and the scores of its fields.
fn score_line(
    line: &str,
    folder: &Folder,
    mode: ScoringMode,
    known: &mut BTreeMap<String, ScorableTask>,
) -> Result<(String, Result<Vec<Mark>, ScoreError>), LineError> {
    let said: Prediction = serde_json::from_str(line)?;
    let task = match known.entry(said.task.clone()) {
        Entry::Occupied(task) => task.into_mut(),
        Entry::Vacant(task) => task.insert(load_task(folder, &said.task)?),
    };
    let form = task.forms.get(said.row).ok_or_else(|| LineError::NoRow {
        task: said.task.clone(),
        instances: task.forms.len(),
        row: said.row,
    })?;
    let held = form_state(form, &kinds(&task.template, &task.batch, said.row), &said)?;
    Ok((task.name.clone(), form.marks(&held, mode)))
}

fn load_task(folder: &Folder, name: &str) -> Result<ScorableTask, LineError> {
    let task = folder.tasks().iter().find(|task| task.name == name || task.slug == name);
    let task = task.ok_or_else(|| LineError::NoTask(no_task(folder, name)))?;
    let (template, batch) = (task.template()?, task.batch()?);
    let forms = forms(task, &batch, PageHost::Own).collect();
    Ok(ScorableTask { name: task.name.clone(), forms, template, batch })
}

/// Returns the state of a form that a prediction has filled in.
fn form_state(
    form: &Form,
    kinds: &BTreeMap<String, String>,
    said: &Prediction,
) -> Result<FormValues, LineError> {
    let is_known =
        |name: &str| PASSED.contains(&name) || form.fields.iter().any(|field| field.name == name);
    if let Some(name) = said.fields.keys().find(|name| !is_known(name)) {
        return Err(LineError::UnknownField { task: said.task.clone(), field: name.clone() });
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

fn report(marked: &BTreeMap<String, Vec<Vec<Mark>>>, folder: &Folder) -> FieldScores {
    let task = |(name, instances): (&String, &Vec<Vec<Mark>>)| {
        let scores: Vec<f64> = instances.iter().filter_map(|marks| mean(marks)).collect();
        TaskScores {
            task: name.clone(),
            instances: instances.len(),
            without_fields: instances.len() - scores.len(),
            score: average(&scores).map(|means| means.score),
            types: types(instances.iter().flatten()),
        }
    };
    let tasks: Vec<TaskScores> = marked.iter().map(task).collect();
    let over = |wanted: &dyn Fn(&TaskScores) -> bool| {
        let scores: Vec<f64> =
            tasks.iter().filter(|task| wanted(task)).filter_map(|task| task.score).collect();
        average(&scores)
    };
    let split = |split: Split| {
        let names = folder.split(split).ok()?;
        Some((split.name(), over(&|task| names.contains(&task.task))?))
    };
    FieldScores {
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
