//! The repeats of a task, as data for the template.

use serde::Serialize;

use super::Form;
use super::budget::{Budget, Share, weight};
use super::pictures::{Pictures, PlacedImage};
use crate::Error;
use crate::html::download::Download;
use crate::html::requests::{Requests, requests_of};
use crate::html::words::{
    clip, episode_verdict, link, message, ranges, seconds, two_digits, worded,
};
use crate::stored::files::is_beside;
use crate::stored::{EpisodeRecord, Request, RunFolder, Step};

/// Size of the line of one repeat in bytes.
pub(super) const LINE: usize = 150;
/// Size of a step or an episode's details without texts, in bytes.
const STEP: usize = 900;
/// Maximum number of characters of a text in a linked report.
const SAID: usize = 300;

/// Repeats with the same fingerprint, shown by the first of them.
#[derive(Serialize)]
pub(super) struct Variant {
    /// The numbers of the repeats, such as `1–3`.
    repeats: String,
    verdict: &'static str,
    score: String,
    outcome: &'static str,
    actions: u32,
    time: String,
    /// Links to the viewers of the repeats. Empty in an inline report.
    traces: Vec<TraceLink>,
    /// The details, if there is space for them.
    detail: Option<Detail>,
}

/// The link to the viewer of one repeat.
#[derive(Serialize)]
struct TraceLink {
    repeat: u32,
    link: String,
}

#[derive(Serialize)]
struct Detail {
    /// The goal, if the page gave it.
    goal: Option<String>,
    fingerprint: String,
    message: Option<String>,
    answer: Option<String>,
    /// The path of the agent's standard error, if it has any.
    stderr: Option<String>,
    /// The link to its folder, ending in `/`.
    folder: String,
    opening: Requests,
    steps: Vec<StepView>,
    /// Number of steps that only the viewer has.
    steps_left_out: usize,
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
    notices: Vec<String>,
    downloads: Vec<Download>,
    unsettled: Option<String>,
    shot: Option<PlacedImage>,
    observation: Option<String>,
    observation_lines: usize,
    requests: Requests,
}

/// Renders the episodes of a report within its budget.
pub(super) struct EpisodeRenderer<'a> {
    pub(super) folder: &'a RunFolder,
    pub(super) form: Form,
    pub(super) pictures: Pictures,
    pub(super) budget: Budget,
}

impl EpisodeRenderer<'_> {
    /// Renders the episodes of one fingerprint.
    pub(super) fn variant(&mut self, alike: &[&EpisodeRecord]) -> Result<Variant, Error> {
        let record = alike[0];
        let (form, pictures) = (self.form, &mut self.pictures);
        let mut share = self.budget.share();
        let detail = match share.is_any() {
            // One that cannot be read costs the others nothing.
            true => Some(
                detail(self.folder, form, record, pictures, &mut share)
                    .unwrap_or_else(|error| unreadable(form, record, &error)),
            ),
            false => None,
        };
        Ok(Variant {
            repeats: ranges(&alike.iter().map(|record| record.repeat).collect::<Vec<_>>()),
            verdict: episode_verdict(record),
            score: record.score.map_or_else(|| "–".to_owned(), two_digits),
            outcome: worded(record.outcome.kind()),
            actions: record.steps,
            time: seconds(record.wall_ms),
            traces: match form {
                Form::Linked => alike.iter().map(|record| trace_link(record)).collect(),
                Form::Inline => Vec::new(),
            },
            detail,
        })
    }
}

fn trace_link(record: &EpisodeRecord) -> TraceLink {
    let link = link(&format!("episodes/{}/trace.html", record.id().folder_name()));
    TraceLink { repeat: record.repeat, link }
}

/// The details of an episode whose files cannot be read: why not.
fn unreadable(form: Form, record: &EpisodeRecord, error: &Error) -> Detail {
    let why = format!("failed to {}", error_text::with_causes(error));
    Detail {
        goal: None,
        fingerprint: record.fingerprint.clone(),
        message: Some(shortened(form, &why)),
        answer: None,
        stderr: None,
        folder: link(&format!("episodes/{}/", record.id().folder_name())),
        opening: requests_in(form, 0, &[]),
        steps: Vec::new(),
        steps_left_out: 0,
    }
}

