//! Snapshots of the web on disk: what a recording is made of and how it is read back.
//!
//! A snapshot is one WACZ file: WARC 1.1 records, each in its own gzip member, a CDXJ index over
//! them, and the list of pages. Plain WARC (0.17 to 1.1) and ARC files are read as they are. This
//! crate is bytes in, bytes out: it knows of no network, no browser and no task.
//!
//! ```text
//!   Recording::create ── append* ── finish ──> x.wacz ── Archive::open ── records | read_at
//!        x.wacz.recording/ (append-only; a killed process loses nothing that was written)
//! ```
//!
//! Everything read here may be hostile: sizes are capped, lengths are checked against the bytes
//! that are there, a damaged record is reported and reading goes on at the next one.

mod archive;
mod body;
mod browser_state;
pub mod cdxj;
mod content;
mod error;
mod exchange;
pub mod har;
mod headers;
pub mod http;
pub mod index;
pub mod matching;
pub mod ops;
mod page;
pub mod post_key;
mod recording;
mod sorter;
pub mod surt;
mod timestamp;
pub mod wacz;
pub mod warc;
pub mod zipnum;

pub use archive::{Archive, Encoding, Records, Segment};
pub use body::{Body, BodyReader, Spool};
pub use browser_state::{BrowserState, RecordedCookie, Storage};
pub use error::{Damage, Error};
pub use exchange::{Exchange, Request, Response};
pub use headers::Headers;
pub use page::Page;
pub use recording::{
    Frame, FrameSide, Load, OpenSocket, Progress, Recording, RecordingOptions, RecordingReport,
};
pub use timestamp::Timestamp;
pub use warc::{Block, Record, RecordKind, RecordRef};
