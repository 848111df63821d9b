//! One episode for the template.

use serde::Serialize;

use super::pictures::{Pictures, Placed};
use crate::Error;
use crate::files::is_beside;
use crate::html::requests::{Requests, requests_of};
use crate::html::words::{anchor, episode_verdict, link, message, ranges, seconds, two_digits, worded};
use crate::results::{EpisodeRecord, Request, RunFolder, Saved, Step};

/// Longest observation that is embedded whole.
const OBSERVATION_LIMIT: usize = 256 << 10;

#[derive(Serialize)]
pub(super) struct Episode {
    anchor: String,
    task: String,
    goal: String,
    repeats: String,
    fingerprint: String,
    verdict: &'static str,
    score: String,
    outcome: &'static str,
    message: Option<String>,
    answer: Option<String>,
    time: String,
    stderr: bool,
    folder: String,
    traces: Vec<TraceLink>,
    opening: Requests,
    steps: Vec<StepView>,
}

/// The viewer of one repeat.
#[derive(Serialize)]
struct TraceLink {
    repeat: u32,
    link: String,
}

#[derive(Serialize)]
struct StepView {
    step: u32,
    url: String,
    title: String,
    action: Option<String>,
    reason: Option<String>,
    error: Option<String>,
    dialogs: Vec<String>,
    downloads: Vec<Saved>,
    unsettled: Option<String>,
    shot: Option<Placed>,
    observation: Option<String>,
    observation_lines: usize,
    requests: Requests,
}

/// How much text may still be embedded.
pub(super) struct Room {
    pub(super) left: usize,
    /// Observations that did not fit.
    pub(super) left_out: usize,
}

/// The episodes of one fingerprint, told by the first of them.
pub(super) fn episode(
    folder: &RunFolder,
    goal: &str,
    alike: &[&EpisodeRecord],
    variant: usize,
    pictures: &mut Pictures,
    room: &mut Room,
) -> Result<Episode, Error> {
    let record = alike[0];
    let files = folder.episode(&record.id());
    let requests = files.requests()?;
    let steps = files.steps()?;
    let steps = steps.into_iter().map(|step| {
        let file =
            step.screenshot.as_ref().filter(|name| is_beside(name)).map(|name| files.path().join(name));
        let shot = file.and_then(|file| pictures.place(folder.path(), &file));
        step_view(step, shot, &requests, room)
    });
    Ok(Episode {
        anchor: anchor(&record.task, variant),
        task: record.task.clone(),
        goal: record.goal.as_deref().unwrap_or(goal).to_owned(),
        repeats: ranges(&alike.iter().map(|record| record.repeat).collect::<Vec<_>>()),
        fingerprint: record.fingerprint.clone(),
        verdict: episode_verdict(record),
        score: record.score.map_or_else(|| "–".to_owned(), two_digits),
        outcome: worded(record.outcome.kind()),
        message: message(record),
        answer: record.answer.clone(),
        time: seconds(record.wall_ms),
        stderr: files.path().join("agent.stderr.txt").metadata().is_ok_and(|file| file.len() > 0),
        traces: alike.iter().map(|record| trace_link(record)).collect(),
        folder: link(&format!("episodes/{}", record.id().folder_name())),
        steps: steps.collect(),
        opening: requests_of(0, &requests),
    })
}

fn trace_link(record: &EpisodeRecord) -> TraceLink {
    let link = link(&format!("episodes/{}/trace.html", record.id().folder_name()));
    TraceLink { repeat: record.repeat, link }
}

fn step_view(step: Step, shot: Option<Placed>, requests: &[Request], room: &mut Room) -> StepView {
    let observation_lines = step.observation.lines().count();
    let fits = step.observation.len() <= OBSERVATION_LIMIT.min(room.left);
    if fits {
        room.left -= step.observation.len();
    } else {
        room.left_out += 1;
    }
    StepView {
        requests: requests_of(step.step, requests),
        step: step.step,
        url: step.url,
        title: step.title,
        action: step.action,
        reason: step.reason,
        error: step.error,
        dialogs: step.dialogs.iter().map(ToString::to_string).collect(),
        downloads: step.downloads,
        unsettled: step.unsettled,
        shot,
        observation: fits.then_some(step.observation),
        observation_lines,
    }
}
