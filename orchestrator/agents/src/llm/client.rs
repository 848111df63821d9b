//! The prompt client: fills in templates, calls the model, and records the calls.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use llm_client::{Chat, Message, Model, ModelReply, Part, Reply, Role, Sampling, Usage};
use observation::{count_tokens, truncate};
use serde_json::{Map, Value, json};

use super::settings::ModelSettings;
use super::template::{Pictures, Templates};
use crate::{Call, Error, Goal, View};

/// Appended to a page that was cut.
const CUT: &str = "\n(The rest of the page is left out.)";

/// The context values that may be cut.
const PAGES: [&str; 2] = ["observation", "html"];

/// The model calls of one episode.
pub(crate) struct LlmClient {
    model: Model,
    sampling: Sampling,
    /// Maximum number of text tokens of a prompt.
    budget: Option<usize>,
    templates: Arc<Templates>,
    repeat: u32,
    /// How often each chat was sent in this episode. Each repetition is a new sample.
    times_sent: HashMap<String, u32>,
    calls: Vec<Call>,
}

impl LlmClient {
    pub(crate) fn new(
        model: Model,
        settings: &ModelSettings,
        templates: Arc<Templates>,
        repeat: u32,
    ) -> LlmClient {
        let (sampling, budget) = (settings.sampling(), settings.max_prompt_tokens);
        LlmClient {
            model,
            sampling,
            budget,
            templates,
            repeat,
            times_sent: HashMap::new(),
            calls: Vec::new(),
        }
    }

    /// Returns the calls since the last time and clears the list.
    pub(crate) fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// Fills in a prompt and sends it. Returns the reply's text without reasoning. See
    /// [`LlmClient::answer`].
    pub(crate) async fn ask(
        &mut self,
        prompt: &'static str,
        context: Map<String, Value>,
        pictures: Pictures<'_>,
    ) -> Result<String, Error> {
        Ok(self.answer(prompt, context, pictures, &[]).await?.words().to_owned())
    }

    /// Fills in a prompt, appends `turns` and sends it. If the prompt is longer than the budget or
    /// the model allows, `observation` or `html` in the context is cut, whichever is longer.
    pub(crate) async fn answer(
        &mut self,
        prompt: &'static str,
        context: Map<String, Value>,
        pictures: Pictures<'_>,
        turns: &[Message],
    ) -> Result<Reply, Error> {
        let mut previous_messages = Vec::new();
        loop {
            let mut messages = self.messages(prompt, context.clone(), pictures)?;
            messages.extend_from_slice(turns);
            let tokens = tokens(&messages);
            // There is nothing left to cut.
            if messages == previous_messages {
                return Err(Error::PromptTooLong { name: prompt.to_owned(), tokens });
            }
            previous_messages.clone_from(&messages);
            match self.say(prompt, messages).await {
                Err(Error::Model(llm_client::Error::TooLong { most, had, .. })) => {
                    let less = less(tokens, most, had);
                    tracing::warn!(
                        prompt,
                        tokens,
                        less,
                        "the page is cut, for the model takes no prompt as long"
                    );
                    self.budget = Some(less);
                }
                result => return result,
            }
        }
    }

    /// The messages of a prompt, cut to the budget.
    fn messages(
        &self,
        prompt: &'static str,
        mut context: Map<String, Value>,
        pictures: Pictures<'_>,
    ) -> Result<Vec<Message>, Error> {
        let messages = self.templates.fill(prompt, &context, pictures)?;
        let Some(budget) = self.budget else { return Ok(messages) };
        let tokens = tokens(&messages);
        let page = |key: &'static str| Some((key, context.get(key)?.as_str()?));
        let longest = PAGES.into_iter().filter_map(page).max_by_key(|(_, page)| page.len());
        let Some((key, page)) = longest.filter(|(_, page)| tokens > budget && !page.is_empty())
        else {
            return Ok(messages);
        };
        let kept = count_tokens(page).saturating_sub(tokens - budget + count_tokens(CUT));
        let cut = format!("{}{CUT}", truncate(page, kept));
        context.insert(key.to_owned(), Value::String(cut));
        self.templates.fill(prompt, &context, pictures)
    }

    /// Sends these messages; `prompt` names them in the record.
    async fn say(&mut self, prompt: &str, messages: Vec<Message>) -> Result<Reply, Error> {
        let mut chat =
            Chat { messages, sampling: self.sampling.clone(), attempt: 0, repeat: self.repeat };
        let before = self.times_sent.entry(chat.digest()).or_default();
        chat.attempt = *before;
        *before += 1;
        let began = Instant::now();
        let only = || self.model.cassette.as_ref().and_then(|cassette| cassette.only_model());
        // Record the call before sending it: the caller may cancel at its time limit.
        self.calls.push(Call {
            prompt: prompt.to_owned(),
            model: self.model.name.clone().or_else(only),
            digest: chat.digest(),
            recorded: false,
            usage: Usage::default(),
            cost: self.model.price.map(|_| 0.0),
            took_ms: 0,
            chat: chat.without_pictures(),
            reply: String::new(),
            finish: None,
            refusal: None,
            reasoning: None,
            fault: None,
            error: Some(
                "no reply came in the time that the agent has (--answer-timeout)".to_owned(),
            ),
        });
        let outcome = self.model.ask(&chat).await;
        let Some(call) = self.calls.last_mut() else { return Ok(outcome?.reply) };
        call.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match outcome {
            Ok(ModelReply { reply, recorded, model }) => {
                call.model = model;
                call.recorded = recorded;
                call.usage = reply.usage;
                call.cost = self.model.price.map(|price| price.of(reply.usage));
                call.reply.clone_from(&reply.text);
                call.finish.clone_from(&reply.finish);
                call.refusal.clone_from(&reply.refusal);
                call.reasoning.clone_from(&reply.reasoning);
                (call.fault, call.error) = (reply.fault, None);
                Ok(reply)
            }
            Err(error) => {
                call.error = Some(format!("failed to {error}"));
                Err(error.into())
            }
        }
    }
}

/// A smaller budget after "prompt too long". Uses the ratio of the server's numbers, because
/// servers count tokens differently, or three quarters.
fn less(tokens: usize, most: Option<u64>, had: Option<u64>) -> usize {
    let share = match (most, had) {
        (Some(most), Some(had)) if most < had => most as f64 / had as f64 * 0.95,
        _ => 0.75,
    };
    (tokens as f64 * share) as usize
}

/// The number of text tokens.
fn tokens(messages: &[Message]) -> usize {
    let parts = messages.iter().flat_map(|message| &message.content);
    let count = |part: &Part| match part {
        Part::Text { text } => count_tokens(text),
        Part::ImageUrl { .. } => 0,
    };
    parts.map(count).sum()
}

/// The context of every prompt: the goal, the step, and the page in the agent's format.
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
        "observation": with_notices(observation, &seen.notices),
    });
    match context {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Returns the page's text, and behind it the notices that it has shown only for a moment.
fn with_notices(observation: &str, notices: &[String]) -> String {
    if observation.is_empty() || notices.is_empty() {
        return observation.to_owned();
    }
    let lines: String = notices.iter().map(|notice| format!("\n- {notice}")).collect();
    format!("{observation}\n\nShown for a moment since the last action, and gone again:{lines}")
}

/// A message with the model's earlier reply.
pub(crate) fn assistant_message(text: &str) -> Message {
    Message::text(Role::Assistant, text)
}
