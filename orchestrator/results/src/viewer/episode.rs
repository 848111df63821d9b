//! An episode, as data for the template.

use serde::Serialize;

use super::console::{self, MessageGroup};
use super::network::{self, RequestGroup};
use super::step::{Recorded, StepView, step};
use crate::Error;
use crate::analysis::table::models;
use crate::html::words::{
    Level, Share, episode_verdict, levels, message, seconds, shares, two_digits, worded,
};
use crate::stored::{EpisodeFolder, EpisodeRecord, RunRecord};

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
    steps: Vec<StepView>,
    levels: Vec<Level>,
    network: Vec<RequestGroup>,
    /// The place of headers and bodies of requests, as a sentence.
    bodies: String,
    console: Vec<MessageGroup>,
    /// Whether there is a file of console messages.
    has_console: bool,
}

/// Formats an episode. With `recorded_exchanges` there are links to what was recorded.
pub(super) fn page(
    run: &RunRecord,
    record: &EpisodeRecord,
    files: &EpisodeFolder,
    recorded_exchanges: bool,
) -> Result<Page, Error> {
    let (requests, steps, calls) = (files.requests()?, files.steps()?, files.calls()?);
    let messages = files.console()?;
    let recorded = Recorded {
        folder: files.path(),
        requests: &requests,
        messages: &messages,
        calls: &calls,
        wall_ms: record.wall_ms,
    };
    let before = |place: usize| place.checked_sub(1).and_then(|before| steps.get(before));
    let views = steps
        .iter()
        .enumerate()
        .map(|(place, now)| step(&recorded, before(place), now, steps.get(place + 1)));
    // A goal that was read from a page is known only to the episode.
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
        levels: levels(&record.requests),
        network: network::groups(&requests, recorded_exchanges),
        bodies: network::bodies(run, files, recorded_exchanges),
        console: console::groups(&messages),
        has_console: !messages.is_empty(),
    })
}
