//! The list of a run's episodes, as data for the template.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::html::words::{Choice, episode_verdict, link, seconds, two_digits, worded};
use crate::stored::{EpisodeRecord, RunRecord};

#[derive(Serialize)]
pub(super) struct Page {
    suite: String,
    agent: String,
    sandbox: String,
    started: String,
    repeat: u32,
    choices: Vec<Choice>,
    rows: Vec<Row>,
    /// Whether there is a report beside it.
    report: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    task: String,
    repeat: u32,
    goal: String,
    link: String,
    verdict: &'static str,
    outcome: &'static str,
    score: String,
    steps: u32,
    misses: u64,
    refused: u64,
    time: String,
    wall_ms: u64,
    /// Additional text for the search.
    more: String,
}

/// Formats the episodes of a run.
pub(super) fn page(run: &RunRecord, episodes: &[EpisodeRecord], report: bool) -> Page {
    let rows: Vec<Row> = episodes.iter().map(|episode| row(run, episode)).collect();
    let verdicts: Vec<&str> = rows.iter().map(|row| row.verdict).collect();
    let outcomes: BTreeSet<&str> = rows.iter().map(|row| row.outcome).collect();
    let outcomes = outcomes.into_iter().map(|word| (word.to_owned(), word.to_owned()));
    Page {
        suite: run.suite.clone(),
        agent: run.agent.clone(),
        sandbox: run.sandbox.clone(),
        started: run.started.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        repeat: run.repeat,
        choices: vec![Choice::verdict(&verdicts), Choice::of("outcome", "any ending", outcomes)],
        rows,
        report,
    }
}

fn row(run: &RunRecord, episode: &EpisodeRecord) -> Row {
    let task = run.tasks.iter().find(|task| task.id == episode.task);
    let goal = task.map_or("", |task| &task.goal);
    let message = episode.outcome.failure().unwrap_or_default();
    let known = task
        .map(|task| [task.sites.as_slice(), &task.tags].concat().join("\n"))
        .unwrap_or_default();
    Row {
        id: episode.id().to_string(),
        task: episode.task.clone(),
        repeat: episode.repeat,
        goal: episode.goal.as_deref().unwrap_or(goal).to_owned(),
        link: link(&format!("episodes/{}/trace.html", episode.id().folder_name())),
        verdict: episode_verdict(episode),
        outcome: worded(episode.outcome.kind()),
        score: episode.score.map_or_else(|| "–".to_owned(), two_digits),
        steps: episode.steps,
        misses: episode.requests.miss,
        refused: episode.requests.refused,
        time: seconds(episode.wall_ms),
        wall_ms: episode.wall_ms,
        more: [episode.answer.as_deref().unwrap_or_default(), message, &known].join("\n"),
    }
}
