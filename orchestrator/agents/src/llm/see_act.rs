//! SeeAct's agent (Zheng et al. 2024, section 3) and AssistantBench's SeePlanAct (Yoran et al.
//! 2024, section 4). They act in two stages.
//!
//! First the model looks at the page and describes the next action in words. Then it sees the
//! page's elements as choices and selects the element that it meant.
//!
//! SeePlanAct also keeps a plan, which it rewrites at each step, and a memory, to which it adds
//! findings (`MEMORIZE`). It can search, open a URL and go back. When it ends (`TERMINATE`), it
//! answers from plan and memory.
//!
//! The originals rank the choices with a model and show at most 50. Here the choices come in page
//! order, in batches, with a last choice that turns to the next batch. Elements are shown by role
//! and name, in the originals as HTML.

use actions::{Action, Dialect, choice_name};
use observation::{Element, ObservationOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::client::{LlmClient, context};
use super::template::Pictures;
use crate::agent::BeginOptions;
use crate::{ActionFormat, Agent, Call, Error, Goal, NextReply, Reply, View};

/// The settings that the papers vary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Whether to show a screenshot; otherwise the accessibility tree.
    pub vision: bool,
    /// Whether to keep a plan and a memory, with SeePlanAct's additional actions.
    #[serde(default)]
    pub plan: bool,
    /// Number of elements shown at a time.
    #[serde(default = "fifty")]
    pub choices: usize,
}

fn fifty() -> usize {
    50
}

/// Roles of elements that can be chosen.
const ROLES: &[&str] = &[
    "link",
    "button",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "option",
    "tab",
    "menuitem",
    "switch",
    "spinbutton",
    "slider",
    "listbox",
    "menuitemcheckbox",
    "menuitemradio",
    "treeitem",
    "DisclosureTriangle",
];
/// Begins the line of a reply that has the current plan.
const PLAN: &str = "PLAN:";
/// Begins a line with an action that only the agent itself carries out.
const MEMORIZE: &str = "MEMORIZE";

pub(super) struct SeeAct {
    settings: Settings,
    client: LlmClient,
    history: Vec<String>,
    plan: Option<String>,
    memory: Vec<String>,
}

impl SeeAct {
    pub(super) fn new(settings: Settings, client: LlmClient) -> SeeAct {
        SeeAct { settings, client, history: Vec::new(), plan: None, memory: Vec::new() }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        if let (Some(last), Some(error)) = (self.history.last_mut(), view.last_action_error) {
            last.push_str(&format!(" ({error})"));
        }
        let vision = self.settings.vision;
        let page = if vision { "" } else { view.observation.axtree.as_str() };
        let mut context = context(goal, &view, page);
        context.extend([
            ("vision".to_owned(), json!(vision)),
            ("history".to_owned(), json!(self.history)),
            ("plan".to_owned(), json!(self.plan)),
            ("memory".to_owned(), json!(self.memory)),
        ]);
        let pictures =
            Pictures { goal: &goal.images, screenshot: view.screenshot.filter(|_| vision) };
        let prompt = if self.settings.plan { "see-plan-act-look" } else { "see-act-look" };
        let words = self.client.ask(prompt, context.clone(), pictures).await?;
        if let Some(plan) =
            words.rsplit_once(PLAN).map(|(_, plan)| plan.trim()).filter(|_| self.settings.plan)
        {
            self.plan = Some(plan.to_owned());
        }
        context.insert("words".to_owned(), json!(words));
        let (text, action) = self.ground(context, pictures, &view).await?;
        match action {
            Ok(action) => self.act(goal, &view, words, &text, action).await,
            Err(unread) => {
                self.history.push("a reply that could not be read".to_owned());
                // The text goes on as it is, so that the episode records an action that cannot be
                // read.
                Ok(ActionFormat::UNWRITTEN.read_reply(unread, Some(words)))
            }
        }
    }

