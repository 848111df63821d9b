//! Cookies and the storage of origins, in the format of Playwright's `storage_state`: what a world
//! begins with, and what an episode leaves.
//!
//! What a snapshot keeps of its pages is in another format, `snapshots::BrowserState`.

use serde::{Deserialize, Serialize};

/// Cookies and storage. Reads what Playwright writes, and ignores unknown keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageState {
    /// The cookies.
    pub cookies: Vec<StoredCookie>,
    /// Storage, by origin.
    pub origins: Vec<OriginState>,
}

/// A cookie as Playwright writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCookie {
    /// Its name.
    pub name: String,
    /// Its value, as it is sent.
    pub value: String,
    /// Its host; with a leading dot, the subdomains, too.
    pub domain: String,
    /// The prefix of the paths to which it is sent.
    pub path: String,
    /// When it expires, in seconds since 1970; -1 with the episode.
    #[serde(default = "never")]
    pub expires: f64,
    /// Whether it is hidden from scripts.
    #[serde(default)]
    pub http_only: bool,
    /// Whether it is sent only over HTTPS.
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(default = "lax")]
    pub same_site: String,
}

/// The storage of one origin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OriginState {
    /// Such as `https://shop.test`.
    pub origin: String,
    /// Local storage.
    pub local_storage: Vec<Entry>,
    /// Session storage, which lasts as long as its tab. Playwright leaves it out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub session_storage: Vec<Entry>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The key.
    pub name: String,
    /// The value.
    pub value: String,
}

fn never() -> f64 {
    -1.0
}

fn lax() -> String {
    "Lax".to_owned()
}
