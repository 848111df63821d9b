//! The reports of an observation besides the page: dialogs, downloads, and the console.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dialog that a page has opened, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt`, or `beforeunload` (whether the page may be left).
    pub kind: String,
    /// Its text; empty for `beforeunload`.
    pub message: String,
    /// Whether it was accepted.
    pub accepted: bool,
    /// The text that was entered into an accepted `prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered: Option<String>,
}

impl fmt::Display for Dialog {
    /// `confirm "Remove it?" declined`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {:?} {}",
            self.kind,
            self.message,
            if self.accepted { "accepted" } else { "declined" }
        )?;
        self.entered.iter().try_for_each(|text| write!(f, " with {text:?}"))
    }
}

/// A file that a page had the browser save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Download {
    /// Its name: the one from the server or the page, made harmless, and with a number if it is the
    /// second of that name.
    pub name: String,
    /// Its URL. For data that the page itself created only its origin: `blob:https://site.test`.
    pub url: String,
    /// The file, as long as the episode lasts; `None` if the download failed or was canceled.
    pub path: Option<PathBuf>,
}

/// A message in the console of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleMessage {
    /// `console` (the page's own), `exception` (an uncaught error), or what the browser names:
    /// `network`, `security`, `deprecation`, ...
    pub source: String,
    /// `error`, `warning`, `info`, `log` or `debug`.
    pub level: String,
    /// The text, shortened if it is long.
    pub text: String,
    /// The URL of the script, or of the resource.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The line in the script, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}
