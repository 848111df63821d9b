//! WebCanvas's agent (Pan et al. 2024, section 4; `agent/Plan`, `agent/Reward`). It plans with a
//! memory of all earlier steps, and a reward module judges each step.
//!
//! Thought and action are JSON. The reward module says how far a step has led, with or without a
//! reference of what has to be reached. The planner sees its feedback, and the episode ends when
//! the reward module says that the task is finished (`run.py`). A reply without a JSON object is
//! requested again, up to twice. With `vision` the agent also sees a screenshot, as the original
//! can.

use actions::{Action, Dialect, ParseError};
use observation::ObservationOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::{LlmClient, context};
use super::template::Pictures;
use crate::agent::BeginOptions;
use crate::{ActionFormat, Agent, Call, Error, Goal, NextReply, Reply, View};

/// The format of its actions.
pub(super) const FORMAT: ActionFormat =
    ActionFormat { dialect: Dialect::WebCanvas, multiaction: false };
/// Number of attempts to get a readable reply.
const TRIES: u32 = 3;

/// The settings that the paper varies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The judge of each step.
    pub reward: Reward,
    /// Whether to show a screenshot besides the elements.
    pub vision: bool,
}

/// The judge of each step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// No judge.
    #[default]
    None,
    /// The model judges by the goal alone.
    Own,
    /// The model also sees what the scorer wants. This is an upper bound: real agents do not know
    /// it.
    Golden,
}

/// A past step.
#[derive(Debug, Clone, Serialize)]
struct Turn {
    thought: String,
    action: String,
    error: Option<String>,
    /// The reward module's feedback.
    feedback: Option<String>,
}

/// The reward module's judgement.
#[derive(Debug, Deserialize)]
struct Verdict {
    #[serde(default)]
    status: String,
    #[serde(default)]
    score: Value,
    #[serde(default)]
    reason: String,
}

pub(super) struct React {
    settings: Settings,
    client: LlmClient,
    key_nodes: Vec<String>,
    memory: Vec<Turn>,
}

impl React {
    pub(super) fn new(settings: Settings, client: LlmClient, key_nodes: Vec<String>) -> React {
        React { settings, client, key_nodes, memory: Vec::new() }
    }

    fn pictures<'a>(&self, goal: &'a Goal, view: &View<'a>) -> Pictures<'a> {
        Pictures {
            goal: &goal.images,
            screenshot: view.screenshot.filter(|_| self.settings.vision),
        }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        if let Some(last) = self.memory.last_mut() {
            last.error = view.last_action_error.map(str::to_owned);
        }
        if self.settings.reward != Reward::None && !self.memory.is_empty() {
            let verdict = self.judge(goal, &view).await?;
            let finished = verdict.status.eq_ignore_ascii_case("finished");
            let words = format!("{} ({}/10): {}", verdict.status, verdict.score, verdict.reason);
            if finished {
                return Ok(Reply::Stop { reason: Some(words) });
            }
            if let Some(last) = self.memory.last_mut() {
                last.feedback = Some(words);
            }
        }
        self.plan(goal, &view).await
    }

    async fn judge(&mut self, goal: &Goal, view: &View<'_>) -> Result<Verdict, Error> {
        let page = view.observation.webcanvas.as_deref().unwrap_or_default();
        let mut context = context(goal, view, page);
        context.insert("memory".to_owned(), json!(self.memory));
        let reference = match self.settings.reward {
            Reward::Golden => self.key_nodes.as_slice(),
            Reward::None | Reward::Own => &[],
        };
        context.insert("reference".to_owned(), json!(reference));
        let text = self.client.ask("react-reward", context, self.pictures(goal, view)).await?;
        let unread =
            Verdict { status: "unclear".to_owned(), score: json!("?"), reason: text.clone() };
        Ok(object(&text).and_then(|object| serde_json::from_value(object).ok()).unwrap_or(unread))
    }

    async fn plan(&mut self, goal: &Goal, view: &View<'_>) -> Result<Reply, Error> {
        let page = view.observation.webcanvas.as_deref().unwrap_or_default();
        let mut context = context(goal, view, page);
        context.insert("memory".to_owned(), json!(self.memory));
        let pictures = self.pictures(goal, view);
        let (mut text, mut action) = (String::new(), Err(ParseError::Empty));
        for _ in 0..TRIES {
            text = self.client.ask("react", context.clone(), pictures).await?;
            action = FORMAT.dialect.read_one(&text);
            if action.is_ok() {
                break;
            }
        }
        let thought = object(&text).and_then(|object| Some(object["thought"].as_str()?.to_owned()));
        let turn = Turn {
            thought: thought.clone().unwrap_or_default(),
            action: action.as_ref().map_or_else(|_| text.clone(), Action::to_string),
            error: None,
            feedback: None,
        };
        self.memory.push(turn);
        Ok(Reply::Act { actions: action.map(|action| vec![action]), text, reason: thought })
    }
}

/// The JSON object in a model's text.
fn object(text: &str) -> Option<Value> {
    let (start, end) = (text.find('{')?, text.rfind('}')?);
    serde_json::from_str(text.get(start..=end)?).ok()
}

impl Agent for React {
    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> BeginOptions<'a> {
        Box::pin(std::future::ready(Ok(ObservationOptions {
            axtree: None,
            webcanvas: true,
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
