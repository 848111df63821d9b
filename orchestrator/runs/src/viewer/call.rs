//! A model call of a step: the exact request and the reply.

use agents::Call;
use models::{Message, Part, Role};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct CallView {
    prompt: String,
    model: Option<String>,
    recorded: bool,
    /// The sampling settings sent to the server.
    sampling: String,
    messages: Vec<MessageView>,
    reply: String,
    reasoning: Option<String>,
    refusal: Option<String>,
    /// What was wrong with the reply, or why there was none.
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
        CallView {
            prompt: call.prompt.clone(),
            model: call.model.clone(),
            recorded: call.recorded,
            sampling: serde_json::to_string(&call.chat.sampling).unwrap_or_default(),
            messages: call.chat.messages.iter().map(message).collect(),
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
