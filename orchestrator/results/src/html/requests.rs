//! The list of a step's requests on HTML pages.

use gateway::{Answer, Levels, NearestRequest, state_words};
use serde::Serialize;

use super::words::{Level, levels, size};
use crate::stored::Request;

/// The requests of one step, with counts for each level.
#[derive(Serialize, Default)]
pub(crate) struct Requests {
    pub(crate) count: usize,
    levels: Vec<Level>,
    /// Whether the world could not answer some of them.
    pub(crate) alarming: bool,
    list: Vec<RequestView>,
}

#[derive(Serialize)]
struct RequestView {
    method: String,
    url: String,
    status: u16,
    level: &'static str,
    note: Option<String>,
    near: Vec<NearestRequest>,
    size: String,
}

impl Requests {
    /// Only the counts, without the list.
    pub(crate) fn counted(self) -> Requests {
        Requests { list: Vec::new(), ..self }
    }
}

/// The requests of a step. Step 0 is the opening of the start page.
pub(crate) fn requests_of(step: u32, requests: &[Request]) -> Requests {
    let own: Vec<&Request> = requests.iter().filter(|request| request.step == step).collect();
    let mut counts = Levels::default();
    for request in &own {
        counts.count(&request.entry.answer);
    }
    Requests {
        count: own.len(),
        levels: levels(&counts),
        alarming: counts.other_state + counts.miss + counts.refused + counts.failed > 0,
        list: own.into_iter().map(request_view).collect(),
    }
}

fn request_view(Request { entry, .. }: &Request) -> RequestView {
    let (note, near) = match &entry.answer {
        Answer::Exact | Answer::Live | Answer::Site => (None, Vec::new()),
        Answer::Normalised { rules } => (Some(rules.join(", ")), Vec::new()),
        Answer::Fuzzy { score, url } => (Some(format!("{score:.2} like {url}")), Vec::new()),
        Answer::OtherState { missing, extra, .. } => {
            (Some(state_words(missing, extra)), Vec::new())
        }
        Answer::Search { found, of_site: false } => (Some(format!("{found} found")), Vec::new()),
        Answer::Search { found, of_site: true } => {
            (Some(format!("{found} found, in place of the site's own search")), Vec::new())
        }
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
