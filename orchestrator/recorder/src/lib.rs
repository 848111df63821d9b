//! Recording: visits pages in a live browser through a recording gateway and leaves one WACZ behind.
//!
//! ```text
//!   Studio::open ──┬── crawl      visits URLs and their links by itself
//!                  ├── by_hand    a window for a person, until it is closed
//!                  └── (nothing)  a proxy for any client
//!                      then Studio::close ──> Recording::finish ──> the snapshot
//! ```
//!
//! The recorder never reads or writes HTTP itself. Every byte of the snapshot was seen by the gateway on its way to
//! the browser; what is added here are the pages: their URLs, titles and texts.

mod crawl;
mod error;
pub mod frontier;
mod kept;
mod manual;
pub mod robots;
mod studio;
mod visit;

pub use crawl::{Crawl, CrawlSummary, Event, Skip, crawl};
pub use error::Error;
pub use kept::keep_state;
pub use manual::by_hand;
pub use studio::{Studio, StudioOptions};
