//! What papers count besides the mean score, over episodes and as their own code does it. An episode that ended in an error counts as one that
//! earned nothing; one that waits for a judge is left out.

use serde::Serialize;

use crate::results::{EpisodeRecord, Outcome};
use crate::statistics::mean;

/// Figures of single benchmarks, where there is anything to count.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measures {
    /// AssistantBench (section 4): of tasks that want an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
    /// Mind2Web-Live (`experiment_results.py` of WebCanvas): of tasks with key nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_nodes: Option<KeyNodes>,
}

/// How answers did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Answers {
    /// Share of the episodes with an answer that is not empty.
    pub rate: f64,
    /// Mean score of those; absent when there are none.
    pub precision: Option<f64>,
    /// Share of the episodes whose answer is entirely right.
    pub exact: f64,
}

/// How far key nodes were reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KeyNodes {
    /// Nodes reached of all nodes of all episodes.
    pub completion: f64,
    /// Share of the episodes in which every node was reached.
    pub success: f64,
    /// Share of the episodes in which exactly one node was missing.
    pub near_success: f64,
    /// Actions for each node reached, mean over episodes; one that reached none counts as 0.
    pub efficiency: f64,
}

impl Measures {
    /// Counts these episodes.
    pub fn of(episodes: &[EpisodeRecord]) -> Measures {
        let judged: Vec<&EpisodeRecord> = episodes.iter().filter(|episode| episode.score.is_some()).collect();
        Measures { answers: answers(&judged), key_nodes: key_nodes(&judged) }
    }
}

/// Those that the measure is about, with those of which an error says nothing, if there is one of the former.
fn about<'a>(
    episodes: &[&'a EpisodeRecord],
    is_meant: impl Fn(&EpisodeRecord) -> bool,
) -> Option<Vec<&'a EpisodeRecord>> {
    let broken = |episode: &EpisodeRecord| matches!(episode.outcome, Outcome::Error { .. });
    let own: Vec<_> =
        episodes.iter().copied().filter(|episode| is_meant(episode) || broken(episode)).collect();
    own.iter().any(|episode| is_meant(episode)).then_some(own)
}

fn share(episodes: &[&EpisodeRecord], holds: impl Fn(&EpisodeRecord) -> bool) -> f64 {
    episodes.iter().filter(|episode| holds(episode)).count() as f64 / episodes.len().max(1) as f64
}

fn answers(episodes: &[&EpisodeRecord]) -> Option<Answers> {
    let answered = |episode: &EpisodeRecord| episode.detail.as_ref().and_then(|detail| detail.answered);
    let own = about(episodes, |episode| answered(episode).is_some())?;
    let with_answer = own.iter().filter(|episode| answered(episode) == Some(true));
    let scores: Vec<f64> = with_answer.filter_map(|episode| episode.score).collect();
    Some(Answers {
        rate: share(&own, |episode| answered(episode) == Some(true)),
        precision: mean(&scores),
        exact: share(&own, |episode| episode.success),
    })
}

fn key_nodes(episodes: &[&EpisodeRecord]) -> Option<KeyNodes> {
    let nodes = |episode: &EpisodeRecord| episode.detail.as_ref().and_then(|detail| detail.nodes);
    let own = about(episodes, |episode| nodes(episode).is_some())?;
    // What ended in an error has as many nodes as its task, which its record does not tell: the same task's other episodes do.
    let of_task = |task: &str| own.iter().filter(|other| other.task == task).find_map(|other| nodes(other));
    let count =
        |episode: &EpisodeRecord| nodes(episode).or_else(|| of_task(&episode.task)).unwrap_or(0) as f64;
    let reached = |episode: &EpisodeRecord| episode.score.unwrap_or(0.0) * count(episode);
    let efficiency = own.iter().map(|episode| match reached(episode) {
        0.0 => 0.0,
        reached => f64::from(episode.steps) / reached,
    });
    Some(KeyNodes {
        completion: own.iter().map(|episode| reached(episode)).sum::<f64>()
            / own.iter().map(|episode| count(episode)).sum::<f64>().max(1.0),
        success: share(&own, |episode| episode.success),
        near_success: share(&own, |episode| {
            episode.detail.as_ref().is_some_and(|detail| detail.near_success)
        }),
        efficiency: mean(&efficiency.collect::<Vec<_>>()).unwrap_or(0.0),
    })
}
