//! Records of model calls.

use llm_client::{Chat, Fault, Usage};
use serde::{Deserialize, Serialize};

/// One call to a model, with its reply or error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The name of the prompt template, such as `cot`.
    pub prompt: String,
    /// The model's name. `None` if a cassette may answer for any model.
    pub model: Option<String>,
    /// The SHA-256 digest of the chat, which identifies it in a cassette.
    pub digest: String,
    /// Whether the reply came from the cassette, without a request.
    pub recorded: bool,
    /// The tokens used.
    pub usage: Usage,
    /// The price of these tokens in US dollars at the server. `None` without a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Duration in milliseconds.
    pub took_ms: u64,
    /// The chat, without its images.
    pub chat: Chat,
    /// The reply's text; empty if there is none.
    pub reply: String,
    /// Why the reply ended, in the server's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The reason of a refusal, if the server sends it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The reasoning, if the server sends it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What is wrong with the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Why there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
