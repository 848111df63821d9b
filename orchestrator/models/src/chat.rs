//! What is asked, and what comes back.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A request for one reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chat {
    /// In their order.
    pub messages: Vec<Message>,
    /// From 0, the likeliest words, to 2.
    pub temperature: f64,
    /// How many tokens the reply may have.
    pub max_tokens: u32,
    /// Which attempt at the same request this is, from 0. It is not sent; it tells recorded replies apart.
    #[serde(default, skip_serializing_if = "is_first")]
    pub attempt: u32,
}

fn is_first(attempt: &u32) -> bool {
    *attempt == 0
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Whose words they are.
    pub role: Role,
    /// Words and pictures, in their order.
    pub content: Vec<Part>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever set the model up.
    System,
    /// Whoever asks.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message, as the interface spells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    ImageUrl {
        /// Where it is.
        image_url: ImageUrl,
    },
}

/// Where a picture is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageUrl {
    /// An address; `data:image/png;base64,...` for the picture itself.
    pub url: String,
}

impl Message {
    /// A message of words alone.
    pub fn text(role: Role, text: impl Into<String>) -> Message {
        Message { role, content: vec![Part::Text { text: text.into() }] }
    }

    /// With a picture behind what is there.
    #[must_use]
    pub fn with_image(mut self, url: impl Into<String>) -> Message {
        self.content.push(Part::ImageUrl { image_url: ImageUrl { url: url.into() } });
        self
    }

    /// A single text stands alone: some servers know no lists.
    fn body(&self) -> Value {
        match self.content.as_slice() {
            [Part::Text { text }] => json!({ "role": self.role, "content": text }),
            parts => json!({ "role": self.role, "content": parts }),
        }
    }
}

impl Chat {
    /// The body of the request.
    pub fn body(&self, model: &str) -> Value {
        let messages: Vec<Value> = self.messages.iter().map(Message::body).collect();
        json!({ "model": model, "messages": messages, "temperature": self.temperature, "max_tokens": self.max_tokens })
    }

    /// SHA-256 of all that is asked, in hexadecimal; which model is asked is not part of it.
    pub fn digest(&self) -> String {
        let text = serde_json::to_vec(self).expect("a chat is plain data");
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The words; empty when it said none.
    pub text: String,
    /// What it took.
    #[serde(default)]
    pub usage: Usage,
}

/// Tokens, as the server counts them; 0 where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Of what was asked.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Of the reply.
    #[serde(default)]
    pub completion_tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(text: &str) -> Chat {
        Chat { messages: vec![Message::text(Role::User, text)], temperature: 0.0, max_tokens: 9, attempt: 0 }
    }

    #[test]
    fn digests_tell_chats_apart() {
        let all = [
            chat("a"),
            chat("b"),
            Chat { temperature: 0.5, ..chat("a") },
            Chat { attempt: 1, ..chat("a") },
            Chat { messages: vec![Message::text(Role::User, "a").with_image("data:,")], ..chat("a") },
        ];
        for (place, one) in all.iter().enumerate() {
            for (other_place, other) in all.iter().enumerate() {
                assert_eq!(one.digest() == other.digest(), place == other_place, "{one:?} {other:?}");
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
        assert_eq!((&body["model"], &body["attempt"]), (&json!("m"), &Value::Null));
    }
}
