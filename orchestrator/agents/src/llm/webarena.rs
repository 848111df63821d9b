//! WebArena's prompt agents (Zhou et al. 2023, section 3.2 and appendix; `agent/agent.py`,
//! `agent/prompts`). They send one prompt for each step, with the page, its URL, the goal and the
//! previous action.
//!
//! The reply has an action between three backticks, alone (`direct`) or after reasons (`cot`).
//! There are two worked examples, and an optional hint that some goals cannot be reached.
//! VisualWebArena's variants also see a screenshot with ids and a list of elements.
//!
//! The original describes the previous action as a sentence about its element; here the prompt
//! shows the action itself. An unreadable reply is a failed step, as in the original, and the model
//! sees the error.

use actions::Dialect;
use observation::{Marks, ObservationOptions, ScreenshotOptions, truncate};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{LlmClient, context};
use super::template::Pictures;
use crate::agent::BeginOptions;
use crate::{ActionFormat, Agent, Call, Error, Goal, NextReply, Reply, View};

/// The format of its actions.
pub(super) const FORMAT: ActionFormat =
    ActionFormat { dialect: Dialect::WebArena, multiaction: false };

/// The settings that the paper varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Whether to reason before the action.
    pub reasoning: bool,
    /// Whether to say that some goals cannot be reached.
    #[serde(default)]
    pub unachievable_hint: bool,
    /// Number of worked examples, up to two.
    #[serde(default = "two")]
    pub examples: u32,
    /// Maximum number of tokens of the page.
    #[serde(default = "webarena_tokens")]
    pub observation_tokens: usize,
    /// Whether to show only what is in the viewport.
    #[serde(default)]
    pub viewport_only: bool,
    /// Whether to show a screenshot with ids, and VisualWebArena's list instead of the tree.
    #[serde(default)]
    pub vision: bool,
}

fn two() -> u32 {
    2
}

fn webarena_tokens() -> usize {
    1920
}

pub(super) struct WebArena {
    settings: Settings,
    client: LlmClient,
    previous: Option<String>,
}

impl WebArena {
    pub(super) fn new(settings: Settings, client: LlmClient) -> WebArena {
        WebArena { settings, client, previous: None }
    }

    fn observation_options(&self) -> ObservationOptions {
        let Settings { observation_tokens, viewport_only, vision, .. } = self.settings;
        if vision {
            let screenshot =
                ScreenshotOptions { full_page: false, marks: Some(Marks::VisualWebArena) };
            return ObservationOptions {
                axtree: None,
                visualwebarena: true,
                screenshot,
                ..ObservationOptions::default()
            };
        }
        let text = observation::WebArena {
            viewport_only,
            frames: false,
            max_tokens: Some(observation_tokens),
        };
        ObservationOptions { axtree: None, webarena: Some(text), ..ObservationOptions::default() }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        let Settings { reasoning, unachievable_hint, examples, observation_tokens, vision, .. } =
            self.settings;
        let seen = view.observation;
        let page = match &seen.visualwebarena {
            Some(list) if vision => truncate(list, observation_tokens),
            _ => seen.webarena.clone().unwrap_or_default(),
        };
        let mut context = context(goal, &view, &page);
        context.extend([
            ("unachievable_hint".to_owned(), json!(unachievable_hint)),
            ("examples".to_owned(), json!(examples)),
            ("vision".to_owned(), json!(vision)),
            ("previous_action".to_owned(), json!(self.previous)),
        ]);
        let pictures =
            Pictures { goal: &goal.images, screenshot: view.screenshot.filter(|_| vision) };
        let prompt = if reasoning { "webarena-cot" } else { "webarena-direct" };
        let text = self.client.ask(prompt, context, pictures).await?;
        let (action, reason) = apart(&text);
        self.previous = Some(action.clone());
        Ok(FORMAT.read_reply(action, reason))
    }
}

/// Splits a text into the action between backticks and the text around it.
fn apart(text: &str) -> (String, Option<String>) {
    let mut pieces = text.splitn(3, "```");
    match (pieces.next(), pieces.next(), pieces.next()) {
        (Some(before), Some(action), Some(after)) => {
            let reason = format!("{}{}", before.trim(), after.trim());
            (action.trim().to_owned(), Some(reason).filter(|reason| !reason.is_empty()))
        }
        _ => (text.trim().to_owned(), None),
    }
}

impl Agent for WebArena {
    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> BeginOptions<'a> {
        Box::pin(std::future::ready(Ok(self.observation_options())))
    }

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
    fn the_action_is_apart_from_its_reasons() {
        let reasons = "It says so. In summary, the next action I will perform is ```click [12]```";
        let (action, reason) = apart(reasons);
        assert_eq!(action, "click [12]");
        assert_eq!(
            reason.as_deref(),
            Some("It says so. In summary, the next action I will perform is")
        );
        assert_eq!(apart("click [12]"), ("click [12]".to_owned(), None));
        assert_eq!(apart("```click [12]"), ("```click [12]".to_owned(), None));
    }
}
