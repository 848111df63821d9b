//! A step, as data for the template.

use camino::Utf8Path;
use serde::Serialize;

use super::call::CallView;
use super::changes::{Changes, changes};
use super::{console, network};
use crate::analysis::table::models;
use crate::html::download::Download;
use crate::html::png::dimensions;
use crate::html::words::{seconds, two_digits};
use crate::stored::{ModelUsage, Request, Step, StepCall, StepMessage, files};

/// Smaller differences of scores are rounding errors.
const CHANGE: f64 = 1e-9;

/// The context of a step: records of its episode.
pub(super) struct Recorded<'a> {
    pub(super) folder: &'a Utf8Path,
    pub(super) requests: &'a [Request],
    pub(super) messages: &'a [StepMessage],
    pub(super) calls: &'a [StepCall],
    pub(super) wall_ms: u64,
}

#[derive(Serialize)]
pub(super) struct StepView {
    pub(super) step: u32,
    url: String,
    title: String,
    /// By the page's clock.
    clock: Option<String>,
    at: String,
    agent: Option<String>,
    acting: Option<String>,
    shot: Option<Shot>,
    action: Option<String>,
    reason: Option<String>,
    element: Option<ActionTarget>,
    receiver: Option<String>,
    error: Option<String>,
    unsettled: Option<String>,
    /// Tokens and cost of the step's model calls.
    models: Option<String>,
    /// The model calls with their replies.
    calls: Vec<CallView>,
    dialogs: Vec<String>,
    notices: Vec<String>,
    downloads: Vec<Download>,
    score: Option<String>,
    /// The progress of each key node.
    nodes: Vec<String>,
    events: Vec<Event>,
    /// Requests that may have changed the state of a site.
    site_writes: Vec<String>,
    /// Number of requests, and of those that were not answered.
    requests: usize,
    unanswered: usize,
    /// Number of console messages, and of uncaught errors.
    messages: usize,
    thrown: usize,
    /// The step on the time line.
    span: Span,
    /// The changes since the previous step. `None` in the first step, or if one of them has only a
    /// URL.
    changes: Option<Changes>,
    /// Whether the URL differs from the previous step's.
    another_page: bool,
    observation: String,
    lines: usize,
    /// The marks of the step in the overview.
    marks: Vec<&'static str>,
}

/// The place of a step on the time line, in percent of the episode's time.
#[derive(Serialize)]
struct Span {
    left: f64,
    width: f64,
    /// Of the width: the agent's part and the action's part.
    agent: f64,
    acting: f64,
}

/// A screenshot with the targets of actions.
#[derive(Serialize)]
struct Shot {
    file: String,
    width: u32,
    height: u32,
    /// In percent of the image: left, top, width, height.
    mark: Option<[f64; 4]>,
    /// In percent of the image: left, top.
    points: Vec<[f64; 2]>,
    /// Whether the element was outside of the image.
    outside: bool,
    /// The boxes of the elements by their bids, in pixels of the image, as JSON. Empty without any.
    boxes: String,
}

#[derive(Serialize)]
struct ActionTarget {
    selector: String,
    value: String,
}

/// A change of the score.
#[derive(Serialize)]
struct Event {
    good: bool,
    text: String,
}

/// Formats a step, compared with the one before it. `after` is the next step.
pub(super) fn step(
    recorded: &Recorded<'_>,
    before: Option<&Step>,
    step: &Step,
    after: Option<&Step>,
) -> StepView {
    let step_calls: Vec<&StepCall> =
        recorded.calls.iter().filter(|call| call.step == step.step).collect();
    let (requests, unanswered) = network::counts(step.step, recorded.requests);
    let (messages, thrown) = console::counts(step.step, recorded.messages);
    let events = events(before, step);
    let failed = step.error.is_some() || step.unsettled.is_some();
    let noticed =
        !step.dialogs.is_empty() || !step.notices.is_empty() || !step.downloads.is_empty();
    let marks = [
        (failed, "failed"),
        (thrown > 0, "thrown"),
        (unanswered > 0, "missed"),
        (!events.is_empty(), "scored"),
        (noticed, "noticed"),
    ];
    StepView {
        step: step.step,
        url: step.url.clone(),
        title: step.title.clone(),
        clock: step.elapsed_ms.map(clock),
        at: seconds(step.at_ms),
        agent: step.agent_ms.map(brief),
        acting: step.acting_ms.map(brief),
        shot: shot(recorded.folder, step),
        action: step.action.clone(),
        reason: step.reason.clone(),
        element: step.element.as_ref().map(|element| ActionTarget {
            selector: element.selector.clone(),
            value: element.value.clone(),
        }),
        receiver: step.receiver.clone(),
        error: step.error.clone(),
        unsettled: step.unsettled.clone(),
        models: ModelUsage::of(step_calls.iter().map(|call| &call.call)).as_ref().map(models),
        calls: step_calls.iter().map(|call| CallView::of(&call.call)).collect(),
        dialogs: step.dialogs.iter().map(ToString::to_string).collect(),
        notices: step.notices.clone(),
        downloads: step.downloads.iter().map(|saved| Download::of("", saved)).collect(),
        score: step.score.map(two_digits),
        nodes: step.nodes.iter().map(|node| two_digits(*node)).collect(),
        events,
        site_writes: network::site_writes(step.step, recorded.requests),
        requests,
        unanswered,
        messages,
        thrown,
        span: span(step, after.map_or(recorded.wall_ms, |after| after.at_ms), recorded.wall_ms),
        // A step whose page was not read would differ in every line.
        changes: before
            .filter(|before| both_seen(before, step))
            .map(|before| changes(&before.observation, &step.observation)),
        another_page: before.is_some_and(|before| page(&before.url) != page(&step.url)),
        lines: step.observation.lines().count(),
        observation: step.observation.clone(),
        marks: marks.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect(),
    }
}

