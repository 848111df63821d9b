//! Chats: requests to a language model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// A request for one reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The sampling settings.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// The number of this attempt at the same request, from 0. It is not sent; it distinguishes
    /// recorded replies.
    #[serde(default, skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// The number of this repeat of the run, from 0. It is not sent. Repeats are independent
    /// samples, also when a cassette replays them.
    #[serde(default, skip_serializing_if = "is_first")]
    pub repeat: u32,
}

fn is_first(number: &u32) -> bool {
    *number == 0
}

/// Sampling settings. The server chooses what is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// From 0 (most likely tokens) to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Samples from the most likely tokens that together have this probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Maximum number of tokens of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Other parameters of the request, such as `reasoning_effort`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Sampling {
    /// These settings, with those of `other` where these are absent.
    #[must_use]
    pub fn or(self, other: Sampling) -> Sampling {
        let mut extra = other.extra;
        extra.extend(self.extra);
        Sampling {
            temperature: self.temperature.or(other.temperature),
            top_p: self.top_p.or(other.top_p),
            max_tokens: self.max_tokens.or(other.max_tokens),
            extra,
        }
    }
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its author.
    pub role: Role,
    /// Its texts and images, in order.
    pub content: Vec<Part>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The operator's instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A part of a message, as OpenAI's API spells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    ImageUrl {
        /// Its URL.
        image_url: ImageUrl,
    },
}

/// The URL of an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrl {
    /// A URL. `data:image/png;base64,...` contains the image itself.
    pub url: String,
}

impl Message {
    /// A message with one text.
    pub fn text(role: Role, text: impl Into<String>) -> Message {
        Message { role, content: vec![Part::Text { text: text.into() }] }
    }

    /// Appends an image to the message.
    #[must_use]
    pub fn with_image(mut self, url: impl Into<String>) -> Message {
        self.content.push(Part::ImageUrl { image_url: ImageUrl { url: url.into() } });
        self
    }

    /// The message as JSON. A single text is a string, not a list: some servers do not read lists.
    fn body(&self) -> Value {
        match self.content.as_slice() {
            [Part::Text { text }] => json!({ "role": self.role, "content": text }),
            parts => json!({ "role": self.role, "content": parts }),
        }
    }
}

impl Chat {
    /// An estimate of the tokens that a server counts for this chat: one for four bytes of text,
    /// and the maximum length of the reply.
    pub(crate) fn about_tokens(&self) -> u64 {
        let words = |part: &Part| match part {
            Part::Text { text } => text.len(),
            Part::ImageUrl { .. } => 0,
        };
        let bytes: usize =
            self.messages.iter().flat_map(|message| &message.content).map(words).sum();
        bytes as u64 / 4 + u64::from(self.sampling.max_tokens.unwrap_or(0))
    }

    /// The request's JSON body.
    pub fn body(&self, model: &str) -> Map<String, Value> {
        let messages: Vec<Value> = self.messages.iter().map(Message::body).collect();
        let Sampling { temperature, top_p, max_tokens, extra } = &self.sampling;
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(model));
        body.insert("messages".to_owned(), json!(messages));
        let settings = [
            ("temperature", json!(temperature)),
            ("top_p", json!(top_p)),
            ("max_tokens", json!(max_tokens)),
        ];
        body.extend(
            settings
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.to_owned(), value)),
        );
        body.extend(extra.clone());
        body
    }

    /// A copy in which each image is replaced by its digest. It is for people to read, not for
    /// requests.
    #[must_use]
    pub fn without_pictures(&self) -> Chat {
        let mut chat = self.clone();
        for part in chat.messages.iter_mut().flat_map(|message| &mut message.content) {
            if let Part::ImageUrl { image_url: ImageUrl { url } } = part
                && url.starts_with("data:")
            {
                *url = format!("sha256:{}", sha256(url.as_bytes()));
            }
        }
        chat.sampling.extra.values_mut().for_each(digest_pictures);
        chat
    }

    /// SHA-256 of the chat in hexadecimal. The model is not part of it.
    pub fn digest(&self) -> String {
        sha256(&serde_json::to_vec(self).expect("a chat is plain data"))
    }
}

/// Replaces images in parameters that are passed through.
fn digest_pictures(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("data:") => {
            *text = format!("sha256:{}", sha256(text.as_bytes()));
        }
        Value::Array(values) => values.iter_mut().for_each(digest_pictures),
        Value::Object(values) => values.values_mut().for_each(digest_pictures),
        _ => {}
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn chat(text: &str) -> Chat {
        let sampling =
            Sampling { temperature: Some(0.0), max_tokens: Some(9), ..Sampling::default() };
        Chat { messages: vec![Message::text(Role::User, text)], sampling, attempt: 0, repeat: 0 }
    }

    #[test]
    fn digests_tell_chats_apart() {
        let all = [
            chat("a"),
            chat("b"),
            Chat {
                sampling: Sampling { temperature: Some(0.5), ..chat("a").sampling },
                ..chat("a")
            },
            Chat { attempt: 1, ..chat("a") },
            Chat { repeat: 1, ..chat("a") },
            Chat {
                messages: vec![Message::text(Role::User, "a").with_image("data:,")],
                ..chat("a")
            },
        ];
        for (place, one) in all.iter().enumerate() {
            for (other_place, other) in all.iter().enumerate() {
                assert_eq!(
                    one.digest() == other.digest(),
                    place == other_place,
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn bodies_are_what_servers_know() {
        let with_picture = Chat {
            messages: vec![
                Message::text(Role::System, "s"),
                Message::text(Role::User, "u").with_image("data:,x"),
            ],
            ..chat("")
        };
        let body = with_picture.body("m");
        assert_eq!(body["messages"][0], json!({ "role": "system", "content": "s" }));
        assert_eq!(
            body["messages"][1]["content"],
            json!([{ "type": "text", "text": "u" }, { "type": "image_url", "image_url": { "url": "data:,x" } }])
        );
        assert_eq!((&body["model"], body.get("attempt")), (&json!("m"), None));
        assert_eq!((&body["temperature"], body.get("top_p")), (&json!(0.0), None));
        let extra = Map::from_iter([("reasoning_effort".to_owned(), json!("low"))]);
        let body =
            Chat { sampling: Sampling { extra, ..Sampling::default() }, ..chat("a") }.body("m");
        assert_eq!(body.keys().collect::<Vec<_>>(), ["model", "messages", "reasoning_effort"]);
        let shown = with_picture.without_pictures().messages[1].body().to_string();
        assert!(shown.contains("sha256:") && !shown.contains("data:"), "{shown}");
    }

    #[test]
    fn what_a_chat_was_read_from_has_its_digest() {
        let chat = Chat { attempt: 2, ..chat("a") };
        let again: Chat = serde_json::from_str(&serde_json::to_string(&chat).unwrap()).unwrap();
        assert_eq!(again.digest(), chat.digest());
    }
}
