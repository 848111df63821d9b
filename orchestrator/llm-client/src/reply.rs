//! Replies of models, with their usage and price.
//!
//! A reply keeps text, reasoning and refusal separate if the server separates them. Agents act on
//! [`Reply::words`], which skips the reasoning that some servers put before the text.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model's reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The whole text; empty if there is none.
    pub text: String,
    /// The tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// Why the reply ended, in the server's word: `stop`, `length`, `content_filter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The reason of a refusal, if the server sends it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The reasoning, if the server sends it separately (`reasoning_content`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The whole message, if it contains tool calls. The built-in agents do not use tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
    /// What is wrong with the reply. Replies recorded by older versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// What can be wrong with a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It reached the maximum number of tokens.
    Cut,
    /// The model or the server's filter refused.
    Refused,
    /// It has no text.
    Empty,
    /// There is no reply: the prompt is too long. `refusal` has the server's message.
    TooLong,
}

/// The text that the agent sees.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Cut => "the reply was cut, for it had as many tokens as it may have",
            Fault::Refused => "the model refused to reply",
            Fault::Empty => "the reply was empty",
            Fault::TooLong => "the prompt was longer than the model takes",
        })
    }
}

impl Reply {
    /// A reply with this text.
    pub fn says(text: impl Into<String>) -> Reply {
        Reply { text: text.into(), ..Reply::default() }
    }

    /// The text that agents act on, without reasoning before it.
    pub fn words(&self) -> &str {
        apart(&self.text).1
    }

    /// Sets the fault that the other fields show.
    #[must_use]
    pub(crate) fn with_fault(mut self) -> Reply {
        self.fault = match self.finish.as_deref() {
            Some("length" | "max_tokens" | "model_length") => Some(Fault::Cut),
            Some("content_filter" | "refusal" | "safety") => Some(Fault::Refused),
            _ if self.refusal.as_ref().is_some_and(|words| !words.trim().is_empty()) => {
                Some(Fault::Refused)
            }
            _ if self.message.is_none() && self.words().trim().is_empty() => Some(Fault::Empty),
            _ => None,
        };
        self
    }
}

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits a text into the reasoning before it and the words that follow.
///
/// Reasoning models write `<think>...</think>` first. The prompts of some contain the first tag, so
/// that the reply starts inside the reasoning. Reasoning without an end has no words after it.
pub fn apart(text: &str) -> (Option<&str>, &str) {
    let rest = text.trim_start();
    let (begins, inner) = match rest.strip_prefix(OPEN) {
        Some(inner) => (true, inner),
        None => (false, rest),
    };
    match inner.split_once(CLOSE) {
        Some((thoughts, words)) if begins || !thoughts.contains(OPEN) => {
            (Some(thoughts.trim()), words.trim_start())
        }
        None if begins => (Some(inner.trim()), ""),
        _ => (None, text),
    }
}

/// Token counts of a server; 0 if it does not send them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Tokens of the reply, including reasoning.
    #[serde(default)]
    pub completion_tokens: u64,
    /// Tokens of the prompt that the server had cached.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cached_tokens: u64,
    /// Tokens of the reply that were reasoning.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reasoning_tokens: u64,
}

impl Usage {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Usage) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A model's price in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of prompt tokens.
    pub prompt: f64,
    /// Of reply tokens.
    pub completion: f64,
    /// Of cached prompt tokens. Defaults to `prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

impl Price {
    /// The cost of this usage in US dollars.
    pub fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let fresh = usage.prompt_tokens - cached;
        (self.prompt * fresh as f64
            + self.cached.unwrap_or(self.prompt) * cached as f64
            + self.completion * usage.completion_tokens as f64)
            / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_told_from_words() {
        assert_eq!(apart("<think>click [1]</think>\nclick [2]"), (Some("click [1]"), "click [2]"));
        assert_eq!(apart("\n <think>\na\n</think>b"), (Some("a"), "b"));
        assert_eq!(apart("click [1]?</think>click [2]"), (Some("click [1]?"), "click [2]"));
        assert_eq!(apart("<think>click [1]"), (Some("click [1]"), ""));
        assert_eq!(apart("a <think>b</think> c"), (None, "a <think>b</think> c"));
        assert_eq!(apart("a"), (None, "a"));
    }

    #[test]
    fn faults_are_seen() {
        let fault = |finish: Option<&str>, refusal: Option<&str>, text: &str| {
            let reply = Reply {
                finish: finish.map(str::to_owned),
                refusal: refusal.map(str::to_owned),
                ..Reply::says(text)
            };
            reply.with_fault().fault
        };
        assert_eq!(fault(Some("stop"), None, "a"), None);
        assert_eq!(fault(None, None, " \n"), Some(Fault::Empty));
        assert_eq!(fault(Some("stop"), None, "<think>a</think> "), Some(Fault::Empty));
        assert_eq!(fault(Some("length"), None, ""), Some(Fault::Cut));
        assert_eq!(fault(Some("stop"), Some("no"), ""), Some(Fault::Refused));
        assert_eq!(fault(Some("content_filter"), None, "a"), Some(Fault::Refused));
    }

    #[test]
    fn prices_are_for_a_million_tokens() {
        let usage = Usage {
            prompt_tokens: 1000,
            completion_tokens: 100,
            cached_tokens: 400,
            reasoning_tokens: 0,
        };
        let price = Price { prompt: 10.0, completion: 30.0, cached: None };
        assert!((price.of(usage) - 0.013).abs() < 1e-12);
        assert!((Price { cached: Some(0.0), ..price }.of(usage) - 0.009).abs() < 1e-12);
    }
}
