//! The sensitivity of a score to episodes that were no fair attempt: the mean if each of them had
//! failed, and if each had passed.

use std::collections::HashMap;

use serde::Serialize;

use crate::analysis::statistics::mean;
use crate::stored::{EpisodeRecord, Outcome, TaskRecord};

/// The bounds of a run's score. Other episodes keep their scores.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The bounds by each cause that occurs, those that a user can fix most easily first.
    pub by: Vec<Bounds>,
    /// The bounds by all causes together; an episode may have several. Absent without doubtful
    /// episodes.
    pub together: Option<Bounds>,
}

/// The lowest and highest mean over tasks of the means over repeats.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bounds {
    /// The cause; absent if it is any of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Number of episodes with this cause.
    pub episodes: usize,
    /// The score if each of them had failed.
    pub low: f64,
    /// The score if each of them had passed.
    pub high: f64,
}

/// A reason why an episode may say nothing about the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It requested something that the recording lacks.
    Miss,
    /// It got what was recorded in another state of a site.
    OtherState,
    /// It got what rests on the guess that a value is a time stamp or a random token.
    Guess,
    /// It ended in an error.
    Error,
    /// It ran out of time.
    TimeOut,
    /// Its score has not been judged.
    Unjudged,
}

impl Cause {
    const ALL: [Cause; 6] = [
        Cause::Miss,
        Cause::OtherState,
        Cause::Guess,
        Cause::Error,
        Cause::TimeOut,
        Cause::Unjudged,
    ];

    /// Whether an episode has this cause.
    pub fn is_of(self, episode: &EpisodeRecord) -> bool {
        match self {
            Cause::Miss => episode.requests.miss > 0,
            Cause::OtherState => episode.requests.other_state > 0,
            Cause::Guess => episode.requests.guessed > 0,
            Cause::Error => matches!(episode.outcome, Outcome::Error { .. }),
            Cause::TimeOut => episode.outcome == Outcome::TimedOut,
            Cause::Unjudged => episode.score.is_none(),
        }
    }

    /// The plural noun for tables.
    pub fn words(self) -> &'static str {
        match self {
            Cause::Miss => "misses",
            Cause::OtherState => "other states",
            Cause::Guess => "guesses",
            Cause::Error => "errors",
            Cause::TimeOut => "time-outs",
            Cause::Unjudged => "unjudged",
        }
    }
}

impl Sensitivity {
    /// Computes the bounds for these episodes.
    pub fn of(tasks: &[TaskRecord], episodes: &[EpisodeRecord]) -> Sensitivity {
        let mut own: HashMap<&str, Vec<&EpisodeRecord>> = HashMap::new();
        for episode in episodes {
            own.entry(&episode.task).or_default().push(episode);
        }
        let own: Vec<&[&EpisodeRecord]> =
            tasks.iter().filter_map(|task| own.get(task.id.as_str()).map(Vec::as_slice)).collect();
        let by = Cause::ALL.into_iter().filter_map(|cause| bounds(&own, Some(cause))).collect();
        Sensitivity { by, together: bounds(&own, None) }
    }
}

/// The bounds for one cause, or for all. `None` if no episode has it.
fn bounds(tasks: &[&[&EpisodeRecord]], cause: Option<Cause>) -> Option<Bounds> {
    let doubtful = |episode: &EpisodeRecord| match cause {
        Some(cause) => cause.is_of(episode),
        None => Cause::ALL.into_iter().any(|cause| cause.is_of(episode)),
    };
    let episodes = tasks.iter().copied().flatten().filter(|episode| doubtful(episode)).count();
    let score = |had: f64| {
        let of_task = |own: &&[&EpisodeRecord]| {
            let scores =
                own.iter().filter_map(|one| if doubtful(one) { Some(had) } else { one.score });
            mean(&scores.collect::<Vec<_>>())
        };
        mean(&tasks.iter().filter_map(of_task).collect::<Vec<_>>())
    };
    if episodes == 0 {
        return None;
    }
    Some(Bounds { cause, episodes, low: score(0.0)?, high: score(1.0)? })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::stored::EpisodeId;

    fn task(id: &str) -> TaskRecord {
        TaskRecord {
            id: id.to_owned(),
            goal: String::new(),
            sites: Vec::new(),
            tags: Vec::new(),
            reference_steps: None,
        }
    }

    fn episode(task: &str, repeat: u32, score: Option<f64>) -> EpisodeRecord {
        let id = EpisodeId { task: task.to_owned(), repeat };
        let ended = EpisodeRecord::new(&id, Outcome::Stopped, Timestamp::UNIX_EPOCH);
        EpisodeRecord { score, success: score == Some(1.0), ..ended }
    }

    fn fields(bounds: &Bounds) -> (Option<Cause>, usize, f64, f64) {
        (bounds.cause, bounds.episodes, bounds.low, bounds.high)
    }

    #[test]
    fn a_score_without_a_doubt_has_no_bounds() {
        let found = Sensitivity::of(&[task("a")], &[episode("a", 1, Some(1.0))]);
        assert_eq!(found, Sensitivity::default());
    }

    #[test]
    fn each_cause_moves_its_own_episodes_and_all_together_move_each_once() {
        let tasks = [task("a"), task("b"), task("never played")];
        let mut missed = episode("a", 1, Some(1.0));
        missed.requests.miss = 3;
        let late = EpisodeRecord { outcome: Outcome::TimedOut, ..episode("b", 1, Some(0.0)) };
        let mut broken = EpisodeRecord {
            outcome: Outcome::Error { message: String::new() },
            ..episode("b", 2, Some(0.0))
        };
        broken.requests.miss = 1;
        let found = Sensitivity::of(&tasks, &[missed, episode("a", 2, None), late, broken]);
        let by: Vec<_> = found.by.iter().map(fields).collect();
        // The score is 0.5: task a has 1 (its other repeat is unjudged) and task b has 0.
        assert_eq!(
            by,
            [
                (Some(Cause::Miss), 2, 0.0, 0.75),
                (Some(Cause::Error), 1, 0.5, 0.75),
                (Some(Cause::TimeOut), 1, 0.5, 0.75),
                (Some(Cause::Unjudged), 1, 0.25, 0.5),
            ]
        );
        assert_eq!(found.together.as_ref().map(fields), Some((None, 4, 0.0, 1.0)));
    }
}
