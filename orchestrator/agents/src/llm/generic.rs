//! WorkArena's agent (Drouin et al. 2024, section 4 and appendix; AgentLab's `GenericAgent`).
//!
//! One prompt has the goal, the page, the history, the available actions and examples. The reply
//! has a thought and an action between tags. An invalid reply is sent back with its error, up to
//! four attempts in all. Then the agent gives up.
//!
//! The page is shown as BrowserGym's accessibility tree, as pruned HTML, as a screenshot with ids,
//! or as any combination.

use actions::{Action, Dialect};
use llm_client::{Message, Role};
use observation::{Marks, ObservationOptions, PrunedHtml, ScreenshotOptions, TreeText};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{LlmClient, assistant_message, context};
use super::template::Pictures;
use crate::agent::BeginOptions;
use crate::{ActionFormat, Agent, Call, Error, Goal, NextReply, Reply, View};

/// The settings that the paper varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The format of the accessibility tree; absent to hide it.
    pub axtree: Option<TreeText>,
    /// The format of the pruned HTML; absent to hide it.
    pub html: Option<PrunedHtml>,
    /// Whether to show a screenshot.
    pub screenshot: bool,
    /// Whether to draw ids on the screenshot.
    pub marks: bool,
    /// Whether to think before the action.
    pub thinking: bool,
    /// Whether the agent keeps notes from step to step.
    pub memory: bool,
    /// Whether the agent keeps a plan that it updates.
    pub plan: bool,
    /// Whether to show the previous steps.
    pub history: bool,
    /// Whether to show why the last action failed.
    pub errors: bool,
    /// Whether a reply may have several actions.
    pub multiaction: bool,
    /// The available actions.
    pub actions: Vec<Subset>,
    /// Number of replies to request before the agent gives up.
    pub tries: u32,
}

/// Subsets of BrowserGym's action set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subset {
    /// Actions on elements, by id.
    Bid,
    /// Actions at coordinates.
    Coord,
    /// URLs and history.
    Nav,
    /// Tabs.
    Tab,
    /// Answers.
    Chat,
    /// Declaring the goal infeasible.
    Infeas,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            axtree: Some(TreeText {
                with_visible: true,
                with_clickable: true,
                ..TreeText::default()
            }),
            html: None,
            screenshot: false,
            marks: false,
            thinking: true,
            memory: false,
            plan: false,
            history: true,
            errors: true,
            multiaction: false,
            actions: vec![Subset::Bid, Subset::Nav, Subset::Tab, Subset::Chat, Subset::Infeas],
            tries: 4,
        }
    }
}

impl Settings {
    /// The format of its actions.
    pub(super) fn action_format(&self) -> ActionFormat {
        ActionFormat { dialect: Dialect::BrowserGym, multiaction: self.multiaction }
    }
}

/// A past step.
#[derive(Debug, Clone, Serialize)]
struct Turn {
    thought: Option<String>,
    memory: Option<String>,
    action: String,
}

pub(super) struct Generic {
    settings: Settings,
    client: LlmClient,
    history: Vec<Turn>,
    plan: Option<String>,
}

impl Generic {
    pub(super) fn new(settings: Settings, client: LlmClient) -> Generic {
        Generic { settings, client, history: Vec::new(), plan: None }
    }

    fn observation_options(&self) -> ObservationOptions {
        let Settings { axtree, html, screenshot, marks, .. } = &self.settings;
        ObservationOptions {
            axtree: axtree.clone(),
            pruned_html: html.clone(),
            screenshot: ScreenshotOptions {
                full_page: false,
                marks: (*screenshot && *marks).then_some(Marks::BrowserGym),
            },
            ..ObservationOptions::default()
        }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        let seen = view.observation;
        let tree = self.settings.axtree.as_ref().map(|_| seen.axtree.as_str()).unwrap_or_default();
        let mut context = context(goal, &view, tree);
        context.extend([
            ("settings".to_owned(), json!(self.settings)),
            ("html".to_owned(), json!(seen.pruned_html)),
            ("history".to_owned(), json!(self.history)),
            ("plan".to_owned(), json!(self.plan)),
        ]);
        let pictures = Pictures {
            goal: &goal.images,
            screenshot: view.screenshot.filter(|_| self.settings.screenshot),
        };
        let mut turns = Vec::new();
        let mut wrong = String::new();
        // As AgentLab's `retry`: the model is shown what is wrong with its reply.
        for _ in 0..self.settings.tries.max(1) {
            let reply = self.client.answer("generic", context.clone(), pictures, &turns).await?;
            let text = &reply.text;
            match self.read(text) {
                Ok((turn, actions)) => {
                    self.plan = tagged(text, "plan").or(self.plan.take());
                    self.history.push(turn.clone());
                    let Turn { thought: reason, action: text, .. } = turn;
                    return Ok(Reply::Act { actions: Ok(actions), text, reason });
                }
                Err(why) => {
                    let why =
                        reply.fault.map_or_else(|| why.clone(), |fault| format!("{fault}; {why}"));
                    turns.extend([
                        assistant_message(text),
                        Message::text(Role::User, correction(&why)),
                    ]);
                    wrong = why;
                }
            }
        }
        Ok(Reply::Stop { reason: Some(format!("no reply could be read: {wrong}")) })
    }

    fn read(&self, text: &str) -> Result<(Turn, Vec<Action>), String> {
        // Actions that the model only considers in its reasoning do not count.
        let (_, words) = llm_client::apart(text);
        let action =
            tagged(words, "action").ok_or("there is no text between <action> and </action>")?;
        let format = self.settings.action_format();
        let actions = format.read(&action).map_err(|error| format!("failed to {error}"))?;
        let turn = Turn { thought: tagged(text, "think"), memory: tagged(text, "memory"), action };
        Ok((turn, actions))
    }
}

/// The message about an invalid reply.
fn correction(why: &str) -> String {
    format!(
        "Your reply could not be used: {why}. Reply again, whole and in the form that was asked for."
    )
}

/// The text between the last pair of these tags.
fn tagged(text: &str, tag: &str) -> Option<String> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let before = &text[..text.rfind(&close)?];
    let start = before.rfind(&open)? + open.len();
    Some(before[start..].trim().to_owned()).filter(|text| !text.is_empty())
}

impl Agent for Generic {
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
    fn tags_are_found_among_words() {
        let text = "<think>a <b></think>\n<action>\nclick('1')\n</action> done";
        assert_eq!(tagged(text, "action").as_deref(), Some("click('1')"));
        assert_eq!(tagged(text, "think").as_deref(), Some("a <b>"));
        assert_eq!(tagged("</action><action>", "action"), None);
        assert_eq!(tagged("<action> </action>", "action"), None);
    }
}
