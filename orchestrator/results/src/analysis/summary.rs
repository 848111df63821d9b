//! The summary of a run in numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use camino::{Utf8Path, Utf8PathBuf};
use gateway::Levels;
use scoring::mode::ScoringMode;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::analysis::groups::{Group, groups};
use crate::analysis::measures::Measures;
use crate::analysis::nondeterminism::Nondeterminism;
use crate::analysis::sensitivity::Sensitivity;
use crate::analysis::statistics::{
    Interval, StandardError, interval, mean, standard_error, variance,
};
use crate::stored::fingerprint::of_repeat;
use crate::stored::{
    Conditions, EpisodeRecord, FORMAT, Format, ModelUsage, Outcome, RunFolder, RunRecord,
    TaskRecord, Times,
};

/// The numbers of a run, which may be incomplete. Displays as a table of 80 columns;
/// [`Summary::table`] takes another width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The version of this document. It changes with the files of a run.
    pub format: Format,
    /// The run's folder.
    pub folder: Utf8PathBuf,
    /// The name of the suite.
    pub suite: String,
    /// The agent.
    pub agent: String,
    /// The rules that scored the episodes.
    #[serde(rename = "rules")]
    pub scoring_mode: ScoringMode,
    /// How far the scores can be believed. Absent for runs before format 2.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// Requested number of attempts at each task.
    pub repeat: u32,
    /// Requested number of episodes.
    pub planned: usize,
    /// Number of existing episodes.
    pub episodes: usize,
    /// Mean over tasks of the means over repeats, without unjudged episodes. Absent without judged
    /// episodes.
    pub score: Option<f64>,
    /// The 95 % interval of the score, over tasks.
    pub interval: Option<Interval>,
    /// The standard errors of the score.
    pub standard_error: StandardError,
    /// Number of episodes without a judged score.
    pub unjudged: usize,
    /// Number of unjudged episodes whose judge failed.
    pub judge_failures: usize,
    /// The score if all unjudged episodes had 0, and if all had 1. Absent without unjudged
    /// episodes.
    pub bounds: Option<(f64, f64)>,
    /// Sensitivity of the score to misses, errors, time-outs and unjudged episodes.
    pub sensitivity: Sensitivity,
    /// Additional measures of papers.
    pub measures: Measures,
    /// The score by site and tag.
    pub groups: Vec<Group>,
    /// Number of tasks with an episode. It is all of them unless the run was stopped.
    pub played: usize,
    /// Number of tasks that passed in every existing repeat.
    pub passed: usize,
    /// Whether all repeats have the same fingerprint. Absent with fewer than two complete repeats.
    pub deterministic: Option<bool>,
    /// The reason why repeats are expected to differ. Absent if they must be equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nondeterminism: Option<Nondeterminism>,
    /// The fingerprint of each complete repeat.
    pub fingerprints: Vec<RepeatFingerprint>,
    /// Requests of all episodes, by how they were answered.
    pub requests: Levels,
    /// Hosts outside of the world that were requested, over all episodes.
    pub refused_hosts: BTreeSet<String>,
    /// Requests that the recording could not answer, with their counts, the most frequent first.
    pub misses: Vec<MissCount>,
    /// Number of episodes that ended in an error.
    pub errors: usize,
    /// Number of episodes that are lost because the agent failed.
    pub agent_failures: usize,
    /// Number of episodes that were attempted more than once, because an attempt ended in an error.
    pub retried: usize,
    /// The messages of errors and failed judges, the most frequent first.
    pub causes: Vec<Cause>,
    /// Number of episodes that ran out of time.
    pub timeouts: usize,
    /// Usage of the agents' models. Absent if none was called.
    pub models: Option<ModelUsage>,
    /// Usage of the judges' models. Absent if none was called.
    pub judging: Option<ModelUsage>,
    /// Number of actions.
    pub steps: u64,
    /// The sum of the episodes' durations in milliseconds.
    pub wall_ms: u64,
    /// The share of each phase in that time, over episodes that recorded it.
    pub times: Times,
    /// The tasks, in the order of the suite.
    pub tasks: Vec<TaskSummary>,
}

/// The fingerprint of one repeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatFingerprint {
    /// The number of the repeat, from 1.
    pub repeat: u32,
    /// SHA-256 in hexadecimal.
    pub fingerprint: String,
}

/// A request that the recording could not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissCount {
    /// The HTTP method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The nearest recorded URL.
    pub nearest: Option<String>,
    /// The count over all episodes.
    pub count: usize,
}

