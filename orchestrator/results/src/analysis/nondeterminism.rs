//! Reasons why repeats of a run are expected to differ, which are no faults.

use serde::Serialize;

use crate::stored::{EpisodeRecord, RunRecord};

/// A reason why an agent's repeats differ by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nondeterminism {
    /// The agent acts at random, differently in every repeat.
    RandomAgent,
    /// A server, not a cassette, answered at least one of the agent's model calls.
    LiveModel,
}

impl Nondeterminism {
    /// The reason for this run. `None` if its repeats must be equal.
    pub(crate) fn of(run: &RunRecord, episodes: &[EpisodeRecord]) -> Option<Nondeterminism> {
        if agents::is_random(&run.agent) {
            return Some(Nondeterminism::RandomAgent);
        }
        let mut spent = episodes.iter().filter_map(|episode| episode.models.as_ref());
        let is_live = spent.any(|spent| spent.calls > spent.recorded + spent.failed);
        is_live.then_some(Nondeterminism::LiveModel)
    }

    /// The reason as text, after "as expected: ".
    pub fn reason(self) -> &'static str {
        match self {
            Nondeterminism::RandomAgent => "the agent acts at random",
            Nondeterminism::LiveModel => "the model was asked live",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{EpisodeId, ModelUsage, Outcome};

    fn of(agent: &str, spent: Option<ModelUsage>) -> Option<Nondeterminism> {
        let run = RunRecord::new("demo", "d".to_owned(), agent.to_owned(), 2, Vec::new());
        let id = EpisodeId { task: "a".to_owned(), repeat: 1 };
        let record = EpisodeRecord::new(&id, Outcome::Stopped, jiff::Timestamp::UNIX_EPOCH);
        Nondeterminism::of(&run, &[EpisodeRecord { models: spent, ..record }])
    }

    #[test]
    fn chance_and_live_models_are_told_from_what_has_to_repeat() {
        let usage = |calls, recorded, failed| {
            Some(ModelUsage { calls, recorded, failed, ..ModelUsage::default() })
        };
        for agent in ["random", "cot->random", "random -> oracle"] {
            assert_eq!(of(agent, None), Some(Nondeterminism::RandomAgent), "{agent}");
        }
        for agent in ["oracle", "noop", "program:random", "program:x -> random", "randomised"] {
            assert_eq!(of(agent, None), None, "{agent}");
        }
        assert_eq!(of("cot", usage(3, 2, 0)), Some(Nondeterminism::LiveModel));
        assert_eq!(of("cot", usage(3, 3, 0)), None);
        assert_eq!(of("cot", usage(3, 2, 1)), None);
    }
}
