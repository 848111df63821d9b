//! Fingerprints: digests over what must repeat. `FORMAT.md` lists what they cover.

use camino::Utf8Path;
use observation::Dialog;
use serde::Serialize;

use crate::Error;
use crate::stored::digest::Lines;
use crate::stored::{EpisodeRecord, Request, RunFolder, SavedFile, Step};

/// The repeatable part of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CanonicalStep<'a> {
    /// The number of the step. Step 0 is the opening of the start page.
    pub step: u32,
    /// The URL of the page.
    pub url: Option<&'a str>,
    /// The title of the page.
    pub title: Option<&'a str>,
    /// The accessibility tree of the page.
    pub observation: Option<&'a str>,
    /// Dialogs that opened before this observation.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub dialogs: &'a [Dialog],
    /// Files that pages downloaded.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub downloads: &'a [SavedFile],
    /// Texts that came and went before this observation.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub notices: &'a [String],
    /// The agent's action.
    pub action: Option<&'a str>,
    /// The reason why the action failed.
    pub error: Option<&'a str>,
    /// `METHOD STATUS LEVEL URL`, sorted.
    pub requests: Vec<String>,
}

/// The repeatable part of an episode's end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CanonicalEnd<'a> {
    /// The name of the outcome.
    pub outcome: &'a str,
    /// The final answer.
    pub answer: Option<&'a str>,
    /// The score. `None` if a judge must decide and has not.
    pub score: Option<f64>,
    /// The goal, if the page gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<&'a str>,
}

#[derive(Serialize)]
struct CanonicalHead<'a> {
    fingerprint: u32,
    task: &'a str,
}

/// The steps of an episode in canonical form for digests and comparisons. The first is step 0.
pub fn canonical_steps<'a>(steps: &'a [Step], requests: &[Request]) -> Vec<CanonicalStep<'a>> {
    let mut canonical = vec![CanonicalStep::default()];
    canonical.extend(steps.iter().map(|step| CanonicalStep {
        step: step.step,
        url: Some(&step.url),
        title: Some(&step.title),
        observation: Some(&step.observation),
        dialogs: &step.dialogs,
        downloads: &step.downloads,
        notices: &step.notices,
        action: step.action.as_deref(),
        error: step.error.as_deref(),
        requests: Vec::new(),
    }));
    // Chromium checks for a new version of a service worker some real time after a page was opened,
    // in any step.
    let of_pages =
        |request: &&Request| request.entry.destination.as_deref() != Some("serviceworker");
    // It is chance whether a request that a page cancels at once reaches the gateway.
    let answered = |request: &&Request| request.entry.status != 0;
    for Request { step, entry } in requests.iter().filter(of_pages).filter(answered) {
        // A request of a step that was never written belongs to the last written step.
        let place = canonical.partition_point(|known| known.step <= *step) - 1;
        let line =
            format!("{} {} {} {}", entry.method, entry.status, entry.answer.level(), entry.url);
        // It is also chance whether such a request is answered: the first click of a double click
        // opens the same document as the second.
        let document = entry.destination.as_deref() == Some("document");
        if !document || !canonical[place].requests.contains(&line) {
            canonical[place].requests.push(line);
        }
    }
    for step in &mut canonical {
        step.requests.sort();
    }
    canonical
}

/// The end of an episode in canonical form for digests and comparisons.
pub fn canonical_end(record: &EpisodeRecord) -> CanonicalEnd<'_> {
    CanonicalEnd {
        outcome: record.outcome.kind(),
        answer: record.answer.as_deref(),
        score: record.score,
        goal: record.goal.as_deref(),
    }
}

/// Computes the fingerprint of an episode. Ignores the fingerprint in its record.
pub fn of_episode(
    record: &EpisodeRecord,
    steps: &[Step],
    requests: &[Request],
) -> Result<String, Error> {
    let mut digest = Lines::default();
    add(&mut digest, &CanonicalHead { fingerprint: 1, task: &record.task })?;
    for step in canonical_steps(steps, requests) {
        add(&mut digest, &step)?;
    }
    add(&mut digest, &canonical_end(record))?;
    Ok(digest.finish())
}

/// The fingerprint of a repeat, over its episodes' fingerprints in any order.
pub fn of_repeat<'a>(episodes: impl IntoIterator<Item = &'a EpisodeRecord>) -> String {
    let mut lines: Vec<String> = episodes
        .into_iter()
        .map(|episode| format!("{} {}", episode.task, episode.fingerprint))
        .collect();
    lines.sort();
    let mut digest = Lines::default();
    for line in lines {
        digest.add(line.as_bytes());
    }
    digest.finish()
}

/// Computes the fingerprint of every episode again from trace and ledger. Returns episodes whose
/// record has another fingerprint: their files were changed.
pub fn verify(run: &Utf8Path) -> Result<Vec<EpisodeRecord>, Error> {
    let folder = RunFolder::open(run)?;
    let mut changed = Vec::new();
    for record in folder.episodes()? {
        let episode = folder.episode(&record.id());
        if of_episode(&record, &episode.steps()?, &episode.requests()?)? != record.fingerprint {
            changed.push(record);
        }
    }
    Ok(changed)
}

fn add<T: Serialize>(digest: &mut Lines, value: &T) -> Result<(), Error> {
    digest.add(&serde_json::to_vec(value).map_err(|source| Error::Encode { source })?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_that_was_taken_back_is_no_part_of_it() {
        let request = |status: u16, destination: &str, answer: serde_json::Value| -> Request {
            let entry = json!({ "step": 0, "seq": 1, "method": "GET", "url": "https://a.test/", "status": status,
                "destination": destination, "answer": answer, "bytes": 0 });
            serde_json::from_value(entry).expect("a line of the ledger")
        };
        let answered = |destination| request(200, destination, json!({ "level": "exact" }));
        let failed = json!({ "level": "failed", "error": "the client went away" });
        let taken_back = request(0, "document", failed);
        let twice = [answered("document"), answered("document")];
        let expected = ["GET 200 exact https://a.test/"];
        assert_eq!(canonical_steps(&[], &[taken_back, answered("document")])[0].requests, expected);
        assert_eq!(canonical_steps(&[], &twice)[0].requests, expected, "a double click");
        let fetched = canonical_steps(&[], &[answered("empty"), answered("empty")]);
        assert_eq!(fetched[0].requests.len(), 2, "what a script asks for counts");
    }
}
