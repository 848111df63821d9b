//! TurkingBench's agent (Xu et al. 2024, section 4; `src/evaluation/baselines.py`). It fills in a
//! form field by field.
//!
//! Each prompt shows worked examples and the HTML around the field or of the whole page. The reply
//! is a call that fills in the field. The fields are those of the first observation, in order; the
//! episode ends after the last. The original takes its seven examples from the benchmark's own
//! forms; ours are invented.

use std::collections::VecDeque;

use actions::Dialect;
use observation::ObservationOptions;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{LlmClient, context};
use super::template::Pictures;
use crate::agent::BeginOptions;
use crate::{ActionFormat, Agent, Call, Error, Goal, NextReply, Reply, View};

/// The format of its actions.
pub(super) const FORMAT: ActionFormat =
    ActionFormat { dialect: Dialect::TurkingBench, multiaction: true };

/// The settings that the paper varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Number of worked examples, up to seven.
    pub demonstrations: u32,
    /// Whether to show the HTML of the whole page instead of the HTML around the field.
    #[serde(default)]
    pub full_html: bool,
    /// Whether to show a screenshot.
    #[serde(default)]
    pub vision: bool,
}

pub(super) struct Form {
    settings: Settings,
    client: LlmClient,
    fields: Option<VecDeque<String>>,
}

impl Form {
    pub(super) fn new(settings: Settings, client: LlmClient) -> Form {
        Form { settings, client, fields: None }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        let seen = view.observation;
        let shown = seen.turkingbench.as_deref().unwrap_or_default();
        let all = || shown.iter().map(|field| field.name.clone()).collect();
        let Some(name) = self.fields.get_or_insert_with(all).pop_front() else {
            return Ok(Reply::Stop { reason: None });
        };
        let field = shown.iter().find(|field| field.name == name);
        let around = field.and_then(|field| field.html.clone()).unwrap_or_default();
        let whole = || {
            let documents = seen.html.iter().flatten().map(|document| document.html.as_str());
            documents.collect::<Vec<_>>().join("\n")
        };
        let html = if self.settings.full_html { whole() } else { around };
        let mut context = context(goal, &view, &html);
        context.extend([
            ("field".to_owned(), json!(name)),
            ("kind".to_owned(), json!(field.map(|field| &field.kind))),
            ("demonstrations".to_owned(), json!(self.settings.demonstrations)),
            ("vision".to_owned(), json!(self.settings.vision)),
        ]);
        let pictures = Pictures {
            goal: &goal.images,
            screenshot: view.screenshot.filter(|_| self.settings.vision),
        };
        let action = self.client.ask("form", context, pictures).await?;
        Ok(FORMAT.read_reply(action.trim().to_owned(), Some(format!("field {name}"))))
    }
}

impl Agent for Form {
    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> BeginOptions<'a> {
        let html = self.settings.full_html;
        Box::pin(std::future::ready(Ok(ObservationOptions {
            axtree: None,
            turkingbench: true,
            html,
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
