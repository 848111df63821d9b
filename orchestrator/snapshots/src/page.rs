//! The page list of a snapshot: what a person visited, as opposed to everything that the browser
//! fetched.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// One line of `pages.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Unique within the list; generated if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The URL of the page, as in the address bar.
    pub url: String,
    /// When it was recorded.
    pub ts: Timestamp,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its visible text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// All other keys of the line, preserved.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Page {
    /// A page with only its URL and time.
    pub fn new(url: impl Into<String>, ts: Timestamp) -> Page {
        Page {
            id: None,
            url: url.into(),
            ts,
            title: None,
            text: None,
            extra: serde_json::Map::new(),
        }
    }
}
