//! A lenient reader of servers' answers. Servers differ, so it reads each field on its own: a bad
//! field does not spoil the others.

use std::io::Read as _;

use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::{Reply, Usage};

/// Maximum size of an answer in bytes.
pub(crate) const MAX_ANSWER: usize = 8 << 20;

/// An answer that is not a reply.
#[derive(Debug)]
pub(crate) enum Other {
    /// The server reports an error.
    Complains(Complaint),
    /// The answer is not a chat completion.
    Garbage(String),
}

/// Decompresses a body.
pub(crate) fn decoded(coding: Option<&str>, body: &[u8]) -> Result<Vec<u8>, String> {
    let inflate = |reader: &mut dyn std::io::Read| {
        let mut bytes = Vec::new();
        let read = reader.take(MAX_ANSWER as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("it cannot be unpacked: {error}"))?;
        if bytes.len() > MAX_ANSWER {
            Err(format!("it has more than {MAX_ANSWER} bytes"))
        } else {
            Ok(bytes)
        }
    };
    match coding.map(|coding| coding.trim().to_ascii_lowercase()).as_deref() {
        Some("gzip" | "x-gzip") => inflate(&mut GzDecoder::new(body)),
        Some("deflate") => inflate(&mut ZlibDecoder::new(body)),
        None | Some("" | "identity") => Ok(body.to_vec()),
        Some(other) => Err(format!("it comes in the coding {other:?}, which was not asked for")),
    }
}

/// The reply in the first choice of a chat completion.
pub(crate) fn reply(answer: &Value) -> Result<Reply, Other> {
    if let Some(complaint) = Complaint::within(answer) {
        return Err(Other::Complains(complaint));
    }
    let Some(choice) = answer["choices"].as_array().and_then(|choices| choices.first()) else {
        return Err(Other::Garbage("it has no choices".to_owned()));
    };
    if let Some(complaint) = Complaint::within(choice) {
        return Err(Other::Complains(complaint));
    }
    let message = &choice["message"];
    let content = read_content(&message["content"]);
    let calls = ["tool_calls", "function_call"].iter().any(|key| match &message[*key] {
        Value::Array(calls) => !calls.is_empty(),
        call => call.is_object(),
    });
    let reasoning =
        [text(&message["reasoning_content"]), text(&message["reasoning"]), content.thoughts];
    let reply = Reply {
        text: content.words.or_else(|| text(&choice["text"])).unwrap_or_default(),
        usage: usage(&answer["usage"]),
        finish: text(&choice["finish_reason"]),
        refusal: text(&message["refusal"]).or(content.refusal),
        reasoning: reasoning.into_iter().flatten().next(),
        message: calls.then(|| message.clone()),
        fault: None,
    };
    Ok(reply.with_fault())
}

/// A text that is not empty.
fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The parts of a message's content.
#[derive(Default)]
struct Content {
    words: Option<String>,
    thoughts: Option<String>,
    refusal: Option<String>,
}

/// Content is a text or a list of parts. Each part is a text or an object with a type.
fn read_content(content: &Value) -> Content {
    let Value::Array(parts) = content else {
        return Content { words: text(content), ..Content::default() };
    };
    let mut read = Content::default();
    let add = |place: &mut Option<String>, words: Option<String>| {
        if let Some(words) = words {
            place.get_or_insert_default().push_str(&words);
        }
    };
    for part in parts {
        match part["type"].as_str() {
            Some("thinking" | "reasoning") => {
                let inner = [&part["thinking"], &part["text"], &part["reasoning"]];
                let thoughts =
                    inner.into_iter().find(|inner| !inner.is_null()).map(self::read_content);
                add(&mut read.thoughts, thoughts.and_then(|thoughts| thoughts.words));
            }
            Some("refusal") => add(&mut read.refusal, text(&part["refusal"])),
            _ => add(&mut read.words, text(part).or_else(|| text(&part["text"]))),
        }
    }
    read
}

fn usage(usage: &Value) -> Usage {
    let cached = [
        &usage["prompt_tokens_details"]["cached_tokens"],
        &usage["prompt_cache_hit_tokens"],
        &usage["cached_tokens"],
    ];
    Usage {
        prompt_tokens: count(&usage["prompt_tokens"]),
        completion_tokens: count(&usage["completion_tokens"]),
        cached_tokens: cached.into_iter().map(count).max().unwrap_or(0),
        reasoning_tokens: count(&usage["completion_tokens_details"]["reasoning_tokens"])
            .max(count(&usage["reasoning_tokens"])),
    }
}

/// A count, spelled as a number or a text; 0 if there is none.
fn count(value: &Value) -> u64 {
    let from_text = || value.as_str().and_then(|text| text.trim().parse::<f64>().ok());
    let number = value.as_f64().or_else(from_text).filter(|number| number.is_finite());
    // `as` saturates at the maximum.
    number.map_or(0, |number| number.round().max(0.0) as u64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_have_many_spellings() {
        for (value, expect) in [
            (json!(12), 12),
            (json!(12.0), 12),
            (json!("12"), 12),
            (json!(null), 0),
            (json!(-3), 0),
            (json!("many"), 0),
            (json!(1e300), u64::MAX),
        ] {
            assert_eq!(count(&value), expect, "{value}");
        }
    }
}
