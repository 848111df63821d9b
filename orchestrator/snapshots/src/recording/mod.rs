//! A recording in progress, and how it becomes a snapshot.
//!
//! ```text
//!            create                 append*                       finish
//!   (nothing) ───> x.wacz.recording/ ───> data.warc, pages.jsonl ───> x.wacz.part ── verified ──> x.wacz
//!                        │ killed                                         │ failed
//!                        └──> left over ── recover ──> (goes on) <────────┘
//! ```
//!
//! While it runs, a recording only appends to plain files: records, pages, and the frames of each
//! WebSocket that is still open. Nothing is hashed, compressed or synced, so a client waits for one
//! write and no more, and a killed process loses nothing that was written. All that makes a
//! snapshot good to keep (digests, one copy of each payload, compression, index) is done once, at
//! the end.

mod append;
mod appender;
mod finish;
mod folder;
mod frames;
mod journal;
mod learn;
#[cfg(test)]
mod tests;

use camino::Utf8PathBuf;

pub use folder::Recording;
pub(crate) use frames::FRAMES_TYPE;
pub use frames::{Frame, FrameSide};
pub use journal::OpenSocket;
pub(crate) use journal::left_over_records;
pub use learn::Load;
pub(crate) use learn::RULES;

/// What a recording says about itself.
#[derive(Debug, Clone, Default)]
pub struct RecordingOptions {
    /// Title of the snapshot.
    pub title: Option<String>,
    /// What it is of, in Markdown.
    pub description: Option<String>,
    /// Further fields for the `warcinfo` record, such as `robots` or `http-header-user-agent`.
    pub info: Vec<(String, String)>,
    /// Whether a file that is there is replaced, once the recording is whole.
    pub replace: bool,
}

/// How far finishing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the recording that have been worked through.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// What came out of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingReport {
    /// The snapshot.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Responses, revisits among them.
    pub responses: u64,
    /// Responses whose payload an earlier one holds.
    pub revisits: u64,
    /// Pages.
    pub pages: u64,
    /// `sha256:<hex>` of `datapackage.json`: names the content of the snapshot.
    pub digest: String,
}

pub(crate) const SOFTWARE: &str = concat!("sandbox ", env!("CARGO_PKG_VERSION"));
