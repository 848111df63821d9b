//! Digests over what must repeat. What is in them, and what is not, is written down in `FORMAT.md`.

use browser::Dialog;
use camino::Utf8Path;
use serde::Serialize;

use crate::Error;
use crate::results::digest::Lines;
use crate::results::{EpisodeRecord, Request, RunFolder, SavedFile, Step};

/// One step of an episode, as far as it must repeat.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CanonicalStep<'a> {
    /// From 0, the opening of the start page.
    pub step: u32,
    /// URL of the page seen.
    pub url: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its accessibility tree.
    pub observation: Option<&'a str>,
    /// Dialogs on the way to it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub dialogs: &'a [Dialog],
    /// What pages had saved.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub downloads: &'a [SavedFile],
    /// What the agent did.
    pub action: Option<&'a str>,
    /// Why that failed.
    pub error: Option<&'a str>,
    /// `METHOD STATUS LEVEL URL`, sorted.
    pub requests: Vec<String>,
}

/// The end of an episode, as far as it must repeat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CanonicalEnd<'a> {
    /// The word for how it ended.
    pub outcome: &'a str,
    /// The final answer.
    pub answer: Option<&'a str>,
    /// What it was worth; nothing where a judge has to decide and has not.
    pub score: Option<f64>,
    /// The goal, where the page gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<&'a str>,
}

#[derive(Serialize)]
struct CanonicalHead<'a> {
    fingerprint: u32,
    task: &'a str,
}

/// The steps of an episode in the form that is digested and compared; the first is step 0.
pub fn canonical_steps<'a>(steps: &'a [Step], requests: &[Request]) -> Vec<CanonicalStep<'a>> {
    let mut canonical = vec![CanonicalStep::default()];
    canonical.extend(steps.iter().map(|step| CanonicalStep {
        step: step.step,
        url: Some(&step.url),
        title: Some(&step.title),
        observation: Some(&step.observation),
        dialogs: &step.dialogs,
        downloads: &step.downloads,
        action: step.action.as_deref(),
        error: step.error.as_deref(),
        requests: Vec::new(),
    }));
    // Chromium looks for a new version of a service worker some real time after a page was opened, hence in any step.
    let of_pages = |request: &&Request| request.entry.destination.as_deref() != Some("serviceworker");
    // Whether a request that a page takes back at once has reached the gateway by then is chance.
    let answered = |request: &&Request| request.entry.status != 0;
    for Request { step, entry } in requests.iter().filter(of_pages).filter(answered) {
        // A request of a step that was never written stands with the last one that was.
        let place = canonical.partition_point(|known| known.step <= *step) - 1;
        let line = format!("{} {} {} {}", entry.method, entry.status, entry.answer.level(), entry.url);
        // So is whether that is answered: the first click of a double click opens what the second
        // opens.
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

/// The end of an episode in the form that is digested and compared.
pub fn canonical_end(record: &EpisodeRecord) -> CanonicalEnd<'_> {
    CanonicalEnd {
        outcome: record.outcome.kind(),
        answer: record.answer.as_deref(),
        score: record.score,
        goal: record.goal.as_deref(),
    }
}

/// The fingerprint of an episode. What the record has in its place is not looked at.
pub fn of_episode(record: &EpisodeRecord, steps: &[Step], requests: &[Request]) -> Result<String, Error> {
    let mut digest = Lines::default();
    add(&mut digest, &CanonicalHead { fingerprint: 1, task: &record.task })?;
    for step in canonical_steps(steps, requests) {
        add(&mut digest, &step)?;
    }
    add(&mut digest, &canonical_end(record))?;
    Ok(digest.finish())
}

/// The fingerprint of one repeat of a run: over its episodes' fingerprints, whatever the order they were played in.
pub fn of_repeat<'a>(episodes: impl IntoIterator<Item = &'a EpisodeRecord>) -> String {
    let mut lines: Vec<String> =
        episodes.into_iter().map(|episode| format!("{} {}", episode.task, episode.fingerprint)).collect();
    lines.sort();
    let mut digest = Lines::default();
    for line in lines {
        digest.add(line.as_bytes());
    }
    digest.finish()
}

/// Computes the fingerprint of every episode anew from the trace and the ledger on disk; gives those whose record says otherwise, which
/// somebody has changed since.
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
        let asked = canonical_steps(&[], &[answered("empty"), answered("empty")]);
        assert_eq!(asked[0].requests.len(), 2, "what a script asks for counts");
    }
}
