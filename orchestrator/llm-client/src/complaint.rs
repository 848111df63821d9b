//! Error answers of model servers, and what to do about them. Servers use one status for many
//! problems, so their messages are read as well.

use serde_json::{Map, Value};

/// Number of characters shown of a server's message.
const EXCERPT: usize = 300;

/// A server's error answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The HTTP status. For a success with an error in its body: the status that the body names.
    pub(crate) status: u16,
    /// `error.code` and `error.type`, joined.
    pub(crate) kind: String,
    /// The request parameter that the error is about (`error.param`).
    pub(crate) param: String,
    pub(crate) message: String,
}

/// What to do about a complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cure {
    /// Give up: the result would be the same.
    None,
    /// Retry a few times.
    Again,
    /// Retry for minutes: the server is busy or starting.
    Wait,
}

impl Complaint {
    /// Reads an answer whose status is not a success.
    pub(crate) fn of(status: u16, body: &[u8]) -> Complaint {
        let read =
            crate::lenient_json::parse(body).ok().and_then(|answer| Complaint::within(&answer));
        let plain = || String::from_utf8_lossy(body).trim().chars().take(EXCERPT).collect();
        match read {
            Some(complaint) if !complaint.message.is_empty() => Complaint { status, ..complaint },
            Some(complaint) => Complaint { status, message: plain(), ..complaint },
            None => Complaint { status, message: plain(), ..Complaint::default() },
        }
    }

    /// The complaint in an answer's body, if it has one.
    pub(crate) fn within(answer: &Value) -> Option<Complaint> {
        let error = match &answer["error"] {
            Value::Null | Value::Bool(false) => return None,
            Value::String(text) if text.is_empty() => return None,
            error => error,
        };
        let word = |key: &str| match &error[key] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let message = match error {
            Value::String(text) => text.clone(),
            error => error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned),
        };
        let status =
            word("code").parse().ok().filter(|code| (400..600).contains(code)).unwrap_or(200);
        let kind = format!("{} {}", word("code"), word("type")).trim().to_owned();
        let message = message.chars().take(EXCERPT).collect();
        Some(Complaint { status, kind, param: word("param"), message })
    }

    fn says(&self, words: &[&str]) -> bool {
        let all = format!("{} {}", self.kind, self.message).to_lowercase();
        words.iter().any(|word| all.contains(word))
    }

    /// The complaint as text, for people.
    pub(crate) fn describe(&self) -> String {
        format!("status {}: {}", self.status, self.message)
    }

    /// The sent parameter that the server rejects.
    ///
    /// OpenAI names it in `param`: reasoning models accept only `max_completion_tokens`, or no
    /// temperature. Other servers name it in the message.
    pub(crate) fn unwanted(&self, sent: &Map<String, Value>) -> Option<&'static str> {
        if !matches!(self.status, 200 | 400 | 422) {
            return None;
        }
        let about = |key: &str| self.param == key || (self.param.is_empty() && self.says(&[key]));
        let refuses = self.says(REFUSES);
        if sent.contains_key("max_tokens")
            && (self.says(&["max_completion_tokens"]) || about("max_tokens") && refuses)
        {
            return Some("max_tokens");
        }
        // If two parameters exclude each other, `top_p` goes first: it matters less.
        let one_of = ["top_p", "temperature"];
        one_of.into_iter().find(|key| sent.contains_key(*key) && about(key) && refuses)
    }

    /// Whether the prompt has more tokens than the model accepts.
    pub(crate) fn is_of_length(&self) -> bool {
        !matches!(self.status, 401 | 403 | 404 | 429) && self.says(LONG)
    }

    pub(crate) fn cure(&self) -> Cure {
        if self.says(NEVER) || self.is_of_length() {
            return Cure::None;
        }
        match self.status {
            429 | 503 | 529 => Cure::Wait,
            408 | 409 | 425 => Cure::Again,
            501 | 505 => Cure::None,
            500..=599 => Cure::Again,
            // The status is a success, and the body contains an error without a status of its own.
            200..=299 if self.says(BUSY) => Cure::Wait,
            200..=299 if self.says(WRONG) => Cure::None,
            200..=299 => Cure::Again,
            _ => Cure::None,
        }
    }
}

