//! The recorder: visits pages in a live browser through a recording gateway and writes one WACZ
//! file.
//!
//! ```text
//!   RecordingGateway::open ──┬── Crawler    visits URLs and what they lead to by itself
//!                  ├── by_hand    a window for a person, until it is closed
//!                  └── (nothing)  a proxy for any client
//!                      then RecordingGateway::close ──> Recording::finish ──> the snapshot
//! ```
//!
//! The recorder never reads or writes HTTP itself. The gateway records every byte on its way to the
//! browser. This crate adds only the page list: URLs, titles and texts. What a whole suite needs is
//! in a [`plan::Plan`]; [`suite`] says which version of its snapshots is recorded and where that
//! goes, and [`rounds`] adds what somebody misses who plays in it. [`finish`] makes the snapshot
//! and names what it lacks.

#![allow(missing_docs, reason = "not published: some names say it all")]

mod browser_state;
pub mod coverage;
mod crawl;
mod error;
pub mod finish;
pub mod frontier;
mod journal;
mod manual;
pub mod plan;
mod politeness;
mod recording_gateway;
pub mod robots;
pub mod rounds;
pub mod suite;
mod tour;
mod visit;
mod web_address;

pub use browser_state::keep_state;
pub use crawl::{CrawlOptions, CrawlSummary, Crawler, Event, Skip};
pub use error::Error;
pub use manual::by_hand;
pub use recording_gateway::{RecordingGateway, RecordingGatewayOptions};
pub use tour::{Tour, TourError};
pub use web_address::web_address;
