//! Fills prompts in, asks the model, and notes what it took.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use browser::{count_tokens, truncate};
use models::{Chat, Message, Model, Part, Role, Sampling};
use serde_json::{Map, Value, json};

use super::settings::ModelSettings;
use super::template::{Pictures, Templates};
use crate::{Call, Error, Goal, View};

/// What stands at the end of a page that was cut.
const CUT: &str = "\n(The rest of the page is left out.)";

/// One episode's line to a model.
pub(crate) struct Asker {
    model: Model,
    sampling: Sampling,
    /// How many tokens of words a prompt may have.
    budget: Option<usize>,
    templates: Arc<Templates>,
    repeat: u32,
    /// How often each chat was asked in this episode: the second time is to be another sample.
    asked: HashMap<String, u32>,
    calls: Vec<Call>,
}

impl Asker {
    pub(crate) fn new(
        model: Model,
        settings: &ModelSettings,
        templates: Arc<Templates>,
        repeat: u32,
    ) -> Asker {
        let (sampling, budget) = (settings.sampling(), settings.max_prompt_tokens);
        Asker { model, sampling, budget, templates, repeat, asked: HashMap::new(), calls: Vec::new() }
    }

    /// What has been asked since this was called last.
    pub(crate) fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// Fills a prompt in and asks it. `observation` in the context is cut where the prompt has more tokens than it may.
    pub(crate) async fn ask(
        &mut self,
        prompt: &'static str,
        context: Map<String, Value>,
        pictures: Pictures<'_>,
    ) -> Result<String, Error> {
        let messages = self.messages(prompt, context, pictures)?;
        self.say(prompt, messages).await
    }

    /// The messages of a prompt, within the budget.
    pub(crate) fn messages(
        &self,
        prompt: &'static str,
        mut context: Map<String, Value>,
        pictures: Pictures<'_>,
    ) -> Result<Vec<Message>, Error> {
        let messages = self.templates.fill(prompt, &context, pictures)?;
        let Some(budget) = self.budget else { return Ok(messages) };
        let tokens = tokens(&messages);
        let Some(page) = context.get("observation").and_then(Value::as_str).filter(|_| tokens > budget)
        else {
            return Ok(messages);
        };
        let kept = count_tokens(page).saturating_sub(tokens - budget + count_tokens(CUT));
        let cut = format!("{}{CUT}", truncate(page, kept));
        context.insert("observation".to_owned(), Value::String(cut));
        self.templates.fill(prompt, &context, pictures)
    }

    /// Asks these messages; `prompt` is what they are called.
    pub(crate) async fn say(&mut self, prompt: &str, messages: Vec<Message>) -> Result<String, Error> {
        let mut chat = Chat { messages, sampling: self.sampling.clone(), attempt: 0, repeat: self.repeat };
        let before = self.asked.entry(chat.digest()).or_default();
        chat.attempt = *before;
        *before += 1;
        let began = Instant::now();
        let said = self.model.ask(&chat).await?;
        self.calls.push(Call {
            prompt: prompt.to_owned(),
            model: self.model.name.clone(),
            digest: chat.digest(),
            recorded: said.recorded,
            usage: said.reply.usage,
            cost: self.model.price.map(|price| price.of(said.reply.usage)),
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            chat: chat.without_pictures(),
            reply: said.reply.text.clone(),
        });
        Ok(said.reply.text)
    }
}

/// The tokens of the words alone.
fn tokens(messages: &[Message]) -> usize {
    let parts = messages.iter().flat_map(|message| &message.content);
    let count = |part: &Part| match part {
        Part::Text { text } => count_tokens(text),
        Part::ImageUrl { .. } => 0,
    };
    parts.map(count).sum()
}

/// What every prompt may use: the goal, where it stands, and the page in the form that the agent looks at.
pub(crate) fn context(goal: &Goal, view: &View<'_>, observation: &str) -> Map<String, Value> {
    let seen = view.observation;
    let tabs: Vec<Value> = seen
        .tabs
        .iter()
        .enumerate()
        .map(|(place, tab)| json!({ "url": tab.url, "title": tab.title, "active": place == seen.active_tab }))
        .collect();
    let context = json!({
        "goal": goal.text,
        "url": seen.url,
        "title": seen.title,
        "tabs": tabs,
        "focused": seen.focused,
        "step": view.step,
        "max_steps": goal.max_steps,
        "last_action": seen.last_action,
        "error": view.last_action_error,
        "chat": view.chat,
        "goal_images": goal.images.len(),
        "observation": observation,
    });
    match context {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A model's own words, to go on from.
pub(crate) fn said(text: &str) -> Message {
    Message::text(Role::Assistant, text)
}
