//! What a model was asked on the way to a reply.

use models::{Chat, Fault, Usage};
use serde::{Deserialize, Serialize};

/// One question to a model, and what it said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The prompt that was filled in, such as `cot`.
    pub prompt: String,
    /// The model's name; none where a cassette answered for whichever it has.
    pub model: Option<String>,
    /// SHA-256 of the chat, under which a cassette has it.
    pub digest: String,
    /// It was in the cassette: nobody was asked.
    pub recorded: bool,
    /// Tokens.
    pub usage: Usage,
    /// US dollars that those tokens cost when somebody is asked; none without a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Milliseconds that the reply took.
    pub took_ms: u64,
    /// What was asked, without its pictures.
    pub chat: Chat,
    /// What was said; empty where nothing was.
    pub reply: String,
    /// Why it ended, in the server's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// Why the model would not, where it said so apart from its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What it thought, where its server told that apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What was wrong with the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Why there was no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
