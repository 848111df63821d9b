//! The wording of questions to a model.

use super::Question;
use crate::beginning::beginning;

/// The messages to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The words.
    pub text: String,
    /// The picture that they are about, as a `data:` address.
    pub picture: Option<String>,
    /// From 0, the likeliest words, to 2.
    pub temperature: f64,
    /// How many tokens the reply may have.
    pub max_tokens: u32,
}

impl Question {
    /// The question about an episode with this goal; several times where it is about several
    /// pictures.
    pub fn prompts(&self, goal: &str) -> Vec<Prompt> {
        match self {
            Question::Shows { pictures, .. } => {
                let about = |picture: &String| Prompt {
                    picture: Some(picture.clone()),
                    ..self.prompt(goal)
                };
                pictures.iter().map(about).collect()
            }
            _ => vec![self.prompt(goal)],
        }
    }

    /// Writes the question. The agent's text is cut at the length that a model would read.
    fn prompt(&self, goal: &str) -> Prompt {
        match self {
            // `llm_fuzzy_match` and `llm_ua_match` ask with these settings.
            Question::SameMeaning { reference, answer } => Prompt {
                text: format!(
                    "Someone was asked a question, and their answer has to be graded against a reference. The words may differ; what \
                     counts is whether the answer says the same. Wherever `N/A` stands, it means that the task cannot be done.\n\n\
                     Question: {goal}\nReference: {reference}\nAnswer: {}\n\n\
                     End with your grade, which is one of: correct, partially correct, incorrect.",
                    beginning(answer)
                ),
                picture: None,
                temperature: 0.0,
                max_tokens: 768,
            },
            Question::KeyPoints { reference, answer } => Prompt {
                text: format!(
                    "Someone was asked a question and did what it takes to answer it. Their answer has to be graded \
                     against a reference. The words may differ; what counts is whether the key points of the reference \
                     are in the answer. An answer that says more, and nothing against the reference, is correct, not \
                     partially correct. Wherever `N/A` stands, it means that the task cannot be done.\n\n\
                     Question: {goal}\nReference: {reference}\nAnswer: {}\n\n\
                     End with your grade, which is one of: correct, partially correct, incorrect.",
                    beginning(answer)
                ),
                picture: None,
                temperature: 0.0,
                max_tokens: 768,
            },
            Question::SameReason { reason, answer } => Prompt {
                text: format!(
                    "This task cannot be done, and it is known why. Someone tried it, and gave a reason for not having done it. Judge \
                     whether their reason agrees with the known one, be it only between the lines.\n\n\
                     Task: {goal}\nKnown reason: {reason}\nTheir reason: {}\n\n\
                     Reply `same` if the reasons agree and `different` if they do not.",
                    beginning(answer)
                ),
                picture: None,
                temperature: 0.0,
                max_tokens: 768,
            },
            // `GPTGenerator.request` of WebCanvas.
            Question::Meets { criterion, text } => Prompt {
                text: format!(
                    "{criterion}\n\nContent: {}\n\n\
                     Say how sure you are that it is so, as a number from 0 (it is not) to 1 (it is), between three backticks, \
                     as in ```0.7```.",
                    beginning(text)
                ),
                picture: None,
                temperature: 0.7,
                max_tokens: 500,
            },
            // `captioning_fn` of VisualWebArena, which asks a model that goes on writing where a
            // text ends.
            Question::Shows { question, .. } => Prompt {
                text: format!("Q: {question} A:"),
                picture: None,
                temperature: 0.0,
                max_tokens: 32,
            },
        }
    }

    /// How often the published code asks before it gives up.
    pub(super) fn attempts(&self) -> u32 {
        match self {
            Question::SameMeaning { .. }
            | Question::KeyPoints { .. }
            | Question::SameReason { .. }
            | Question::Shows { .. } => 1,
            Question::Meets { .. } => 3,
        }
    }
}