fn span(step: &Step, end_ms: u64, wall_ms: u64) -> Span {
    let share = |part: u64, whole: u64| short(part.min(whole) as f64 * 100.0 / whole.max(1) as f64);
    let width = end_ms.saturating_sub(step.at_ms);
    Span {
        left: share(step.at_ms, wall_ms),
        width: share(width, wall_ms),
        agent: share(step.agent_ms.unwrap_or(0), width),
        acting: share(step.acting_ms.unwrap_or(0), width),
    }
}

fn shot(folder: &Utf8Path, step: &Step) -> Option<Shot> {
    let file = step.screenshot.clone().filter(|file| files::is_beside(file))?;
    let mut head = Vec::new();
    let picture = files::open(&folder.join(&file)).ok()?;
    // A PNG has its size in its first 24 bytes.
    std::io::Read::read_to_end(&mut std::io::Read::take(picture, 24), &mut head).ok()?;
    let (width, height) = dimensions(&head)?;
    let (across, down) = (100.0 / f64::from(width), 100.0 / f64::from(height));
    let bbox = step.element.as_ref().and_then(|element| element.bbox);
    let is_on = |[x, y, w, h]: &[f64; 4]| {
        *x < f64::from(width) && *y < f64::from(height) && x + w > 0.0 && y + h > 0.0
    };
    Some(Shot {
        file,
        width,
        height,
        mark: bbox
            .filter(is_on)
            .map(|[x, y, w, h]| [x * across, y * down, w * across, h * down].map(short)),
        points: step.points.iter().map(|[x, y]| [short(x * across), short(y * down)]).collect(),
        outside: bbox.is_some_and(|bbox| !is_on(&bbox)),
        boxes: match step.boxes.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&step.boxes).unwrap_or_default(),
        },
    })
}

/// The changes of the score since the previous step.
fn events(before: Option<&Step>, step: &Step) -> Vec<Event> {
    let mut events = Vec::new();
    let reached =
        |step: &Step, node: usize| step.nodes.get(node).is_some_and(|score| *score >= 1.0);
    for node in 0..step.nodes.len() {
        if reached(step, node) && !before.is_some_and(|before| reached(before, node)) {
            let text = format!("Key node {} of {} reached", node + 1, step.nodes.len());
            events.push(Event { good: true, text });
        }
    }
    let had = before.map_or(Some(0.0), |before| before.score);
    match (had, step.score) {
        (Some(had), Some(has)) if (has - had).abs() > CHANGE => {
            let text = format!("Score {} → {}", two_digits(had), two_digits(has));
            events.push(Event { good: has > had, text });
        }
        (None, Some(has)) => {
            events.push(Event { good: has > 0.0, text: format!("Score {}", two_digits(has)) });
        }
        _ => {}
    }
    events
}

fn both_seen(before: &Step, step: &Step) -> bool {
    !before.observation.is_empty() && !step.observation.is_empty()
}

/// A URL without its fragment.
fn page(url: &str) -> &str {
    url.split_once('#').map_or(url, |(page, _)| page)
}

/// The page's time in minutes and seconds.
fn clock(millis: u64) -> String {
    format!("{}:{:02}.{}", millis / 60_000, millis / 1_000 % 60, millis / 100 % 10)
}

/// A duration that is often below a second.
pub(super) fn brief(millis: u64) -> String {
    if millis < 1_000 { format!("{millis} ms") } else { seconds(millis) }
}

fn short(percent: f64) -> f64 {
    (percent * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earned(before: Option<(f64, &[f64])>, after: (Option<f64>, &[f64])) -> Vec<String> {
        let step = |score, nodes: &[f64]| Step { score, nodes: nodes.to_vec(), ..Step::default() };
        let before = before.map(|(score, nodes)| step(Some(score), nodes));
        let new_events = events(before.as_ref(), &step(after.0, after.1));
        new_events.into_iter().map(|event| event.text).collect()
    }

    #[test]
    fn what_a_step_earned_is_told_once() {
        assert_eq!(earned(None, (Some(0.0), &[])), [] as [&str; 0]);
        assert_eq!(
            earned(Some((0.0, &[0.0, 0.0])), (Some(0.5), &[0.0, 1.0])),
            ["Key node 2 of 2 reached", "Score 0.00 → 0.50"]
        );
        assert_eq!(earned(Some((0.5, &[0.0, 1.0])), (Some(0.5), &[0.0, 1.0])), [] as [&str; 0]);
        assert_eq!(earned(Some((0.5, &[])), (Some(0.25), &[])), ["Score 0.50 → 0.25"]);
    }

    #[test]
    fn the_clock_is_read_in_minutes() {
        assert_eq!([clock(0), clock(5_049), clock(125_900)], ["0:00.0", "0:05.0", "2:05.9"]);
    }
}
