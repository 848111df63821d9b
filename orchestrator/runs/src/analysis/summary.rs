//! What a run says in numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use camino::{Utf8Path, Utf8PathBuf};
use gateway::Levels;
use scoring::rules::Rules;
use serde::Serialize;

use crate::Error;
use crate::analysis::groups::{Group, groups};
use crate::analysis::measures::Measures;
use crate::analysis::nondeterminism::Nondeterminism;
use crate::analysis::sensitivity::Sensitivity;
use crate::analysis::statistics::{Interval, StandardError, interval, mean, standard_error, variance};
use crate::results::fingerprint::of_repeat;
use crate::results::{
    EpisodeRecord, FORMAT, Format, ModelUsage, Outcome, RunFolder, RunRecord, TaskRecord, Times,
};

/// The numbers of a run, also of one that is not complete. Shown as a table of 80 columns; [`Summary::table`] takes another width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this document; it moves with the files of a run.
    pub format: Format,
    /// Where the run is.
    pub folder: Utf8PathBuf,
    /// Name of the suite.
    pub suite: String,
    /// The agent.
    pub agent: String,
    /// By which rules episodes were scored.
    pub rules: Rules,
    /// Attempts at each task that were asked for.
    pub repeat: u32,
    /// Episodes that were asked for.
    pub planned: usize,
    /// Episodes that are there.
    pub episodes: usize,
    /// Mean over tasks of the means over repeats, without episodes that wait for a judge; absent when there is nothing else.
    pub score: Option<f64>,
    /// 95 % interval of that, over tasks.
    pub interval: Option<Interval>,
    /// Standard errors of that.
    pub standard_error: StandardError,
    /// Episodes whose score waits for a judge.
    pub unjudged: usize,
    /// Those of them whose judge was asked and failed.
    pub judge_failures: usize,
    /// What the score would be if all of those earned 0, and if all of them earned 1; absent where none waits.
    pub bounds: Option<(f64, f64)>,
    /// How far the score hangs on episodes with misses, errors, time-outs or no ruling.
    pub sensitivity: Sensitivity,
    /// What papers count besides.
    pub measures: Measures,
    /// The score by site and tag.
    pub groups: Vec<Group>,
    /// Tasks with an episode that is there: all of them, unless the run was stopped.
    pub played: usize,
    /// Tasks done entirely in every repeat that is there.
    pub passed: usize,
    /// Whether every repeat has the same fingerprint; absent with fewer than two whole repeats.
    pub deterministic: Option<bool>,
    /// Why repeats are expected to differ; absent where they have to be equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nondeterminism: Option<Nondeterminism>,
    /// The fingerprint of each whole repeat.
    pub fingerprints: Vec<RepeatFingerprint>,
    /// Requests of all episodes by the level they were answered at.
    pub requests: Levels,
    /// Hosts that wanted to leave the world, over all episodes.
    pub refused_hosts: BTreeSet<String>,
    /// Requests that the recording could not answer, with how often; most frequent first.
    pub misses: Vec<MissCount>,
    /// Episodes that ended in an error.
    pub errors: usize,
    /// What those said, and judges that failed, most frequent first.
    pub causes: Vec<Cause>,
    /// Episodes that ran out of time.
    pub timeouts: usize,
    /// What agents' models took; absent where none was asked.
    pub models: Option<ModelUsage>,
    /// What judges took; absent where none was asked.
    pub judging: Option<ModelUsage>,
    /// Actions taken.
    pub steps: u64,
    /// Sum of the episodes' times in milliseconds.
    pub wall_ms: u64,
    /// What that went into, of the episodes that say it.
    pub times: Times,
    /// Per task, in the order of the suite.
    pub tasks: Vec<TaskSummary>,
}

/// The fingerprint of one repeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepeatFingerprint {
    /// From 1.
    pub repeat: u32,
    /// SHA-256 in hexadecimal.
    pub fingerprint: String,
}

