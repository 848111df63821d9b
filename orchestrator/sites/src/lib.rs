//! Web applications that we host, and how each episode gets pristine copies of them.
//!
//! A [`Site`] is what `sites/<name>/site.yaml` says. Of each, copies run side by side, all under the same URLs: what
//! tells them apart is only the address that the gateway is told.
//!
//! ```text
//! absent -> starting -> ready -> leased -> dirty -> recycled -+
//!              |          ^                    |              |
//!              v          +--------------------|--------------+  by restore
//!            failed                            +-> absent         by recreate
//! ```
//!
//! This crate never sees a browser and never answers a request: it starts, watches, resets and stops.

pub mod manifest;
pub mod state;

pub use manifest::Site;
