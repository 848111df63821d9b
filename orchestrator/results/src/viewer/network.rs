//! The network panel: the requests of an episode, grouped by the steps that caused them.

use gateway::{Answer, GivenCapture, NearestRequest};
use serde::Serialize;

use super::step::brief;
use crate::html::words::size;
use crate::server::recorded::is_recorded;
use crate::stored::{EpisodeFolder, Request, RunRecord};

/// The requests of one step. Step 0 is the opening of the start page.
#[derive(Serialize)]
pub(super) struct RequestGroup {
    step: u32,
    requests: Vec<RequestRow>,
}

#[derive(Serialize)]
struct RequestRow {
    method: String,
    /// The URL's host, and what follows it.
    host: String,
    path: String,
    url: String,
    /// Absent if the client left before there was one.
    status: Option<u16>,
    level: &'static str,
    /// Whether the world could not answer.
    unanswered: bool,
    note: Option<String>,
    /// When the response was recorded, and in which state of its site.
    recorded: Option<String>,
    near: Vec<NearestRequest>,
    size: String,
    time: Option<String>,
    destination: Option<String>,
    /// The link to the recorded exchange.
    exchange: Option<String>,
}

/// The requests in their order, step by step. They are `linked` to their recorded exchanges where
/// these are served.
pub(super) fn groups(requests: &[Request], linked: bool) -> Vec<RequestGroup> {
    let mut groups: Vec<RequestGroup> = Vec::new();
    let mut sorted: Vec<&Request> = requests.iter().collect();
    sorted.sort_by_key(|request| request.step);
    for request in sorted {
        match groups.last_mut() {
            Some(group) if group.step == request.step => group.requests.push(row(request, linked)),
            _ => groups
                .push(RequestGroup { step: request.step, requests: vec![row(request, linked)] }),
        }
    }
    groups
}

/// The numbers of requests of a step, and of those that were not answered. The first step includes
/// the opening of the start page.
pub(super) fn counts(step: u32, requests: &[Request]) -> (usize, usize) {
    let own = requests.iter().filter(|request| belongs(request.step, step));
    let (mut count, mut unanswered) = (0, 0);
    for request in own {
        count += 1;
        unanswered += usize::from(is_unanswered(&request.entry.answer));
    }
    (count, unanswered)
}

/// Whether the viewer shows what happened after `cause` with `step`.
pub(super) fn belongs(cause: u32, step: u32) -> bool {
    cause == step || (cause == 0 && step == 1)
}

/// The requests of a step that may have changed the state of a site.
pub(super) fn site_writes(step: u32, requests: &[Request]) -> Vec<String> {
    let is_write = |request: &&Request| {
        matches!(request.entry.answer, Answer::Site)
            && !matches!(request.entry.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    };
    let own = requests.iter().filter(|request| request.step == step).filter(is_write);
    own.map(|Request { entry, .. }| format!("{} {} ({})", entry.method, entry.url, entry.status))
        .collect()
}

/// Returns a sentence with the place of headers and bodies of requests.
pub(super) fn bodies(run: &RunRecord, files: &EpisodeFolder, linked: bool) -> String {
    if linked {
        return "Open a request for its recorded headers and body.".to_owned();
    }
    if files.path().join("network.har").is_file() {
        return "Headers and bodies are in network.har in the episode's folder. It may contain log-ins, \
                so it is not served."
            .to_owned();
    }
    let snapshots: Vec<&str> = run.world.snapshots.keys().map(String::as_str).collect();
    let kept = "With --keep-network a run keeps them in network.har.";
    if snapshots.is_empty() {
        return format!("Headers and bodies were not kept. {kept}");
    }
    format!(
        "Recorded headers and bodies are in {}. From here they open with: sandbox show RUN --suite SUITE. {kept}",
        snapshots.join(", ")
    )
}

fn is_unanswered(answer: &Answer) -> bool {
    matches!(answer, Answer::Miss { .. } | Answer::Refused { .. } | Answer::Failed { .. })
}

fn row(Request { entry, .. }: &Request, linked: bool) -> RequestRow {
    let note = match &entry.answer {
        Answer::Exact | Answer::Live | Answer::Site | Answer::Miss { .. } => None,
        Answer::Normalised { rules } => Some(format!("by the rules {}", rules.join(", "))),
        Answer::Fuzzy { score, url } => Some(format!("similarity {score:.2}, recorded as {url}")),
        Answer::OtherState { missing, extra, .. } => Some(gateway::state_words(missing, extra)),
        Answer::Search { found, of_site: false } => Some(format!("{found} pages found")),
        Answer::Search { found, of_site: true } => {
            Some(format!("{found} pages found, in place of the site's own search"))
        }
        Answer::Synthesised { what, of } => Some(match of {
            Some(of) => format!("{what}, from an answer of level {}", of.level()),
            None => what.clone(),
        }),
        Answer::Refused { reason } => Some(reason.clone()),
        Answer::Failed { error } => Some(error.clone()),
    };
    let near = match &entry.answer {
        Answer::Miss { near } => near.clone(),
        _ => Vec::new(),
    };
    let rest = entry.url.split_once("://").map_or(entry.url.as_str(), |(_, rest)| rest);
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    RequestRow {
        method: entry.method.clone(),
        host: host.to_owned(),
        path: path.to_owned(),
        url: entry.url.clone(),
        status: Some(entry.status).filter(|status| *status > 0),
        level: entry.answer.level(),
        unanswered: is_unanswered(&entry.answer),
        note,
        recorded: entry.capture.as_ref().map(GivenCapture::words),
        near,
        size: size(entry.bytes),
        time: entry.took_ms.map(brief),
        destination: entry.destination.clone(),
        exchange: (linked && is_recorded(&entry.answer)).then(|| format!("requests/{}", entry.seq)),
    }
}
