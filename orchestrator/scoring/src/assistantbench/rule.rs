//! A gold answer of AssistantBench as the rule of a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{question_scorer, question_scorer_fixed};
use crate::{AgentRecord, EvidenceKind, NoState, ROUNDING, Rule, Score, ScoreError, ScoringMode};

/// The gold answer of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "struct variant Scorer::AssistantBench")]
#[schemars(inline, description = "")]
pub struct GoldAnswer {
    /// As in the benchmark's `answer`: a list is one item a line, an object is JSON.
    pub gold: String,
}

impl Rule for GoldAnswer {
    type State = NoState;
    const SOURCE: EvidenceKind = EvidenceKind::Steps;

    fn forgeable(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn is_complete(&self, _: &NoState) -> bool {
        true
    }

    fn score(&self, _: &NoState, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        let Some(answer) = &conduct.answer else {
            return Ok(Score { answered: Some(false), ..Score::of(false, Vec::new()) });
        };
        let scored = match conduct.mode {
            ScoringMode::Faithful => question_scorer(answer, &self.gold)?,
            ScoringMode::Fixed => question_scorer_fixed(answer, &self.gold),
        };
        let success = scored.accuracy >= 1.0 - ROUNDING;
        let answered = Some(scored.has_answer);
        Ok(Score { value: scored.accuracy, answered, ..Score::of(success, Vec::new()) })
    }
}