    /// Lets the model choose the element. Returns its text, and the action or, if unreadable, the
    /// text again.
    async fn ground(
        &mut self,
        mut context: Map<String, Value>,
        pictures: Pictures<'_>,
        view: &View<'_>,
    ) -> Result<(String, Result<Action, String>), Error> {
        let prompt = if self.settings.plan { "see-plan-act-choose" } else { "see-act-choose" };
        let elements = choices(view);
        let mut batches: Vec<&[&Element]> = elements.chunks(self.settings.choices.max(1)).collect();
        // A page without elements may still be scrolled or left.
        if batches.is_empty() {
            batches.push(&[]);
        }
        let mut text = String::new();
        for batch in batches {
            let list: Vec<Value> = batch
                .iter()
                .enumerate()
                .map(|(place, Element { role, name, .. })| {
                    json!({ "letter": choice_name(place), "role": role, "name": name })
                })
                .collect();
            context.insert("choices".to_owned(), json!(list));
            context.insert("none_of_them".to_owned(), json!(choice_name(batch.len())));
            text = self.client.ask(prompt, context.clone(), pictures).await?;
            let chosen =
                text.lines().find_map(|line| line.trim().strip_prefix("ELEMENT:")).map(str::trim);
            // Where none of a batch fits, the paper shows the model the next one.
            if chosen == Some(choice_name(batch.len()).as_str()) {
                continue;
            }
            let bids: Vec<String> = batch.iter().map(|element| element.bid.clone()).collect();
            let mut actions = Dialect::SeeAct.read_among(&text, &bids).unwrap_or_default();
            if let Some(action) = actions.pop() {
                return Ok((text, Ok(action)));
            }
        }
        let unread = text.clone();
        Ok((text, Err(unread)))
    }

    async fn act(
        &mut self,
        goal: &Goal,
        view: &View<'_>,
        words: String,
        text: &str,
        action: Action,
    ) -> Result<Reply, Error> {
        if self.settings.plan && matches!(action, Action::Stop) {
            let mut context = context(goal, view, "");
            context.insert("plan".to_owned(), json!(self.plan));
            context.insert("memory".to_owned(), json!(self.memory));
            let answer =
                self.client.ask("see-plan-act-answer", context, Pictures::default()).await?;
            let answer = answer.trim().trim_start_matches("ANSWER:").trim().to_owned();
            // AssistantBench counts precision as well, so abstaining is better than a guess.
            if answer.is_empty() || answer.eq_ignore_ascii_case("none") {
                return Ok(Reply::Stop { reason: Some(words) });
            }
            return Ok(Reply::act(Action::Answer { text: answer }, Some(words)));
        }
        if let Some(line) =
            text.lines().find(|line| line.contains(MEMORIZE)).filter(|_| self.settings.plan)
        {
            let value =
                text.lines().find_map(|line| line.trim().strip_prefix("VALUE:")).unwrap_or(line);
            self.memory.push(value.trim().to_owned());
        }
        self.history.push(describe(&action, view));
        Ok(Reply::act(action, Some(words)))
    }
}

/// The elements of the page that can be used.
fn choices<'a>(view: &View<'a>) -> Vec<&'a Element> {
    let seen = view.observation;
    let clickable = |bid: &str| {
        seen.properties.iter().any(|(known, properties)| known == bid && properties.clickable)
    };
    let named = seen.elements.iter().filter(|element| !element.bid.is_empty());
    named
        .filter(|element| ROLES.contains(&element.role.as_str()) || clickable(&element.bid))
        .collect()
}

/// An action as text that stays meaningful when the page's ids change.
fn describe(action: &Action, view: &View<'_>) -> String {
    let element = action
        .bid()
        .and_then(|bid| view.observation.elements.iter().find(|known| known.bid == bid));
    match element {
        Some(Element { role, name, .. }) => format!("[{role}] {name} -> {action}"),
        None => action.to_string(),
    }
}

impl Agent for SeeAct {
    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> BeginOptions<'a> {
        Box::pin(std::future::ready(Ok(ObservationOptions {
            properties: true,
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
