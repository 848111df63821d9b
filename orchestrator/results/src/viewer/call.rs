//! A model call of a step: the exact request and the reply.

use agents::Call;
use llm_client::{Fault, Message, Part, Role};
use serde::Serialize;

use super::step::brief;

#[derive(Serialize)]
pub(super) struct CallView {
    prompt: String,
    model: Option<String>,
    recorded: bool,
    prompt_tokens: u64,
    completion_tokens: u64,
    reasoning_tokens: u64,
    took: String,
    cost: Option<String>,
    /// The server's reason for the end of the reply.
    finish: Option<String>,
    /// Whether the reply was cut at its limit of tokens.
    cut: bool,
    /// The sampling settings sent to the server. Absent if there are none.
    sampling: Option<String>,
    messages: Vec<MessageView>,
    characters: usize,
    reply: String,
    reasoning: Option<String>,
    refusal: Option<String>,
    /// The fault of the reply, or the reason why there was none.
    wrong: Option<String>,
}

#[derive(Serialize)]
struct MessageView {
    role: &'static str,
    text: String,
    lines: usize,
}

impl CallView {
    pub(super) fn of(call: &Call) -> CallView {
        let messages: Vec<MessageView> = call.chat.messages.iter().map(message).collect();
        let sampling = serde_json::to_string(&call.chat.sampling).unwrap_or_default();
        CallView {
            prompt: call.prompt.clone(),
            model: call.model.clone(),
            recorded: call.recorded,
            prompt_tokens: call.usage.prompt_tokens,
            completion_tokens: call.usage.completion_tokens,
            reasoning_tokens: call.usage.reasoning_tokens,
            took: brief(call.took_ms),
            cost: call.cost.map(|cost| format!("${cost:.4}")),
            finish: call.finish.clone(),
            cut: call.fault == Some(Fault::Cut),
            sampling: Some(sampling).filter(|sampling| sampling != "{}"),
            characters: messages.iter().map(|message| message.text.chars().count()).sum(),
            messages,
            reply: call.reply.clone(),
            reasoning: call.reasoning.clone(),
            refusal: call.refusal.clone(),
            wrong: call.error.clone().or_else(|| call.fault.map(|fault| fault.to_string())),
        }
    }
}

fn message(message: &Message) -> MessageView {
    let part = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::ImageUrl { image_url } => format!("(picture {})", image_url.url),
    };
    let text = message.content.iter().map(part).collect::<Vec<_>>().join("\n");
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    MessageView { role, lines: text.lines().count(), text }
}
