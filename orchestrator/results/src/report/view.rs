//! The data of the report's template: all values are selected, counted and formatted.

use serde::Serialize;

use super::Form;
use super::budget::{Budget, weight};
use super::episode::{EpisodeRenderer, LINE};
use super::pictures::{EmbeddedImage, Pictures};
use super::rows::{Row, choices, rows};
use crate::analysis::compare::first_differences;
use crate::analysis::groups::{By, Group};
use crate::analysis::nondeterminism::Nondeterminism;
use crate::analysis::statistics::Method;
use crate::analysis::summary::{Cause, MissCount};
use crate::analysis::table::models;
use crate::html::words::{
    Choice, Level, Share, clip, levels, percent, ranges, seconds, shares, two_digits, verdict,
};
use crate::stored::{EpisodeRecord, RunFolder, RunRecord};
use crate::{Difference, Error, Summary};

/// Maximum number of differences between repeats.
const DIFFERENCES: usize = 20;
/// Maximum number of misses, of refused hosts and of errors.
const NAMED: usize = 100;
/// Maximum number of characters of one of them.
const NAME: usize = 500;

/// A group of tasks.
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
    played: usize,
    not_played: usize,
    deterministic: Option<bool>,
    /// The reason why repeats are expected to differ.
    expected: Option<&'static str>,
    fingerprints: Vec<FingerprintView>,
    request_total: u64,
    levels: Vec<Level>,
    /// Number of search engine requests answered from recorded pages.
    searches: u64,
    /// Usage of the agents' models and of the judges.
    models: Option<String>,
    judging: Option<String>,
    causes: Vec<Cause>,
    misses: Vec<MissCount>,
    misses_left_out: usize,
    miss_total: u64,
    refused_total: u64,
    refused_hosts: Vec<String>,
    refused_count: usize,
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
    /// Whether the page has everything inline.
    inline: bool,
    pictures: Vec<EmbeddedImage>,
    pictures_linked: usize,
    observations_left_out: usize,
    steps_left_out: usize,
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

/// Formats the numbers of a run.
pub(super) fn page(
    folder: &RunFolder,
    run: &RunRecord,
    summary: &Summary,
    records: &[EpisodeRecord],
    form: Form,
) -> Result<Page, Error> {
    let (differences, differences_left_out) = first_differences(folder, records, DIFFERENCES);
    let misses: Vec<MissCount> = summary.misses.iter().take(NAMED).map(clipped).collect();
    let mut rows = rows(run, summary, records, form);
    // The rows are on the page in any case; steps and pictures share what is left of its size.
    let taken = rows.iter().map(Row::weight).sum::<usize>()
        + records.len() * LINE
        + summary.groups.len() * 600
        + misses.iter().map(|miss| 200 + 2 * weight(&miss.url)).sum::<usize>();
    let groups = groups_of(records);
    let budget = Budget::new(form, taken, groups.iter().map(|(_, variants)| variants.len()).sum());
    let mut drawing = EpisodeRenderer { folder, form, pictures: Pictures::new(form), budget };
    for (task, variants) in groups {
        let variants =
            variants.iter().map(|alike| drawing.variant(alike)).collect::<Result<_, _>>()?;
        if let Some(row) = rows.iter_mut().find(|row| row.task() == task) {
            row.variants = variants;
        }
    }
    let EpisodeRenderer { pictures, budget, .. } = drawing;
    let pictures_linked = pictures.linked;
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
        played: summary.played,
        not_played: summary.tasks.len() - summary.played,
        deterministic: summary.deterministic,
        expected: summary.nondeterminism.map(Nondeterminism::reason),
        fingerprints: fingerprints(summary),
        request_total: summary.requests.total(),
        searches: summary.requests.search,
        models: summary.models.as_ref().map(models),
        judging: summary.judging.as_ref().map(models),
        causes: summary.causes.iter().take(NAMED).map(clipped_cause).collect(),
        levels: levels(&summary.requests),
        misses_left_out: summary.misses.len() - misses.len(),
        misses,
        miss_total: summary.requests.miss,
        refused_total: summary.requests.refused,
        refused_hosts: summary
            .refused_hosts
            .iter()
            .take(NAMED)
            .map(|host| clip(host, NAME))
            .collect(),
        refused_count: summary.refused_hosts.len(),
        errors: summary.errors,
        facts: summary.facts(),
        shares: shares(&summary.times),
        groups: summary.groups.iter().map(group_row).collect(),
        timeouts: summary.timeouts,
        steps: summary.steps,
        time: seconds(summary.wall_ms),
        choices: choices(run, &rows),
        rows,
        differences_left_out,
        differences,
        inline: form == Form::Inline,
        pictures: pictures.into_embedded(),
        pictures_linked,
        observations_left_out: budget.observations_left_out,
        steps_left_out: budget.steps_left_out,
    })
}

/// The episodes by task, in their order, grouped by fingerprint.
fn groups_of(records: &[EpisodeRecord]) -> Vec<(&str, Vec<Vec<&EpisodeRecord>>)> {
    let by_task = records.chunk_by(|a, b| a.task == b.task);
    by_task.filter_map(|own| Some((own.first()?.task.as_str(), same_fingerprint(own)))).collect()
}

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

fn clipped(miss: &MissCount) -> MissCount {
    let nearest = miss.nearest.as_ref().map(|url| clip(url, NAME));
    MissCount {
        method: clip(&miss.method, 20),
        url: clip(&miss.url, NAME),
        nearest,
        count: miss.count,
    }
}

fn clipped_cause(cause: &Cause) -> Cause {
    Cause { message: clip(&cause.message, NAME), ..cause.clone() }
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
