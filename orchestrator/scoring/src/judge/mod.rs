//! The questions that published scorers ask a model: their wording, how a reply is read, and what
//! has been ruled so far.
//!
//! A scorer that cannot decide by its rules says
//! [`ScoreError::NeedsJudge`](super::ScoreError::NeedsJudge) and, by
//! [`Assessment::questions`](crate::Assessment::questions), what it wants to know.
//! [`ask`] puts that to a [`Judge`], and what it ruled is kept in the episode's state. What nobody
//! has ruled on is never taken for a 0 or a 1. The wording of the questions is ours; what may be
//! replied and what each reply is worth are the benchmarks'.

mod partial_score;
mod prompt;
mod ruling;

use std::future::Future;

pub use partial_score::PartialScore;
pub use prompt::Prompt;
pub use ruling::{Judgement, Ruling};
use serde::{Deserialize, Serialize};

/// A scorer's question to a model about an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// WebArena's `llm_fuzzy_match`: whether the answer means the same as a reference.
    SameMeaning {
        reference: String,
        /// The answer, as the rules compare it.
        answer: String,
    },
    /// WebChoreArena's `llm_fuzzy_match`: whether the key points of a reference are in the answer,
    /// whatever else it says.
    KeyPoints {
        reference: String,
        /// The answer, as the rules compare it.
        answer: String,
    },
    /// WebArena's `llm_ua_match`: whether the answer's reason for not doing the task is that of the
    /// task's `string_note`.
    SameReason {
        /// The reason that is known.
        reason: String,
        /// The answer, as the rules compare it.
        answer: String,
    },
    /// WebCanvas' `semantic_match`: how well a text meets a criterion, as a share.
    Meets {
        /// Such as `Decide whether the content means gift card`.
        criterion: String,
        /// The content of an element, or an address or a part of it.
        text: String,
    },
    /// VisualWebArena's `eval_vqa`: whether what is said of one of the pictures holds an answer.
    Shows {
        /// As `data:` addresses; each is asked about until one will do.
        pictures: Vec<String>,
        /// Such as `Is there a boat in the picture? (yes/no)`.
        question: String,
        /// The text that the reply must contain, in letters of any case.
        answer: String,
    },
}

/// A model that replies to prompts.
pub trait Judge {
    /// Why there is no reply.
    type Error;

    /// Returns the model's reply. `attempt` counts the attempts at one question from 0.
    fn reply(
        &self,
        prompt: &Prompt,
        attempt: u32,
    ) -> impl Future<Output = Result<String, Self::Error>> + Send;
}

/// Has a question about an episode with this goal ruled on, asking again as often as the published
/// code does where a reply is not understood.
///
/// # Errors
/// When the judge does not reply.
pub async fn ask<J: Judge + Sync>(
    judge: &J,
    goal: &str,
    question: &Question,
) -> Result<Judgement, J::Error> {
    let mut ruling = Ruling::Unreadable;
    for prompt in question.prompts(goal) {
        for attempt in 0..question.attempts() {
            ruling = question.read(&judge.reply(&prompt, attempt).await?);
            if ruling != Ruling::Unreadable {
                break;
            }
        }
        if ruling == Ruling::Score(1.0) {
            break;
        }
    }
    Ok(Judgement { question: question.clone(), ruling })
}
