//! Measures of papers besides the mean score, over episodes, as the papers' code computes them. An
//! episode with an error counts as 0. An unjudged episode is left out.

use serde::Serialize;

use crate::analysis::statistics::mean;
use crate::stored::{EpisodeRecord, Outcome, TaskRecord};

/// Measures of single benchmarks, if they apply.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measures {
    /// AssistantBench (section 4): for tasks that expect an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
    /// Mind2Web-Live (`experiment_results.py` of WebCanvas): for tasks with key nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_nodes: Option<KeyNodes>,
}

/// Measures of answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Answers {
    /// Share of episodes with an answer that is not empty.
    pub rate: f64,
    /// Mean score of these episodes; absent if there are none.
    pub precision: Option<f64>,
    /// Share of episodes whose answer is entirely correct.
    pub exact: f64,
}

/// Measures of key nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KeyNodes {
    /// Share of nodes reached, over all nodes of all episodes.
    pub completion: f64,
    /// Share of episodes that reached every node.
    pub success: f64,
    /// Share of episodes that missed exactly one node.
    pub near_success: f64,
    /// Actions for each node reached, as a mean over episodes. An episode that reached none counts
    /// as 0.
    pub efficiency: f64,
    /// Length compared with a person's solution (`TaskLengthEvaluator` of WebCanvas's
    /// `task_score.py`), as a mean over episodes. It is 1 for fewer than 1.2 times as many actions,
    /// otherwise the ratio of that limit to the actions taken. Absent if no task has a person's
    /// length.
    pub length: Option<f64>,
    /// Model cost in US dollars for each node reached; absent if unknown.
    pub cost: Option<f64>,
}

impl Measures {
    /// Computes the measures of these episodes.
    pub fn of(tasks: &[TaskRecord], episodes: &[EpisodeRecord]) -> Measures {
        let judged: Vec<&EpisodeRecord> =
            episodes.iter().filter(|episode| episode.score.is_some()).collect();
        Measures { answers: answers(&judged), key_nodes: key_nodes(tasks, &judged) }
    }
}

/// The episodes that a measure applies to, with episodes that ended in an error. `None` if it
/// applies to none.
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
    let answered =
        |episode: &EpisodeRecord| episode.detail.as_ref().and_then(|detail| detail.answered);
    let own = about(episodes, |episode| answered(episode).is_some())?;
    let with_answer = own.iter().filter(|episode| answered(episode) == Some(true));
    let scores: Vec<f64> = with_answer.filter_map(|episode| episode.score).collect();
    Some(Answers {
        rate: share(&own, |episode| answered(episode) == Some(true)),
        precision: mean(&scores),
        exact: share(&own, |episode| episode.success),
    })
}

/// A solution shorter than this factor times a person's length counts as equally short.
const AS_LONG: f64 = 1.2;

fn length(tasks: &[TaskRecord], episodes: &[&EpisodeRecord]) -> Option<f64> {
    let scores = episodes.iter().filter_map(|episode| {
        let task = tasks.iter().find(|task| task.id == episode.task)?;
        let (allowed, taken) =
            (f64::from(task.reference_steps?) * AS_LONG, f64::from(episode.steps));
        Some(if taken < allowed { 1.0 } else { allowed / taken.max(1.0) })
    });
    mean(&scores.collect::<Vec<_>>())
}

fn key_nodes(tasks: &[TaskRecord], episodes: &[&EpisodeRecord]) -> Option<KeyNodes> {
    let nodes = |episode: &EpisodeRecord| episode.detail.as_ref().and_then(|detail| detail.nodes);
    let own = about(episodes, |episode| nodes(episode).is_some())?;
    // The record of an episode with an error does not have its number of nodes, so it is taken from
    // another episode of the task.
    let of_task =
        |task: &str| own.iter().filter(|other| other.task == task).find_map(|other| nodes(other));
    let count = |episode: &EpisodeRecord| {
        nodes(episode).or_else(|| of_task(&episode.task)).unwrap_or(0) as f64
    };
    let reached = |episode: &EpisodeRecord| episode.score.unwrap_or(0.0) * count(episode);
    let efficiency = own.iter().map(|episode| match reached(episode) {
        0.0 => 0.0,
        reached => f64::from(episode.steps) / reached,
    });
    let all_reached: f64 = own.iter().map(|episode| reached(episode)).sum();
    let costs: Option<f64> =
        own.iter().filter_map(|episode| episode.models.as_ref()).map(|models| models.cost).sum();
    let has_model_usage = own.iter().any(|episode| episode.models.is_some());
    Some(KeyNodes {
        completion: all_reached / own.iter().map(|episode| count(episode)).sum::<f64>().max(1.0),
        success: share(&own, |episode| episode.success),
        near_success: share(&own, |episode| {
            episode.detail.as_ref().is_some_and(|detail| detail.near_success)
        }),
        efficiency: mean(&efficiency.collect::<Vec<_>>()).unwrap_or(0.0),
        length: length(tasks, &own),
        cost: costs.filter(|_| has_model_usage && all_reached > 0.0).map(|cost| cost / all_reached),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use scoring::Score;

    use super::*;
    use crate::stored::{EpisodeId, ModelUsage};

    fn task(id: &str, reference_steps: Option<u32>) -> TaskRecord {
        TaskRecord {
            id: id.to_owned(),
            goal: String::new(),
            sites: Vec::new(),
            tags: Vec::new(),
            reference_steps,
        }
    }

    fn episode(task: &str, steps: u32, score: f64, cost: Option<f64>) -> EpisodeRecord {
        let id = EpisodeId { task: task.to_owned(), repeat: 1 };
        let mut record = EpisodeRecord::new(&id, Outcome::Stopped, jiff::Timestamp::UNIX_EPOCH);
        (record.steps, record.score, record.success) = (steps, Some(score), score >= 1.0);
        record.detail = Some(Score {
            value: score,
            success: score >= 1.0,
            near_success: false,
            nodes: Some(4),
            answered: None,
            wrong: Vec::new(),
        });
        record.models =
            cost.map(|cost| ModelUsage { calls: 1, cost: Some(cost), ..ModelUsage::default() });
        record
    }

    #[test]
    fn courses_are_compared_with_a_persons() {
        let tasks = [task("a", Some(5)), task("b", Some(10)), task("c", None)];
        let check = |episodes: &[EpisodeRecord], expect: Option<f64>| {
            let length = Measures::of(&tasks, episodes).key_nodes.unwrap().length;
            assert_eq!(length.map(|length| (length * 1000.0).round() / 1000.0), expect);
        };
        check(&[episode("a", 5, 1.0, None)], Some(1.0));
        check(&[episode("a", 6, 1.0, None)], Some(1.0));
        check(&[episode("a", 12, 1.0, None)], Some(0.5));
        check(
            &[episode("a", 12, 1.0, None), episode("b", 0, 0.0, None), episode("c", 99, 1.0, None)],
            Some(0.75),
        );
        check(&[episode("c", 3, 1.0, None)], None);
    }

    #[test]
    fn a_node_costs_what_all_asking_cost_over_all_nodes_reached() {
        let cost = |episodes: &[EpisodeRecord]| Measures::of(&[], episodes).key_nodes.unwrap().cost;
        assert_eq!(
            cost(&[episode("a", 1, 0.5, Some(0.25)), episode("b", 1, 0.5, Some(0.75))]),
            Some(0.25)
        );
        assert_eq!(cost(&[episode("a", 1, 0.0, Some(0.25))]), None, "no node was reached");
        assert_eq!(cost(&[episode("a", 1, 1.0, None)]), None, "nobody was asked");
    }
}