/// The message of an error, with its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The message.
    pub message: String,
    /// Whether it is a judge's error, and the episode has no score.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_judge: bool,
    /// Number of episodes with it.
    pub count: usize,
}

/// The numbers of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskSummary {
    /// Its id.
    pub task: String,
    /// Number of existing episodes.
    pub episodes: usize,
    /// Mean over repeats with a score. Absent if there are none.
    pub score: Option<f64>,
    /// The variance of the score over repeats. Absent with fewer than two.
    pub variance: Option<f64>,
    /// Number of episodes without a judged score.
    pub unjudged: usize,
    /// Whether it passed in every existing repeat.
    pub passed: bool,
    /// The outcomes of its episodes, with their counts.
    pub outcomes: BTreeMap<&'static str, usize>,
    /// The distinct fingerprints of the repeats, in order of appearance.
    pub fingerprints: Vec<String>,
    /// Mean number of actions over repeats.
    pub steps: f64,
    /// Requests over all repeats, by how they were answered.
    pub requests: Levels,
    /// Mean duration in milliseconds.
    pub wall_ms: u64,
}

impl Summary {
    /// Summarizes the run in a folder.
    pub fn read(folder: &Utf8Path) -> Result<Summary, Error> {
        let folder = RunFolder::open(folder)?;
        let run = folder.run()?;
        Ok(Summary::of(folder.path(), &run, &folder.episodes()?))
    }

    /// Summarizes these episodes of a run.
    pub fn of(folder: &Utf8Path, run: &RunRecord, episodes: &[EpisodeRecord]) -> Summary {
        let mut of: HashMap<&str, Vec<&EpisodeRecord>> = HashMap::new();
        for episode in episodes {
            of.entry(&episode.task).or_default().push(episode);
        }
        let own = |task: &TaskRecord| of.get(task.id.as_str()).map_or(&[] as &[_], Vec::as_slice);
        let tasks: Vec<TaskSummary> =
            run.own_tasks().map(|task| of_task(&task.id, own(task))).collect();
        let repeats: Vec<Vec<f64>> = run.own_tasks().map(|task| scores_of(own(task))).collect();
        // The score if all that waits for a judge were worth 0, or 1.
        let bound = |unjudged: f64| {
            let means = run.own_tasks().filter_map(|task| {
                mean(
                    &own(task)
                        .iter()
                        .map(|episode| episode.score.unwrap_or(unjudged))
                        .collect::<Vec<_>>(),
                )
            });
            mean(&means.collect::<Vec<_>>()).unwrap_or(unjudged)
        };
        let unjudged = episodes.iter().filter(|episode| episode.score.is_none()).count();
        let scores: Vec<f64> = tasks.iter().filter_map(|task| task.score).collect();
        let fingerprints = whole_repeats(run, episodes);
        let mut requests = Levels::default();
        let mut times = Times::default();
        for episode in episodes {
            requests.add(&episode.requests);
            times.add(&episode.times.unwrap_or_default());
        }
        let count = |wanted: fn(&Outcome) -> bool| {
            episodes.iter().filter(|episode| wanted(&episode.outcome)).count()
        };
        Summary {
            format: FORMAT,
            folder: folder.to_owned(),
            suite: run.suite.clone(),
            agent: run.agent.clone(),
            scoring_mode: run.scoring_mode,
            conditions: run.conditions.clone(),
            repeat: run.repeat,
            planned: run.planned().len(),
            episodes: episodes.len(),
            score: mean(&scores),
            interval: interval(&scores),
            standard_error: standard_error(&repeats),
            unjudged,
            bounds: (unjudged > 0).then(|| (bound(0.0), bound(1.0))),
            sensitivity: Sensitivity::of(&run.tasks, episodes),
            measures: Measures::of(&run.tasks, episodes),
            groups: groups(run.own_tasks(), &tasks),
            played: tasks.iter().filter(|task| task.is_played()).count(),
            passed: tasks.iter().filter(|task| task.passed).count(),
            // One repeat alone says nothing about it.
            deterministic: (fingerprints.len() > 1).then(|| {
                fingerprints.windows(2).all(|pair| pair[0].fingerprint == pair[1].fingerprint)
            }),
            nondeterminism: Nondeterminism::of(run, episodes),
            fingerprints,
            requests,
            refused_hosts: episodes
                .iter()
                .flat_map(|episode| episode.refused_hosts.iter().cloned())
                .collect(),
            misses: count_misses(episodes),
            judge_failures: episodes.iter().filter(|episode| episode.judge_failed).count(),
            causes: causes(episodes),
            errors: count(|outcome| matches!(outcome, Outcome::Error { .. })),
            agent_failures: count(|outcome| matches!(outcome, Outcome::AgentFailed { .. })),
            retried: episodes.iter().filter(|episode| !episode.earlier.is_empty()).count(),
            timeouts: count(|outcome| matches!(outcome, Outcome::TimedOut)),
            judging: ModelUsage::sum(episodes.iter().filter_map(|episode| episode.judging.clone())),
            models: ModelUsage::sum(episodes.iter().filter_map(|episode| episode.models.clone())),
            steps: episodes.iter().map(|episode| u64::from(episode.steps)).sum(),
            wall_ms: episodes.iter().map(|episode| episode.wall_ms).sum(),
            times,
            tasks,
        }
    }

