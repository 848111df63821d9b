//! The parts of a run, each played by a process of its own, and made one again in its folder.
//!
//! ```text
//!   begin ---> remaining ---> assign ---> (parts are played elsewhere) ---> gather ---> whole run
//! ```
//!
//! Parts are runs themselves, with the same suite and agent. The folder of the whole run has no
//! episode until [`gather`] moves it there, so that an episode is in one place at any time. What
//! plays begins a run in parts, and knows what remains of it.

mod assign;
mod durations;
mod files;
mod gather;

pub use assign::{WeighedEpisode, assign};
pub use durations::Durations;
pub use files::{digest, input_files};
pub use gather::gather;
