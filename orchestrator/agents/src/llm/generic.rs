//! WorkArena's agent (Drouin et al. 2024, section 4 and appendix; AgentLab's `GenericAgent`): one prompt with the goal, the page, what was done so far, the
//! actions there are and examples; the reply holds a thought and an action between tags. A reply that cannot be read is sent back with what is
//! wrong with it, up to four times in all; after that the agent gives up.
//!
//! What the page holds is said by BrowserGym's tree or pruned HTML, a picture with ids, or any of them together.

use browser::{Dialect, Look, Marks, Picture, PrunedHtml, TreeText};
use models::{Message, Role};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{LlmClient, context, said};
use super::template::Pictures;
use crate::agent::FirstLook;
use crate::{ActionFormat, Agent, Call, Error, Goal, NextReply, Reply, View};

/// What the paper varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The accessibility tree, in this way; absent for none.
    pub axtree: Option<TreeText>,
    /// The pruned HTML, in this way; absent for none.
    pub html: Option<PrunedHtml>,
    /// A picture of the page.
    pub screenshot: bool,
    /// Ids are drawn on the picture.
    pub marks: bool,
    /// A thought before the action.
    pub thinking: bool,
    /// Notes that the agent keeps for itself from step to step.
    pub memory: bool,
    /// A plan that the agent keeps and words anew.
    pub plan: bool,
    /// What was done so far.
    pub history: bool,
    /// Why the last action failed.
    pub errors: bool,
    /// Several actions in a reply.
    pub multiaction: bool,
    /// Which actions there are.
    pub actions: Vec<Subset>,
    /// Replies that are asked for before the agent gives up.
    pub tries: u32,
}

/// Parts of BrowserGym's action set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subset {
    /// On elements, by their ids.
    Bid,
    /// At places, by their coordinates.
    Coord,
    /// Addresses and history.
    Nav,
    /// Tabs.
    Tab,
    /// Answers.
    Chat,
    /// That the goal cannot be reached.
    Infeas,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            axtree: Some(TreeText { with_visible: true, with_clickable: true, ..TreeText::default() }),
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

/// A step that was taken.
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

    fn look(&self) -> Look {
        let Settings { axtree, html, screenshot, marks, .. } = &self.settings;
        Look {
            axtree: axtree.clone(),
            pruned_html: html.clone(),
            screenshot: Picture {
                full_page: false,
                marks: (*screenshot && *marks).then_some(Marks::BrowserGym),
            },
            ..Look::default()
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
        let pictures =
            Pictures { goal: &goal.images, screenshot: view.screenshot.filter(|_| self.settings.screenshot) };
        let mut turns = Vec::new();
        let mut wrong = String::new();
        for _ in 0..self.settings.tries.max(1) {
            let reply = self.client.answer("generic", context.clone(), pictures, &turns).await?;
            let text = &reply.text;
            match self.read(text) {
                Ok(turn) => {
                    self.plan = tagged(text, "plan").or(self.plan.take());
                    self.history.push(turn.clone());
                    return Ok(Reply::Act { action: turn.action, reason: turn.thought });
                }
                Err(why) => {
                    let why = reply.fault.map_or_else(|| why.clone(), |fault| format!("{fault}; {why}"));
                    turns.extend([said(text), Message::text(Role::User, told(&why))]);
                    wrong = why;
                }
            }
        }
        Ok(Reply::Stop { reason: Some(format!("no reply could be read: {wrong}")) })
    }

    fn read(&self, text: &str) -> Result<Turn, String> {
        // What a model tries out in its thoughts is no action.
        let (_, words) = models::apart(text);
        let action = tagged(words, "action").ok_or("there is no text between <action> and </action>")?;
        self.speech().read(&action).map_err(|error| format!("failed to {error}"))?;
        Ok(Turn { thought: tagged(text, "think"), memory: tagged(text, "memory"), action })
    }
}

/// What a model is told of a reply that could not be read.
fn told(why: &str) -> String {
    format!("Your reply could not be used: {why}. Reply again, whole and in the form that was asked for.")
}

/// The text between the last pair of these tags.
fn tagged(text: &str, tag: &str) -> Option<String> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let before = &text[..text.rfind(&close)?];
    let start = before.rfind(&open)? + open.len();
    Some(before[start..].trim().to_owned()).filter(|text| !text.is_empty())
}

impl Agent for Generic {
    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> FirstLook<'a> {
        Box::pin(std::future::ready(Ok(self.look())))
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.reply(goal, view))
    }

    fn speech(&self) -> ActionFormat {
        ActionFormat { dialect: Dialect::BrowserGym, multiaction: self.settings.multiaction }
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
