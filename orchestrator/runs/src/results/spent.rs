//! What models took.

use agents::Call;
use serde::{Deserialize, Serialize};

/// Questions to models, and their tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Questions.
    pub calls: u64,
    /// Those of them that a cassette answered.
    pub recorded: u64,
    /// Tokens that were asked.
    pub prompt_tokens: u64,
    /// Tokens that were replied.
    pub completion_tokens: u64,
    /// US dollars for all of those tokens, also where a cassette answered; none where a price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Spent {
    /// Of these calls; nothing where there are none.
    pub fn of<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Option<Spent> {
        Spent::sum(calls.into_iter().map(|call| Spent {
            calls: 1,
            recorded: u64::from(call.recorded),
            prompt_tokens: call.usage.prompt_tokens,
            completion_tokens: call.usage.completion_tokens,
            cost: call.cost,
        }))
    }

    /// All together; nothing where there is nothing.
    pub fn sum(all: impl IntoIterator<Item = Spent>) -> Option<Spent> {
        all.into_iter().reduce(|a, b| Spent {
            calls: a.calls + b.calls,
            recorded: a.recorded + b.recorded,
            prompt_tokens: a.prompt_tokens + b.prompt_tokens,
            completion_tokens: a.completion_tokens + b.completion_tokens,
            cost: a.cost.zip(b.cost).map(|(a, b)| a + b),
        })
    }
}

/// A line of `calls.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCall {
    /// The step that the reply was for.
    pub step: u32,
    /// The call.
    #[serde(flatten)]
    pub call: Call,
}
