//! Rulings: how the reply of a model is read, and its value.

use serde::{Deserialize, Serialize};

use super::super::ScoreError;
use super::super::mode::ScoringMode;
use super::Question;

/// A question with what was ruled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub question: Question,
    pub ruling: Ruling,
}

/// The meaning of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// 0 to 1.
    Score(f64),
    /// Nothing that the question allows for.
    Unreadable,
}

impl Question {
    /// Reads a reply.
    pub fn read(&self, reply: &str) -> Ruling {
        let lower = reply.to_lowercase();
        let by_words = |against: &[&str], for_it: &str| {
            if against.iter().any(|word| lower.contains(word)) {
                Ruling::Score(0.0)
            } else if lower.contains(for_it) {
                Ruling::Score(1.0)
            } else {
                Ruling::Unreadable
            }
        };
        match self {
            Question::SameMeaning { .. } | Question::KeyPoints { .. } => {
                by_words(&["partially correct", "incorrect"], "correct")
            }
            Question::SameReason { .. } => by_words(&["different"], "same"),
            Question::Shows { answer, .. } => {
                Ruling::Score(f64::from(u8::from(lower.contains(&answer.to_lowercase()))))
            }
            Question::Meets { .. } => {
                fenced_number(reply).map_or(Ruling::Unreadable, Ruling::Score)
            }
        }
    }
}

/// The number between the first three backticks and the next, between 0 and 1, to two digits.
fn fenced_number(reply: &str) -> Option<f64> {
    let (_, rest) = reply.split_once("```")?;
    let (number, _) = rest.split_once("```")?;
    // What Python evaluates as a number: Rust would take `inf` and `nan`, which are names there.
    let number = number.trim();
    let value: f64 = number.parse().ok().filter(|_| !number.ends_with(char::is_alphabetic))?;
    Some((value.clamp(0.0, 1.0) * 100.0).round_ties_even() / 100.0)
}

impl Judgement {
    /// The score.
    ///
    /// # Errors
    /// Where the published code raises an exception because it understands no reply.
    pub(crate) fn score(&self, mode: ScoringMode) -> Result<f64, ScoreError> {
        match (&self.question, self.ruling) {
            (_, Ruling::Unreadable) if mode == ScoringMode::Fixed => Err(ScoreError::NeedsJudge),
            (_, Ruling::Score(score)) => Ok(score),
            (
                Question::SameMeaning { .. }
                | Question::KeyPoints { .. }
                | Question::SameReason { .. },
                Ruling::Unreadable,
            ) => Err(ScoreError::Raised("AssertionError")),
            (Question::Meets { .. } | Question::Shows { .. }, Ruling::Unreadable) => Ok(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_published() {
        let text = String::new;
        let meaning = Question::SameMeaning { reference: text(), answer: text() };
        let reason = Question::SameReason { reason: text(), answer: text() };
        let meets = Question::Meets { criterion: text(), text: text() };
        let shows =
            Question::Shows { pictures: Vec::new(), question: text(), answer: "YES".to_owned() };
        for (question, reply, expect) in [
            (&meaning, "It is **Correct**.", Some(1.0)),
            (&meaning, "Not correct: incorrect", Some(0.0)),
            (&meaning, "Partially correct", Some(0.0)),
            (&meaning, "Yes", None),
            (&reason, "SAME", Some(1.0)),
            (&reason, "the same in other words, no: different", Some(0.0)),
            (&reason, "alike", None),
            (&meets, "I say ```0.756```, not ```1```", Some(0.76)),
            (&meets, "```\n7\n```", Some(1.0)),
            (&meets, "```-1```", Some(0.0)),
            (&meets, "```inf```", None),
            (&meets, "```sure```", None),
            (&meets, "0.5", None),
            (&shows, "Yes, a red one", Some(1.0)),
            (&shows, "no", Some(0.0)),
        ] {
            assert_eq!(
                question.read(reply),
                expect.map_or(Ruling::Unreadable, Ruling::Score),
                "{reply}"
            );
        }
    }
}
