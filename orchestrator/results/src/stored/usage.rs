//! The usage of language models.

use std::collections::BTreeSet;

use agents::Call;
use llm_client::{Fault, Usage};
use serde::{Deserialize, Serialize};

/// Model calls and their tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The models' names at their servers. Absent in files of older versions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that a cassette answered.
    pub recorded: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of replies.
    pub completion_tokens: u64,
    /// Tokens of prompts that the server had cached.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cached_tokens: u64,
    /// Tokens of replies that were reasoning.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reasoning_tokens: u64,
    /// Number of replies that reached the maximum length.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cut: u64,
    /// Number of replies that the model or a filter refused.
    #[serde(default, skip_serializing_if = "is_none")]
    pub refused: u64,
    /// Number of replies without text.
    #[serde(default, skip_serializing_if = "is_none")]
    pub empty: u64,
    /// Number of calls without a reply.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failed: u64,
    /// The cost of all tokens in US dollars, including replies from cassettes. Absent without a
    /// price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl ModelUsage {
    /// The sum of these calls. `None` if there are none.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Option<ModelUsage> {
        ModelUsage::sum(calls.into_iter().map(|call| ModelUsage {
            recorded: u64::from(call.recorded),
            failed: u64::from(call.error.is_some()),
            cost: call.cost,
            ..ModelUsage::one(call.model.as_deref(), call.usage, call.fault)
        }))
    }

    /// The usage of one call to this model.
    pub fn one(model: Option<&str>, usage: Usage, fault: Option<Fault>) -> ModelUsage {
        let is = |one: Fault| u64::from(fault == Some(one));
        ModelUsage {
            names: model.map(str::to_owned).into_iter().collect(),
            calls: 1,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cached_tokens: usage.cached_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cut: is(Fault::Cut),
            refused: is(Fault::Refused),
            empty: is(Fault::Empty),
            ..ModelUsage::default()
        }
    }

    /// The sum of all. `None` if there are none.
    pub fn sum(all: impl IntoIterator<Item = ModelUsage>) -> Option<ModelUsage> {
        all.into_iter().reduce(|mut a, b| {
            a.names.extend(b.names);
            ModelUsage {
                names: a.names,
                calls: a.calls + b.calls,
                recorded: a.recorded + b.recorded,
                prompt_tokens: a.prompt_tokens + b.prompt_tokens,
                completion_tokens: a.completion_tokens + b.completion_tokens,
                cached_tokens: a.cached_tokens + b.cached_tokens,
                reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
                cut: a.cut + b.cut,
                refused: a.refused + b.refused,
                empty: a.empty + b.empty,
                failed: a.failed + b.failed,
                // Unknown as soon as one part is.
                cost: a.cost.zip(b.cost).map(|(a, b)| a + b),
            }
        })
    }

    /// The models' names in one text. `None` if they were not recorded.
    pub fn named(&self) -> Option<String> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// A line of `calls.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCall {
    /// The step of the call.
    pub step: u32,
    /// The call.
    #[serde(flatten)]
    pub call: Call,
}
