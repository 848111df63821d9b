//! What the template is given: everything chosen, counted and worded, nothing left to compute.

use serde::Serialize;

use super::episode::{Episode, Room, episode};
use super::pictures::{Embedded, Pictures};
use super::rows::{Row, choices, rows};
use crate::groups::{By, Group};
use crate::html::words::{
    Choice, Level, Share, levels, percent, ranges, seconds, shares, two_digits, verdict,
};
use crate::results::{EpisodeRecord, RunFolder, RunRecord};
use crate::statistics::Method;
use crate::table::models;
use crate::{Difference, Error, Summary, compare_repeats};

/// Bytes of observations that are embedded before the rest is left to the trace.
pub(super) const TEXT_LIMIT: usize = 32 << 20;
/// Differences between repeats that are shown.
const DIFFERENCES: usize = 20;

/// Tasks with something in common.
#[derive(Serialize)]
struct GroupRow {
    by: By,
    name: String,
    tasks: usize,
    passed: usize,
    score: String,
    percent: f64,
    verdict: &'static str,
    interval: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Page {
    suite: String,
    agent: String,
    started: String,
    sandbox: String,
    complete: bool,
    episodes_there: usize,
    planned: usize,
    repeat: u32,
    score: Option<String>,
    score_percent: f64,
    interval: Option<IntervalView>,
    passed: usize,
    task_count: usize,
    deterministic: Option<bool>,
    fingerprints: Vec<FingerprintView>,
    request_total: u64,
    levels: Vec<Level>,
    /// Requests to search engines that were answered from the recorded pages.
    searches: u64,
    /// What agents' models and judges took.
    models: Option<String>,
    judging: Option<String>,
    causes: Vec<crate::summary::Cause>,
    misses: Vec<crate::summary::MissCount>,
    miss_total: u64,
    refused_total: u64,
    refused_hosts: Vec<String>,
    errors: usize,
    facts: Vec<(&'static str, String)>,
    shares: Vec<Share>,
    choices: Vec<Choice>,
    groups: Vec<GroupRow>,
    timeouts: usize,
    steps: u64,
    time: String,
    rows: Vec<Row>,
    differences: Vec<Difference>,
    differences_left_out: usize,
    episodes: Vec<Episode>,
    pictures: Vec<Embedded>,
    pictures_linked: usize,
    texts_left_out: usize,
}

#[derive(Serialize)]
struct IntervalView {
    low: String,
    high: String,
    low_percent: f64,
    width_percent: f64,
    method: &'static str,
}

#[derive(Serialize)]
struct FingerprintView {
    fingerprint: String,
    repeats: String,
}

/// Words and numbers for a run.
pub(super) fn page(
    folder: &RunFolder,
    run: &RunRecord,
    summary: &Summary,
    records: &[EpisodeRecord],
) -> Result<Page, Error> {
    let mut pictures = Pictures::default();
    let mut room = Room { left: TEXT_LIMIT, left_out: 0 };
    let mut episodes = Vec::new();
    for of_task in records.chunk_by(|a, b| a.task == b.task) {
        for (variant, alike) in same_fingerprint(of_task).iter().enumerate() {
            let goal = run.tasks.iter().find(|task| task.id == alike[0].task).map_or("", |task| &task.goal);
            episodes.push(episode(folder, goal, alike, variant, &mut pictures, &mut room)?);
        }
    }
    let pictures_linked = pictures.linked;
    let differences = compare_repeats(folder.path())?.differences;
    let rows = rows(run, summary, records);
    Ok(Page {
        suite: run.suite.clone(),
        agent: run.agent.clone(),
        started: run.started.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        sandbox: run.sandbox.clone(),
        complete: summary.is_complete(),
        episodes_there: summary.episodes,
        planned: summary.planned,
        repeat: summary.repeat,
        score: summary.score.map(two_digits),
        score_percent: percent(summary.score.unwrap_or(0.0)),
        interval: summary.interval.map(|interval| IntervalView {
            low: two_digits(interval.low),
            high: two_digits(interval.high),
            low_percent: percent(interval.low),
            width_percent: percent(interval.high) - percent(interval.low),
            method: match interval.method {
                Method::Wilson => "Wilson",
                Method::Bootstrap => "bootstrap",
            },
        }),
        passed: summary.passed,
        task_count: summary.tasks.len(),
        deterministic: summary.deterministic,
        fingerprints: fingerprints(summary),
        request_total: summary.requests.total(),
        searches: summary.requests.search,
        models: summary.models.as_ref().map(models),
        judging: summary.judging.as_ref().map(models),
        causes: summary.causes.clone(),
        levels: levels(&summary.requests),
        misses: summary.misses.clone(),
        miss_total: summary.requests.miss,
        refused_total: summary.requests.refused,
        refused_hosts: summary.refused_hosts.iter().cloned().collect(),
        errors: summary.errors,
        facts: summary.facts(),
        shares: shares(&summary.times),
        groups: summary.groups.iter().map(group_row).collect(),
        timeouts: summary.timeouts,
        steps: summary.steps,
        time: seconds(summary.wall_ms),
        choices: choices(run, &rows),
        rows,
        differences_left_out: differences.len().saturating_sub(DIFFERENCES),
        differences: differences.into_iter().take(DIFFERENCES).collect(),
        episodes,
        pictures: pictures.into_embedded(),
        pictures_linked,
        texts_left_out: room.left_out,
    })
}

/// The episodes of a task, those of one fingerprint together.
fn same_fingerprint(records: &[EpisodeRecord]) -> Vec<Vec<&EpisodeRecord>> {
    let mut groups: Vec<Vec<&EpisodeRecord>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|group| group[0].fingerprint == record.fingerprint) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

fn group_row(group: &Group) -> GroupRow {
    GroupRow {
        by: group.by,
        name: group.name.clone(),
        tasks: group.tasks,
        passed: group.passed,
        score: group.score.map_or_else(|| "–".to_owned(), two_digits),
        percent: percent(group.score.unwrap_or(0.0)),
        verdict: verdict(group.passed == group.tasks, group.score),
        interval: group
            .interval
            .map(|found| format!("{} to {}", two_digits(found.low), two_digits(found.high))),
    }
}

fn fingerprints(summary: &Summary) -> Vec<FingerprintView> {
    let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
    for one in &summary.fingerprints {
        match groups.iter_mut().find(|(known, _)| *known == one.fingerprint) {
            Some((_, repeats)) => repeats.push(one.repeat),
            None => groups.push((&one.fingerprint, vec![one.repeat])),
        }
    }
    groups
        .into_iter()
        .map(|(fingerprint, repeats)| FingerprintView {
            fingerprint: fingerprint.to_owned(),
            repeats: ranges(&repeats),
        })
        .collect()
}
