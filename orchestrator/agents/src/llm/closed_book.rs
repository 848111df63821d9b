//! The closed-book agent of AssistantBench (Yoran et al. 2024, section 4: CB-Inst and CB-1S). The
//! model answers from its own knowledge, with or without an example. A model that says it does not
//! know has not answered.

use actions::Action;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{LlmClient, context};
use super::template::Pictures;
use crate::{Agent, Call, Error, Goal, NextReply, Reply, View};

/// The settings that the paper varies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether to show a worked example.
    pub example: bool,
}

pub(super) struct ClosedBook {
    settings: Settings,
    client: LlmClient,
}

impl ClosedBook {
    pub(super) fn new(settings: Settings, client: LlmClient) -> ClosedBook {
        ClosedBook { settings, client }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        let mut context = context(goal, &view, "");
        context.insert("example".to_owned(), json!(self.settings.example));
        let pictures = Pictures { goal: &goal.images, screenshot: None };
        let text = self.client.ask("closed-book", context, pictures).await?;
        Ok(answer(&text))
    }
}

/// The reply to a model's text: the answer is what follows the last `Answer:`. Without an answer
/// the episode stops.
pub(super) fn answer(text: &str) -> Reply {
    let (reasons, answer) = text.rsplit_once("Answer:").unwrap_or((text, ""));
    let answer = answer.trim();
    let reason = Some(reasons.trim().to_owned()).filter(|reasons| !reasons.is_empty());
    let unknown = ["", "none", "n/a", "unknown"]
        .contains(&answer.trim_end_matches('.').to_lowercase().as_str());
    if unknown {
        return Reply::Stop { reason };
    }
    Reply::act(Action::Answer { text: answer.to_owned() }, reason)
}

impl Agent for ClosedBook {
    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.reply(goal, view))
    }

    fn take_calls(&mut self) -> Vec<Call> {
        self.client.take_calls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_from_none() {
        let answered = Action::Answer { text: "42 'km'".to_owned() };
        let reason = Some("It is far.".to_owned());
        assert_eq!(answer("It is far.\nAnswer: 42 'km'"), Reply::act(answered, reason));
        for none in ["Answer: None", "I do not know", "Answer:", "Answer: unknown."] {
            assert!(matches!(answer(none), Reply::Stop { .. }), "{none}");
        }
    }
}