fn detail(
    folder: &RunFolder,
    form: Form,
    record: &EpisodeRecord,
    pictures: &mut Pictures,
    share: &mut Share<'_>,
) -> Result<Detail, Error> {
    let files = folder.episode(&record.id());
    let requests = files.requests()?;
    let short = |text: &String| shortened(form, text);
    let place = link(&format!("episodes/{}/", record.id().folder_name()));
    let stderr = files.path().join("agent.stderr.txt").metadata().is_ok_and(|file| file.len() > 0);
    let mut result = Detail {
        goal: record.goal.as_ref().map(short),
        fingerprint: record.fingerprint.clone(),
        message: message(record).as_ref().map(short),
        answer: record.answer.as_ref().map(short),
        stderr: (stderr && form == Form::Linked).then(|| format!("{place}agent.stderr.txt")),
        folder: place,
        opening: requests_in(form, 0, &requests),
        steps: Vec::new(),
        steps_left_out: 0,
    };
    let texts = [&result.goal, &result.message, &result.answer];
    share.take(STEP + texts.into_iter().flatten().map(|text| weight(text)).sum::<usize>());
    for mut step in files.steps()? {
        let (file, observation) = (step.screenshot.take(), std::mem::take(&mut step.observation));
        let mut view = step_view(form, step, &requests, &result.folder);
        // The rest is counted, so that the page can say how much is missing.
        if !share.take(view.weight()) {
            result.steps_left_out += 1;
            continue;
        }
        // A packed run of a stranger may name any file.
        let file = file.filter(|name| is_beside(name)).map(|name| files.path().join(name));
        view.shot = file.and_then(|file| pictures.place(folder.path(), &file));
        if form == Form::Inline && share.budget.observation(&observation) {
            view.observation_lines = observation.lines().count();
            view.observation = Some(observation);
        }
        result.steps.push(view);
    }
    share.budget.steps_left_out += result.steps_left_out;
    Ok(result)
}

fn step_view(form: Form, step: Step, requests: &[Request], folder: &str) -> StepView {
    let short = |text: String| shortened(form, &text);
    StepView {
        requests: requests_in(form, step.step, requests),
        step: step.step,
        url: short(step.url),
        title: short(step.title),
        action: step.action.map(short),
        reason: step.reason.map(short),
        error: step.error.map(short),
        dialogs: step.dialogs.iter().map(|dialog| short(dialog.to_string())).collect(),
        notices: step.notices.iter().map(|text| short(text.clone())).collect(),
        downloads: step.downloads.iter().map(|saved| Download::of(folder, saved)).collect(),
        unsettled: step.unsettled.map(short),
        shot: None,
        observation: None,
        observation_lines: 0,
    }
}

impl StepView {
    /// The maximum size of the step in bytes.
    fn weight(&self) -> usize {
        let optional =
            [&self.action, &self.reason, &self.error, &self.unsettled].into_iter().flatten();
        let names = self.downloads.iter().map(|file| &file.name);
        // The title is also the image's name. A link to a download has three bytes for each byte.
        let texts = [&self.url, &self.title, &self.title]
            .into_iter()
            .chain(optional)
            .chain(&self.dialogs)
            .chain(&self.notices);
        let texts =
            texts.chain(names.clone()).chain(names.clone()).chain(names.clone()).chain(names);
        let many = (self.dialogs.len() + self.notices.len() + self.downloads.len()) * 150;
        STEP + many + texts.map(|text| weight(text)).sum::<usize>()
    }
}

/// The whole text, or its beginning in a linked report.
fn shortened(form: Form, text: &str) -> String {
    match form {
        Form::Linked => clip(text, SAID),
        Form::Inline => text.to_owned(),
    }
}

/// The requests of a step. A linked report shows only their counts.
fn requests_in(form: Form, step: u32, requests: &[Request]) -> Requests {
    let all = requests_of(step, requests);
    match form {
        Form::Linked => all.counted(),
        Form::Inline => all,
    }
}
