//! One episode for the template.

use gateway::{Answer, Levels, Near};
use serde::Serialize;

use super::pictures::{Pictures, Placed};
use super::words::{Level, anchor, levels, ranges, seconds, size, two_digits, verdict, worded};
use crate::Error;
use crate::results::{EpisodeRecord, Outcome, Request, RunFolder, Saved, Step};

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
    opening: Requests,
    steps: Vec<StepView>,
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

#[derive(Serialize, Default)]
struct Requests {
    count: usize,
    levels: Vec<Level>,
    alarming: bool,
    list: Vec<RequestView>,
}

#[derive(Serialize)]
struct RequestView {
    method: String,
    url: String,
    status: u16,
    level: &'static str,
    note: Option<String>,
    near: Vec<Near>,
    size: String,
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
        let file = step.screenshot.as_ref().map(|name| files.path().join(name));
        let shot = file.and_then(|file| pictures.place(folder.path(), &file));
        step_view(step, shot, &requests, room)
    });
    Ok(Episode {
        anchor: anchor(&record.task, variant),
        task: record.task.clone(),
        goal: record.goal.as_deref().unwrap_or(goal).to_owned(),
        repeats: ranges(&alike.iter().map(|record| record.repeat).collect::<Vec<_>>()),
        fingerprint: record.fingerprint.clone(),
        verdict: verdict(record.success, record.score),
        score: record.score.map_or_else(|| "–".to_owned(), two_digits),
        outcome: worded(record.outcome.kind()),
        message: match &record.outcome {
            Outcome::Error { message } => Some(message.clone()),
            _ => record.unjudged.as_ref().map(|why| format!("no judge has ruled on the score: {why}")),
        },
        answer: record.answer.clone(),
        time: seconds(record.wall_ms),
        stderr: files.path().join("agent.stderr.txt").metadata().is_ok_and(|file| file.len() > 0),
        folder: format!("episodes/{}", record.id().folder_name().replace('%', "%25")),
        steps: steps.collect(),
        opening: requests_of(0, &requests),
    })
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

fn requests_of(step: u32, requests: &[Request]) -> Requests {
    let own: Vec<&Request> = requests.iter().filter(|request| request.step == step).collect();
    let mut counts = Levels::default();
    for request in &own {
        counts.count(&request.entry.answer);
    }
    Requests {
        count: own.len(),
        levels: levels(&counts),
        alarming: counts.miss + counts.refused + counts.failed > 0,
        list: own.into_iter().map(request_view).collect(),
    }
}

fn request_view(Request { entry, .. }: &Request) -> RequestView {
    let (note, near) = match &entry.answer {
        Answer::Exact | Answer::Live | Answer::Site => (None, Vec::new()),
        Answer::Normalised { rules } => (Some(rules.join(", ")), Vec::new()),
        Answer::Fuzzy { score, url } => (Some(format!("{score:.2} like {url}")), Vec::new()),
        Answer::Synthesised { what, .. } => (Some(what.clone()), Vec::new()),
        Answer::Miss { near } => (None, near.clone()),
        Answer::Refused { reason } => (Some(reason.clone()), Vec::new()),
        Answer::Failed { error } => (Some(error.clone()), Vec::new()),
    };
    RequestView {
        method: entry.method.clone(),
        url: entry.url.clone(),
        status: entry.status,
        level: entry.answer.level(),
        note,
        near,
        size: size(entry.bytes),
    }
}