/// Errors that no retry fixes. OpenAI reports an account without money as 429. llama.cpp reports a
/// model without vision as 500.
const NEVER: &[&str] = &[
    "insufficient_quota",
    "exceeded your current quota",
    "billing",
    "image input is not supported",
    "does not support image",
];
/// Phrases of OpenAI, llama.cpp, vLLM, Anthropic, Gemini, Mistral and Ollama.
const LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context size",
    "context window",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input token count",
    "too many tokens",
    "reduce the length",
];
const REFUSES: &[&str] = &[
    "unsupported",
    "not support",
    "not allowed",
    "not permitted",
    "deprecated",
    "unrecognized",
    "cannot both",
    "only the default",
];
const BUSY: &[&str] =
    &["rate limit", "rate_limit", "too many requests", "overloaded", "loading model"];
const WRONG: &[&str] =
    &["invalid", "not found", "not_found", "unauthorized", "authentication", "permission"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_read_from_status_and_words() {
        let cases: &[(u16, &str, Cure)] = &[
            (
                429,
                r#"{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}"#,
                Cure::Wait,
            ),
            (
                429,
                r#"{"error":{"message":"no money","type":"insufficient_quota","code":null}}"#,
                Cure::None,
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"image input is not supported - hint: mmproj"}}"#,
                Cure::None,
            ),
            (500, "oops", Cure::Again),
            (
                503,
                r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
                Cure::Wait,
            ),
            (401, "no such key", Cure::None),
            (404, "no such model", Cure::None),
            (408, "", Cure::Again),
            (501, "", Cure::None),
        ];
        for (status, body, cure) in cases {
            assert_eq!(Complaint::of(*status, body.as_bytes()).cure(), *cure, "{status} {body}");
        }
    }

    #[test]
    fn settings_that_are_not_taken_are_named() {
        let sent = serde_json::json!({ "max_tokens": 9, "temperature": 0.0, "top_p": 0.9 });
        let unwanted = |status, message: &str, param: &str| {
            let body = serde_json::json!({ "error": { "message": message, "param": param } });
            Complaint::of(status, body.to_string().as_bytes()).unwanted(sent.as_object()?)
        };
        let most = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert_eq!(unwanted(400, most, "max_tokens"), Some("max_tokens"));
        let heat = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
        assert_eq!(unwanted(400, heat, "temperature"), Some("temperature"));
        assert_eq!(
            unwanted(400, "`temperature` and `top_p` cannot both be specified for this model", ""),
            Some("top_p")
        );
        assert_eq!(
            unwanted(
                400,
                "max_tokens is too large: 9000; this model supports at most 4096",
                "max_tokens"
            ),
            None
        );
        assert_eq!(unwanted(401, heat, "temperature"), None);
    }

    #[test]
    fn a_success_may_be_none() {
        let within = |text: &str| {
            crate::lenient_json::parse(text.as_bytes())
                .ok()
                .and_then(|json| Complaint::within(&json))
        };
        let status =
            |text: &str| within(text).map(|complaint| (complaint.status, complaint.cure()));
        assert_eq!(
            status(r#"{"error":{"message":"upstream","code":502}}"#),
            Some((502, Cure::Again))
        );
        assert_eq!(
            status(r#"{"error":{"message":"Rate limit","code":"429"}}"#),
            Some((429, Cure::Wait))
        );
        assert_eq!(status(r#"{"error":"the engine is overloaded"}"#), Some((200, Cure::Wait)));
        assert_eq!(
            status(r#"{"error":{"message":"bad","type":"invalid_request_error"}}"#),
            Some((200, Cure::None))
        );
        assert_eq!(status(r#"{"error":null,"choices":[]}"#), None);
    }
}
