//! A gold answer of AssistantBench as the rule of a task.

use super::{question_scorer, question_scorer_fixed};
use crate::{AgentRecord, EvidenceKind, NoState, ROUNDING, Rule, Score, ScoreError, ScoringMode};

/// The gold answer of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldAnswer(pub String);

impl Rule for GoldAnswer {
    type State = NoState;
    const SOURCE: EvidenceKind = EvidenceKind::Steps;

    fn is_complete(&self, _: &NoState) -> bool {
        true
    }

    fn score(&self, _: &NoState, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        let Some(answer) = &conduct.answer else {
            return Ok(Score { answered: Some(false), ..Score::of(false, Vec::new()) });
        };
        let scored = match conduct.mode {
            ScoringMode::Faithful => question_scorer(answer, &self.0)?,
            ScoringMode::Fixed => question_scorer_fixed(answer, &self.0),
        };
        let success = scored.accuracy >= 1.0 - ROUNDING;
        let answered = Some(scored.has_answer);
        Ok(Score { value: scored.accuracy, answered, ..Score::of(success, Vec::new()) })
    }
}
