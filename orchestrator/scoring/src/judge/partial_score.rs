//! Scores that a judge may have to complete.

use super::super::ScoreError;
use super::super::mode::ScoringMode;
use super::{Judgement, Question};

/// What an answer is worth as far as rules decide it, and what is left to a judge.
///
/// The score is the product of both.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialScore {
    /// The product of what the rules give.
    pub rule_score: f64,
    /// What a judge has to be asked, in the published order.
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

    /// What is worth what this and another are worth together.
    pub(crate) fn and(&mut self, other: PartialScore) {
        self.rule_score *= other.rule_score;
        self.questions.extend(other.questions);
    }

    /// What `fuzzy_match: "N/A"` leaves after its comparison: the verdict takes the place of the
    /// whole score, of earlier failures, too.
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

    /// What is still to be asked: nothing once a rule is broken, as nothing comes of it whatever a
    /// judge says.
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
