//! The retrieval-augmented agent of AssistantBench (Yoran et al. 2024, section 4: RALM-Inst and
//! RALM-1S). The model uses a search engine and reads the results until it answers.
//!
//! The search engine is the world's (`search` in `world`). The agent reads the text of the results
//! page, up to a limit; the original gets snippets from an API. After the maximum number of
//! searches the model must answer.

use actions::Action;
use observation::{ObservationOptions, TreeText, truncate};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{LlmClient, context};
use super::closed_book::answer;
use super::template::Pictures;
use crate::agent::BeginOptions;
use crate::{Agent, Call, Error, Goal, NextReply, Reply, View};

/// The settings that the paper varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Whether to show a worked example.
    #[serde(default)]
    pub example: bool,
    /// Maximum number of searches.
    #[serde(default = "ten")]
    pub searches: usize,
    /// Maximum number of tokens read from each results page.
    #[serde(default = "thousand")]
    pub result_tokens: usize,
}

fn ten() -> usize {
    10
}

fn thousand() -> usize {
    1000
}

/// A search and its results.
#[derive(Debug, Clone, Serialize)]
struct Search {
    thought: String,
    query: String,
    results: String,
}

pub(super) struct Retrieval {
    settings: Settings,
    client: LlmClient,
    searches: Vec<Search>,
}

impl Retrieval {
    pub(super) fn new(settings: Settings, client: LlmClient) -> Retrieval {
        Retrieval { settings, client, searches: Vec::new() }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        if let Some(last) = self.searches.last_mut() {
            last.results = match view.last_action_error {
                Some(error) => error.to_owned(),
                None => truncate(&view.observation.axtree, self.settings.result_tokens),
            };
        }
        let may_search = self.searches.len() < self.settings.searches && view.step < goal.max_steps;
        let mut context = context(goal, &view, "");
        context.extend([
            ("example".to_owned(), json!(self.settings.example)),
            ("searches".to_owned(), json!(self.searches)),
            ("may_search".to_owned(), json!(may_search)),
        ]);
        let pictures = Pictures { goal: &goal.images, screenshot: None };
        let text = self.client.ask("retrieval", context, pictures).await?;
        let search = text
            .split_once("Search:")
            .filter(|(before, _)| may_search && !before.contains("Answer:"));
        let Some((thought, rest)) = search else { return Ok(answer(&text)) };
        let query = rest.lines().next().unwrap_or_default().trim().trim_matches('"').to_owned();
        let (thought, action) =
            (thought.trim().to_owned(), Action::Search { query: query.clone() });
        self.searches.push(Search { thought: thought.clone(), query, results: String::new() });
        Ok(Reply::act(action, Some(thought).filter(|thought| !thought.is_empty())))
    }
}

impl Agent for Retrieval {
    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> BeginOptions<'a> {
        let text = TreeText { hide_all_bids: true, ..TreeText::default() };
        Box::pin(std::future::ready(Ok(ObservationOptions {
            axtree: Some(text),
            ..ObservationOptions::default()
        })))
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.reply(goal, view))
    }

    fn take_calls(&mut self) -> Vec<Call> {
        self.client.take_calls()
    }
}
