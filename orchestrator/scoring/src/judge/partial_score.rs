//! Scores that a judge may have to complete.

use super::super::ScoreError;
use super::super::mode::ScoringMode;
use super::{Judgement, Question};

/// The score of an answer as far as rules decide it, and the questions that are left to a judge.
///
/// The score is the product of both.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialScore {
    /// The product of what the rules give.
    pub rule_score: f64,
    /// The questions for a judge, in the published order.
    pub questions: Vec<Question>,
}

impl PartialScore {
    /// Nothing has been decided.
    pub(crate) fn new() -> PartialScore {
        PartialScore { rule_score: 1.0, questions: Vec::new() }
    }

    /// One more rule.
    pub(crate) fn rule(&mut self, good: bool) {
        self.share(f64::from(u8::from(good)));
    }

    /// One more rule, which may be met in part.
    pub(crate) fn share(&mut self, met: f64) {
        self.rule_score *= met;
    }

    /// Multiplies this score by another one.
    pub(crate) fn and(&mut self, other: PartialScore) {
        self.rule_score *= other.rule_score;
        self.questions.extend(other.questions);
    }

    /// Adds the rest of `fuzzy_match: "N/A"` after its comparison: the verdict takes the place of
    /// the whole score, of earlier failures, too.
    pub(crate) fn not_achievable(
        &mut self,
        equal: bool,
        mode: ScoringMode,
        question: impl FnOnce() -> Question,
    ) {
        match mode {
            ScoringMode::Fixed if equal => {}
            ScoringMode::Fixed => self.questions.push(question()),
            ScoringMode::Faithful => {
                self.rule(equal);
                if self.rule_score < 1.0 {
                    *self = PartialScore { rule_score: 1.0, questions: vec![question()] };
                }
            }
        }
    }

    /// Returns the questions that are still open. Empty once a rule is broken, because no verdict
    /// could change the score.
    pub fn open(&self, judgements: &[Judgement]) -> Vec<&Question> {
        let known =
            |question: &&Question| judgements.iter().any(|known| known.question == **question);
        self.questions.iter().filter(|question| self.rule_score > 0.0 && !known(question)).collect()
    }

    /// The score, given what was ruled.
    ///
    /// # Errors
    /// [`ScoreError::NeedsJudge`] where a ruling is missing that decides, and where the published
    /// code does not understand the judge.
    pub fn score(&self, judgements: &[Judgement], mode: ScoringMode) -> Result<f64, ScoreError> {
        if !self.open(judgements).is_empty() {
            return Err(ScoreError::NeedsJudge);
        }
        let mut score = self.rule_score;
        if score > 0.0 {
            for judgement in
                judgements.iter().filter(|known| self.questions.contains(&known.question))
            {
                score *= judgement.score(mode)?;
            }
        }
        Ok(score)
    }
}
