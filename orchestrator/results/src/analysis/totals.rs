//! The totals of the episodes that were played now, in one line.

use crate::{EpisodeRecord, ModelUsage, Outcome, counted};

/// Sums over episodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// The number of episodes.
    pub episodes: usize,
    scored: u64,
    score: f64,
    passed: u64,
    errors: u64,
    agent_failures: u64,
    timed_out: u64,
    misses: u64,
    models: Option<ModelUsage>,
}

impl Totals {
    /// Adds an episode.
    pub fn add(&mut self, record: &EpisodeRecord) {
        self.episodes += 1;
        if let Some(score) = record.score {
            self.scored += 1;
            self.score += score;
        }
        self.passed += u64::from(record.success);
        self.errors += u64::from(matches!(record.outcome, Outcome::Error { .. }));
        self.agent_failures += u64::from(matches!(record.outcome, Outcome::AgentFailed { .. }));
        self.timed_out += u64::from(matches!(record.outcome, Outcome::TimedOut));
        self.misses += record.requests.miss;
        self.models = ModelUsage::sum(self.models.take().into_iter().chain(record.models.clone()));
    }

    /// All of it in one line.
    pub fn words(&self) -> String {
        let mut words = vec![match self.scored {
            0 => "no score yet".to_owned(),
            count => format!("score {:.2}", self.score / count as f64),
        }];
        words.push(format!("{} passed", self.passed));
        let mut add = |count: u64, what: String| {
            if count > 0 {
                words.push(what);
            }
        };
        add(self.errors, counted(self.errors, "error"));
        add(self.agent_failures, counted(self.agent_failures, "agent failure"));
        add(self.timed_out, format!("{} timed out", self.timed_out));
        add(
            self.misses,
            if self.misses == 1 { "1 miss".to_owned() } else { format!("{} misses", self.misses) },
        );
        if let Some(ModelUsage { prompt_tokens, completion_tokens, cost, .. }) = &self.models {
            let tokens = prompt_tokens + completion_tokens;
            add(tokens, counted(tokens, "token"));
            words.extend(cost.map(|cost| format!("${cost:.2}")));
        }
        words.join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nothing_is_not_told() {
        let mut totals = Totals::default();
        assert_eq!(totals.words(), "no score yet · 0 passed");
        totals = Totals { scored: 4, score: 3.0, passed: 3, errors: 1, ..totals };
        assert_eq!(totals.words(), "score 0.75 · 3 passed · 1 error");
        let spent = ModelUsage {
            calls: 2,
            prompt_tokens: 900,
            completion_tokens: 100,
            cost: Some(0.126),
            ..ModelUsage::default()
        };
        totals = Totals { misses: 2, models: Some(spent), ..totals };
        assert_eq!(
            totals.words(),
            "score 0.75 · 3 passed · 1 error · 2 misses · 1000 tokens · $0.13"
        );
    }
}