/// A request that the recording could not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissCount {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The nearest recorded URL.
    pub nearest: Option<String>,
    /// How often, over all episodes.
    pub count: usize,
}

/// What an error said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Its words.
    pub message: String,
    /// A judge said it, and the episode has no score.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_judge: bool,
    /// Of how many episodes.
    pub count: usize,
}

/// The numbers of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskSummary {
    /// Its id.
    pub task: String,
    /// Episodes that are there.
    pub episodes: usize,
    /// Mean over repeats that have a score; absent when none has.
    pub score: Option<f64>,
    /// Variance of that over repeats; absent with fewer than two.
    pub variance: Option<f64>,
    /// Episodes whose score waits for a judge.
    pub unjudged: usize,
    /// Whether it was done entirely in every repeat that is there.
    pub passed: bool,
    /// How the episodes ended, with how often.
    pub outcomes: BTreeMap<&'static str, usize>,
    /// The different fingerprints of the repeats, in order of appearance.
    pub fingerprints: Vec<String>,
    /// Actions taken, mean over repeats.
    pub steps: f64,
    /// Requests by level, over repeats.
    pub requests: Levels,
    /// Mean time in milliseconds.
    pub wall_ms: u64,
}

impl Summary {
    /// Counts the run in a folder.
    pub fn read(folder: &Utf8Path) -> Result<Summary, Error> {
        let folder = RunFolder::open(folder)?;
        let run = folder.run()?;
        Ok(Summary::of(folder.path(), &run, &folder.episodes()?))
    }

    /// Counts these episodes of a run.
    pub fn of(folder: &Utf8Path, run: &RunRecord, episodes: &[EpisodeRecord]) -> Summary {
        let mut of: HashMap<&str, Vec<&EpisodeRecord>> = HashMap::new();
        for episode in episodes {
            of.entry(&episode.task).or_default().push(episode);
        }
        let own = |task: &TaskRecord| of.get(task.id.as_str()).map_or(&[] as &[_], Vec::as_slice);
        let tasks: Vec<TaskSummary> = run.own_tasks().map(|task| of_task(&task.id, own(task))).collect();
        let repeats: Vec<Vec<f64>> = run.own_tasks().map(|task| scores_of(own(task))).collect();
        let bound = |unjudged: f64| {
            let means = run.own_tasks().filter_map(|task| {
                mean(&own(task).iter().map(|episode| episode.score.unwrap_or(unjudged)).collect::<Vec<_>>())
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
        let count =
            |wanted: fn(&Outcome) -> bool| episodes.iter().filter(|episode| wanted(&episode.outcome)).count();
        Summary {
            format: FORMAT,
            folder: folder.to_owned(),
            suite: run.suite.clone(),
            agent: run.agent.clone(),
            rules: run.rules,
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
            deterministic: (fingerprints.len() > 1)
                .then(|| fingerprints.windows(2).all(|pair| pair[0].fingerprint == pair[1].fingerprint)),
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
            timeouts: count(|outcome| matches!(outcome, Outcome::TimedOut)),
            judging: ModelUsage::sum(episodes.iter().filter_map(|episode| episode.judging.clone())),
            models: ModelUsage::sum(episodes.iter().filter_map(|episode| episode.models.clone())),
            steps: episodes.iter().map(|episode| u64::from(episode.steps)).sum(),
            wall_ms: episodes.iter().map(|episode| episode.wall_ms).sum(),
            times,
            tasks,
        }
    }

    /// Whether every planned episode is there.
    pub fn is_complete(&self) -> bool {
        self.episodes >= self.planned
    }
}

impl TaskSummary {
    /// Whether any of its episodes is there.
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

/// Those that have one: others wait for a judge.
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
        let cause = match &episode.outcome {
            Outcome::Error { message } => Some((message.as_str(), false)),
            _ => unjudged.map(|why| (why.as_str(), true)),
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
