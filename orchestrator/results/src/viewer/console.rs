//! The console panel: the messages of an episode, grouped by the steps that caused them.

use serde::Serialize;

use super::network::belongs;
use crate::stored::StepMessage;

/// The messages of one step. Step 0 is the opening of the start page.
#[derive(Serialize)]
pub(super) struct MessageGroup {
    step: u32,
    messages: Vec<MessageRow>,
}

#[derive(Serialize)]
struct MessageRow {
    level: String,
    source: String,
    text: String,
    /// URL and line.
    place: String,
    error: bool,
}

/// The messages in their order, step by step.
pub(super) fn groups(messages: &[StepMessage]) -> Vec<MessageGroup> {
    let mut groups: Vec<MessageGroup> = Vec::new();
    for message in messages {
        match groups.last_mut() {
            Some(group) if group.step == message.step => group.messages.push(row(message)),
            _ => groups.push(MessageGroup { step: message.step, messages: vec![row(message)] }),
        }
    }
    groups
}

/// The numbers of messages of a step, and of uncaught errors among them.
pub(super) fn counts(step: u32, messages: &[StepMessage]) -> (usize, usize) {
    let own: Vec<&StepMessage> =
        messages.iter().filter(|message| belongs(message.step, step)).collect();
    let thrown = own.iter().filter(|message| message.message.source == "exception").count();
    (own.len(), thrown)
}

fn row(StepMessage { message, .. }: &StepMessage) -> MessageRow {
    let line = message.line.map(|line| format!(":{line}")).unwrap_or_default();
    MessageRow {
        level: message.level.clone(),
        source: message.source.clone(),
        text: message.text.clone(),
        place: if message.url.is_empty() {
            String::new()
        } else {
            format!("{}{line}", message.url)
        },
        error: message.level == "error",
    }
}
