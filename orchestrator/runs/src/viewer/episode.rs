//! An episode, as data for the template.

use serde::Serialize;

use super::step::{StepView, step};
use crate::Error;
use crate::analysis::table::models;
use crate::html::requests::{Requests, requests_of};
use crate::html::words::{Share, episode_verdict, message, seconds, shares, two_digits, worded};
use crate::results::{EpisodeFolder, EpisodeRecord, RunRecord};

#[derive(Serialize)]
pub(super) struct Page {
    suite: String,
    agent: String,
    sandbox: String,
    task: String,
    repeat: u32,
    repeats: u32,
    goal: String,
    verdict: &'static str,
    score: String,
    outcome: &'static str,
    message: Option<String>,
    wrong: Vec<String>,
    answer: Option<String>,
    actions: u32,
    started: String,
    time: String,
    shares: Vec<Share>,
    /// Usage of models.
    models: Option<String>,
    fingerprint: String,
    stderr: bool,
    opening: Requests,
    steps: Vec<StepView>,
}

/// Formats an episode.
pub(super) fn page(run: &RunRecord, record: &EpisodeRecord, files: &EpisodeFolder) -> Result<Page, Error> {
    let (requests, steps, calls) = (files.requests()?, files.steps()?, files.calls()?);
    let before = std::iter::once(None).chain(steps.iter().map(Some));
    let views = before.zip(&steps).map(|(before, now)| step(files.path(), before, now, &requests, &calls));
    let goal = run.tasks.iter().find(|task| task.id == record.task).map_or("", |task| &task.goal);
    Ok(Page {
        suite: run.suite.clone(),
        agent: run.agent.clone(),
        sandbox: run.sandbox.clone(),
        task: record.task.clone(),
        repeat: record.repeat,
        repeats: run.repeat,
        goal: record.goal.as_deref().unwrap_or(goal).to_owned(),
        verdict: episode_verdict(record),
        score: record.score.map_or_else(|| "–".to_owned(), two_digits),
        outcome: worded(record.outcome.kind()),
        message: message(record),
        wrong: record.detail.as_ref().map(|score| score.wrong.clone()).unwrap_or_default(),
        answer: record.answer.clone(),
        actions: record.steps,
        started: record.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        time: seconds(record.wall_ms),
        shares: record.times.as_ref().map(shares).unwrap_or_default(),
        models: record.models.as_ref().map(models),
        fingerprint: record.fingerprint.clone(),
        stderr: files.path().join("agent.stderr.txt").metadata().is_ok_and(|file| file.len() > 0),
        steps: views.collect(),
        opening: requests_of(0, &requests),
    })
}
