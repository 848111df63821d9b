//! What an operation tells while it runs.

use std::sync::Arc;

/// One thing that has just happened.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The next part of the work has begun, in words: "fetching wheels".
    Doing(&'a str),
    /// A step of a Dockerfile has begun, counted from 1.
    Step {
        /// Which step.
        at: u32,
        /// How many there are.
        of: u32,
        /// The instruction as it stands in the Dockerfile.
        instruction: &'a str,
    },
    /// A line that a program printed, here or in a build.
    Output(&'a str),
    /// Bytes of the file that is being read or written.
    Bytes(u64),
    /// How far one layer of an image is.
    Layer {
        /// The layer's short id.
        id: &'a str,
        /// What is done with it, in the engine's words: "Downloading", "Pull complete".
        doing: &'a str,
        /// Bytes done and bytes in all, where the engine says so.
        bytes: Option<(u64, u64)>,
    },
}

/// Receives the events of an operation; called from several threads.
pub type OnEvent = Arc<dyn Fn(Event<'_>) + Send + Sync>;
