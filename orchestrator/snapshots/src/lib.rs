//! Snapshots of the web on disk: records HTTP traffic into files and reads it back.
//!
//! A snapshot is one WACZ file: WARC 1.1 records, each in its own gzip member, a CDXJ index over
//! them, and the list of pages. A [`collection`] of WACZ files is a snapshot too. Plain WARC (0.17
//! to 1.1) and ARC files can be read directly. This crate only handles bytes. A snapshot at an
//! address is read through the crate `object-files`; nothing else here depends on a network, a
//! browser or a task.
//!
//! ```text
//!   Recording::create ── append* ── finish ──> x.wacz ── Archive::open ── records | read_at
//!        x.wacz.recording/ (append-only; a killed process loses nothing that was written)
//! ```
//!
//! All input may be hostile. Sizes are limited, and lengths are checked against the available
//! bytes. A damaged record is reported, and reading continues at the next one.

mod archive;
mod body;
mod browser_state;
mod budget;
pub mod cdxj;
pub mod collection;
mod content;
mod error;
mod exchange;
pub mod har;
mod headers;
pub mod http;
pub mod index;
mod lines;
pub mod matching;
pub mod ops;
mod page;
mod parallel;
pub mod post_key;
pub mod push;
mod recording;
mod sorter;
mod source;
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
pub use object_files::is_address;
pub use page::Page;
pub use recording::{
    Frame, FrameSide, Load, OpenSocket, Progress, Recording, RecordingOptions, RecordingReport,
};
pub use source::{Source, SourceReader};
pub use timestamp::Timestamp;
pub use warc::{Block, Record, RecordKind, RecordRef};
