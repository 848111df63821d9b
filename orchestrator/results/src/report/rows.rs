//! The table of tasks, with the data to search, filter and sort it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Form;
use super::budget::weight;
use super::episode::Variant;
use crate::html::words::{Choice, anchor, clip, percent, seconds, two_digits, verdict, worded};
use crate::stored::{EpisodeRecord, RunRecord, TaskRecord};
use crate::{Summary, TaskSummary};

/// Size of a row without its texts, in bytes.
const ROW: usize = 700;

#[derive(Serialize)]
pub(super) struct Row {
    task: String,
    goal: String,
    anchor: String,
    played: bool,
    score: String,
    percent: f64,
    verdict: &'static str,
    outcomes: String,
    steps: String,
    misses: u64,
    refused: u64,
    time: String,
    wall_ms: u64,
    /// Number of finished attempts.
    repeats: usize,
    /// The repeats folded below the row, grouped by fingerprint.
    pub(super) variants: Vec<Variant>,
    /// The outcomes of the episodes, one on each line.
    kinds: String,
    /// Sites and tags, one on each line.
    groups: String,
    /// Additional text for the search.
    more: String,
}

/// The tasks, in the order of the suite.
pub(super) fn rows(
    run: &RunRecord,
    summary: &Summary,
    records: &[EpisodeRecord],
    form: Form,
) -> Vec<Row> {
    // With many tasks, texts are shorter.
    let (goal_limit, more_limit) = match (form, summary.tasks.len()) {
        (Form::Inline, _) => (usize::MAX, usize::MAX),
        (Form::Linked, 0..200) => (600, 600),
        (Form::Linked, 200..500) => (200, 200),
        (Form::Linked, _) => (100, 60),
    };
    let row = |(task, known): (&TaskSummary, &TaskRecord)| Row {
        task: task.task.clone(),
        goal: clip(&known.goal, goal_limit),
        anchor: anchor(&task.task),
        played: task.episodes > 0,
        score: task.score.map_or_else(|| "–".to_owned(), two_digits),
        percent: percent(task.score.unwrap_or(0.0)),
        verdict: match task.outcomes.keys().eq(["error"].iter()) {
            true => "error",
            false => verdict(task.passed, task.score),
        },
        outcomes: task
            .outcomes
            .iter()
            .map(|(kind, &count)| {
                if task.outcomes.len() > 1 {
                    format!("{} {count}×", worded(kind))
                } else {
                    worded(kind).to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join(", "),
        steps: if task.steps.fract() == 0.0 {
            format!("{:.0}", task.steps)
        } else {
            format!("{:.1}", task.steps)
        },
        misses: task.requests.miss,
        refused: task.requests.refused,
        time: seconds(task.wall_ms),
        wall_ms: task.wall_ms,
        repeats: task.episodes,
        variants: Vec::new(),
        kinds: task.outcomes.keys().copied().collect::<Vec<_>>().join("\n"),
        groups: groups(known).join("\n"),
        more: clip(&more(known, records), more_limit),
    };
    summary.tasks.iter().zip(run.own_tasks()).map(row).collect()
}

impl Row {
    /// The task's id.
    pub(super) fn task(&self) -> &str {
        &self.task
    }

    /// The maximum size of the row in bytes, without folded parts.
    pub(super) fn weight(&self) -> usize {
        let texts = [&self.task, &self.task, &self.task, &self.goal, &self.outcomes, &self.groups];
        ROW + texts.into_iter().chain([&self.more]).map(|text| weight(text)).sum::<usize>()
    }
}

/// The filters for the rows.
pub(super) fn choices(run: &RunRecord, rows: &[Row]) -> Vec<Choice> {
    let played = rows.iter().filter(|row| row.played);
    let verdicts: Vec<&str> = played.map(|row| row.verdict).collect();
    let kinds: BTreeSet<&str> = rows.iter().flat_map(|row| row.kinds.lines()).collect();
    let known: BTreeSet<String> = run.own_tasks().flat_map(groups).collect();
    let named = |group: String| {
        let (kind, name) = group.split_once(' ').unwrap_or_default();
        let label = format!("{name} ({kind})");
        (group, label)
    };
    vec![
        Choice::verdict(&verdicts),
        Choice::of(
            "outcome",
            "any ending",
            kinds.into_iter().map(|kind| (kind.to_owned(), worded(kind).to_owned())),
        ),
        Choice::of("group", "any site or tag", known.into_iter().map(named)),
    ]
}

/// The sites and tags of a task, with their kind because their names may be equal.
fn groups(task: &TaskRecord) -> Vec<String> {
    let sites = task.sites.iter().map(|site| format!("site {site}"));
    sites.chain(task.tags.iter().map(|tag| format!("tag {tag}"))).collect()
}

/// The answers, errors and goals of a task's episodes, for the search.
fn more(task: &TaskRecord, records: &[EpisodeRecord]) -> String {
    let own = records.iter().filter(|record| record.task == task.id);
    let texts = own.flat_map(|record| {
        [record.answer.as_deref(), record.outcome.failure(), record.goal.as_deref()]
            .into_iter()
            .flatten()
    });
    let texts: BTreeSet<&str> = texts.collect();
    texts.into_iter().collect::<Vec<_>>().join("\n")
}
