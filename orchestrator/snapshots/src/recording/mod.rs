//! A recording in progress, and its conversion into a snapshot.
//!
//! ```text
//!            create                 append*                       finish
//!   (nothing) ───> x.wacz.recording/ ───> data.warc, pages.jsonl ───> x.wacz.part ── verified ──> x.wacz
//!                        │ killed                                         │ failed
//!                        └──> left over ── recover ──> (goes on) <────────┘
//! ```
//!
//! During a recording, data is only appended to plain files: records, pages, and the frames of each
//! open WebSocket. Nothing is hashed, compressed or synced, so a client waits for a single write. A
//! killed process loses nothing that was written. The costly work for the snapshot (digests, one
//! copy of each payload, compression, index) is done once, at the end.

mod append;
mod appender;
mod by_hand;
mod finish;
mod folder;
mod frames;
mod journal;
mod learn;
mod left_out;
mod read_back;
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
pub(crate) use left_out::is_left_out;

/// The metadata and options of a recording.
#[derive(Debug, Clone, Default)]
pub struct RecordingOptions {
    /// Title of the snapshot.
    pub title: Option<String>,
    /// Description of the content, in Markdown.
    pub description: Option<String>,
    /// Further fields for the `warcinfo` record, such as `robots` or `http-header-user-agent`.
    pub info: Vec<(String, String)>,
    /// Whether an existing file is replaced, once the recording is whole.
    pub replace: bool,
}

/// Progress of finishing a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Processed bytes of the recording.
    pub done: u64,
    /// Total bytes.
    pub total: u64,
}

/// The result of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingReport {
    /// The snapshot.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Responses, including revisits.
    pub responses: u64,
    /// Responses whose payload is in an earlier response.
    pub revisits: u64,
    /// Pages.
    pub pages: u64,
    /// `sha256:<hex>` of `datapackage.json`; identifies the content of the snapshot.
    pub digest: String,
}

/// The maximum size of a list, or of the browser state, in the folder of a recording.
const MAX_LIST: u64 = 64 << 20;

pub(crate) const SOFTWARE: &str = concat!("sandbox ", env!("CARGO_PKG_VERSION"));
