//! The gaps that the episodes of a run found in the recording: how often, the score without them,
//! and the nearest recorded requests.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::NearestRequest;
use serde::Serialize;

use crate::Error;
use crate::analysis::sensitivity::{Bounds, Cause, Sensitivity};
use crate::analysis::summary::Summary;
use crate::stored::{EpisodeRecord, RunFolder, RunRecord};

/// The misses of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gaps {
    /// The run's folder.
    pub run: Utf8PathBuf,
    /// The suite that was played.
    pub suite: String,
    /// The agent, as given on the command line.
    pub agent: String,
    /// Number of episodes.
    pub episodes: usize,
    /// Number of requests of all episodes.
    pub requests: u64,
    /// Number of misses among them.
    pub misses: u64,
    /// Number of answers from another state of a site among them.
    pub other_state: u64,
    /// The score; absent if nothing was scored.
    pub score: Option<f64>,
    /// The score if each episode with a miss had failed, and if each had passed. Absent without
    /// misses.
    pub bounds: Option<Bounds>,
    /// The episodes with misses, those with most first.
    pub missing: Vec<EpisodeGaps>,
    /// The missed requests, the most frequent first.
    pub missed: Vec<MissedRequest>,
}

/// The misses of one episode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpisodeGaps {
    /// The task.
    pub task: String,
    /// The attempt, from 1.
    pub repeat: u32,
    /// Its score; absent if it is not judged.
    pub score: Option<f64>,
    /// Number of its requests.
    pub requests: u64,
    /// Number of misses among them.
    pub misses: u64,
}

/// A request that was missed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissedRequest {
    /// The HTTP method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// How often it was missed.
    pub count: usize,
    /// Number of tasks whose episodes missed it.
    pub tasks: usize,
    /// The nearest recorded request, with the parts that differ. Absent if nothing is near.
    pub nearest: Option<NearestRequest>,
}

impl Gaps {
    /// Reads the misses of the run in a folder: of these tasks, or of all if none is named.
    ///
    /// # Errors
    /// When it is no run, or cannot be read.
    pub fn read(folder: &Utf8Path, tasks: &[String]) -> Result<Gaps, Error> {
        let folder = RunFolder::open(folder)?;
        let (mut run, mut episodes) = (folder.run()?, folder.episodes()?);
        if !tasks.is_empty() {
            run.tasks.retain(|task| tasks.contains(&task.id));
            episodes.retain(|episode| tasks.contains(&episode.task));
        }
        Ok(Gaps::of(folder.path(), &run, &episodes))
    }

    fn of(folder: &Utf8Path, run: &RunRecord, episodes: &[EpisodeRecord]) -> Gaps {
        let mut missing: Vec<EpisodeGaps> = episodes
            .iter()
            .filter(|episode| episode.requests.miss > 0)
            .map(|episode| EpisodeGaps {
                task: episode.task.clone(),
                repeat: episode.repeat,
                score: episode.score,
                requests: episode.requests.total(),
                misses: episode.requests.miss,
            })
            .collect();
        missing.sort_by_key(|episode| std::cmp::Reverse(episode.misses));
        let bounds = Sensitivity::of(&run.tasks, episodes).by;
        Gaps {
            run: folder.to_owned(),
            suite: run.suite.clone(),
            agent: run.agent.clone(),
            episodes: episodes.len(),
            requests: episodes.iter().map(|episode| episode.requests.total()).sum(),
            misses: episodes.iter().map(|episode| episode.requests.miss).sum(),
            other_state: episodes.iter().map(|episode| episode.requests.other_state).sum(),
            score: Summary::of(folder, run, episodes).score,
            bounds: bounds.into_iter().find(|bounds| bounds.cause == Some(Cause::Miss)),
            missing,
            missed: missed(episodes),
        }
    }
}