    /// Whether all planned episodes exist.
    pub fn is_complete(&self) -> bool {
        self.episodes >= self.planned
    }
}

impl TaskSummary {
    /// Whether any of its episodes exists.
    pub fn is_played(&self) -> bool {
        self.episodes > 0
    }
}

fn of_task(id: &str, own: &[&EpisodeRecord]) -> TaskSummary {
    let scores = scores_of(own);
    let mut outcomes = BTreeMap::new();
    let mut fingerprints: Vec<String> = Vec::new();
    let mut requests = Levels::default();
    for episode in own {
        *outcomes.entry(episode.outcome.kind()).or_default() += 1;
        requests.add(&episode.requests);
        if !fingerprints.contains(&episode.fingerprint) {
            fingerprints.push(episode.fingerprint.clone());
        }
    }
    let steps: Vec<f64> = own.iter().map(|episode| f64::from(episode.steps)).collect();
    TaskSummary {
        task: id.to_owned(),
        episodes: own.len(),
        score: mean(&scores),
        variance: (scores.len() > 1).then(|| variance(&scores)),
        unjudged: own.len() - scores.len(),
        passed: !own.is_empty() && own.iter().all(|episode| episode.success),
        outcomes,
        fingerprints,
        steps: mean(&steps).unwrap_or(0.0),
        requests,
        wall_ms: own.iter().map(|episode| episode.wall_ms).sum::<u64>() / own.len().max(1) as u64,
    }
}

/// The scores of judged episodes.
fn scores_of(episodes: &[&EpisodeRecord]) -> Vec<f64> {
    episodes.iter().filter_map(|episode| episode.score).collect()
}

/// The fingerprints of the repeats in which every task was played.
fn whole_repeats(run: &RunRecord, episodes: &[EpisodeRecord]) -> Vec<RepeatFingerprint> {
    let of = |repeat| episodes.iter().filter(move |episode| episode.repeat == repeat);
    let count = run.own_tasks().count();
    (1..=run.repeat)
        .filter(|&repeat| count > 0 && of(repeat).count() == count)
        .map(|repeat| RepeatFingerprint { repeat, fingerprint: of_repeat(of(repeat)) })
        .collect()
}

fn causes(episodes: &[EpisodeRecord]) -> Vec<Cause> {
    let mut counts: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for episode in episodes {
        let unjudged = episode.unjudged.as_ref().filter(|_| episode.judge_failed);
        let cause = match episode.outcome.failure() {
            Some(message) => Some((message, false)),
            None => unjudged.map(|why| (why.as_str(), true)),
        };
        if let Some(cause) = cause {
            *counts.entry(cause).or_default() += 1;
        }
    }
    let cause = |((message, of_judge), count): ((&str, bool), usize)| {
        let message = message.to_owned();
        Cause { message, of_judge, count }
    };
    let mut causes: Vec<Cause> = counts.into_iter().map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes
}

fn count_misses(episodes: &[EpisodeRecord]) -> Vec<MissCount> {
    let mut counts: BTreeMap<(&str, &str), MissCount> = BTreeMap::new();
    for miss in episodes.iter().flat_map(|episode| &episode.misses) {
        let nearest = miss.near.first().map(|near| near.url.clone());
        counts
            .entry((&miss.method, &miss.url))
            .or_insert_with(|| MissCount {
                method: miss.method.clone(),
                url: miss.url.clone(),
                nearest,
                count: 0,
            })
            .count += 1;
    }
    let mut misses: Vec<MissCount> = counts.into_values().collect();
    misses.sort_by_key(|miss| std::cmp::Reverse(miss.count));
    misses
}