/// The missed requests of all episodes, each once.
fn missed(episodes: &[EpisodeRecord]) -> Vec<MissedRequest> {
    let mut found: HashMap<(&str, &str), (MissedRequest, &str)> = HashMap::new();
    // Episodes come task by task.
    for (task, miss) in
        episodes.iter().flat_map(|episode| episode.misses.iter().map(|miss| (&*episode.task, miss)))
    {
        let new = || {
            let (method, url) = (miss.method.clone(), miss.url.clone());
            (
                MissedRequest {
                    method,
                    url,
                    count: 0,
                    tasks: 0,
                    nearest: miss.near.first().cloned(),
                },
                "",
            )
        };
        let (request, last) = found.entry((&miss.method, &miss.url)).or_insert_with(new);
        request.count += 1;
        request.tasks += usize::from(*last != task);
        *last = task;
    }
    let mut missed: Vec<MissedRequest> = found.into_values().map(|(request, _)| request).collect();
    missed.sort_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (&a.url, &a.method).cmp(&(&b.url, &b.method)))
    });
    missed
}

#[cfg(test)]
mod tests {
    use gateway::Levels;
    use jiff::Timestamp;

    use super::*;
    use crate::stored::{EpisodeId, MissRecord, Outcome, TaskRecord};

    fn task(id: &str) -> TaskRecord {
        let (id, goal) = (id.to_owned(), String::new());
        TaskRecord { id, goal, sites: Vec::new(), tags: Vec::new(), reference_steps: None }
    }

    /// An episode with these missed URLs, of ten requests.
    fn episode(task: &str, repeat: u32, score: f64, missed: &[&str]) -> EpisodeRecord {
        let id = EpisodeId { task: task.to_owned(), repeat };
        let near = NearestRequest {
            method: "GET".into(),
            url: "https://a.test/?page=1".into(),
            differs: "parameter page: 2 (recorded: 1)".into(),
        };
        let miss = missed.len() as u64;
        EpisodeRecord {
            score: Some(score),
            requests: Levels { exact: 10 - miss, miss, ..Levels::default() },
            misses: missed
                .iter()
                .map(|url| MissRecord {
                    step: 1,
                    method: "GET".into(),
                    url: (*url).to_owned(),
                    near: vec![near.clone()],
                })
                .collect(),
            ..EpisodeRecord::new(&id, Outcome::Stopped, Timestamp::UNIX_EPOCH)
        }
    }

    #[test]
    fn misses_are_counted_by_episode_and_by_request_and_bound_the_score() {
        let tasks = vec![task("a"), task("b")];
        let run = RunRecord::new("web", String::new(), "random".into(), 2, tasks);
        let episodes = [
            episode("a", 1, 1.0, &["https://a.test/?page=2"]),
            episode("a", 2, 1.0, &["https://a.test/?page=2", "https://a.test/x"]),
            episode("b", 1, 0.0, &["https://a.test/?page=2"]),
            episode("b", 2, 0.0, &[]),
        ];
        let gaps = Gaps::of("run".into(), &run, &episodes);
        assert_eq!((gaps.episodes, gaps.requests, gaps.misses, gaps.score), (4, 40, 4, Some(0.5)));
        let bounds = gaps.bounds.as_ref().map(|bounds| (bounds.episodes, bounds.low, bounds.high));
        assert_eq!(bounds, Some((3, 0.0, 0.75)));
        let missing: Vec<_> =
            gaps.missing.iter().map(|gaps| (&*gaps.task, gaps.repeat, gaps.misses)).collect();
        assert_eq!(missing, [("a", 2, 2), ("a", 1, 1), ("b", 1, 1)]);
        let missed: Vec<_> =
            gaps.missed.iter().map(|miss| (&*miss.url, miss.count, miss.tasks)).collect();
        assert_eq!(missed, [("https://a.test/?page=2", 3, 2), ("https://a.test/x", 1, 1)]);
        let nearest = gaps.missed[0].nearest.as_ref().map(|near| &*near.differs);
        assert_eq!(nearest, Some("parameter page: 2 (recorded: 1)"));
    }

    #[test]
    fn a_run_without_misses_has_no_bounds() {
        let run = RunRecord::new("web", String::new(), "noop".into(), 1, vec![task("a")]);
        let gaps = Gaps::of("run".into(), &run, &[episode("a", 1, 1.0, &[])]);
        assert_eq!(
            (gaps.misses, gaps.bounds, gaps.missing.len(), gaps.missed.len()),
            (0, None, 0, 0)
        );
    }
}
