//! Progress events of operations.

use std::sync::Arc;

/// An event.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The next part of the work begins. The text describes it: "fetching wheels".
    Doing(&'a str),
    /// A step of a Dockerfile begins.
    Step {
        /// The number of the step, from 1.
        at: u32,
        /// The number of steps.
        of: u32,
        /// The instruction in the Dockerfile.
        instruction: &'a str,
    },
    /// A line of output of a program or build.
    Output(&'a str),
    /// Number of bytes of the file processed so far.
    Bytes(u64),
    /// Progress of one layer of an image.
    Layer {
        /// The layer's short id.
        id: &'a str,
        /// The current operation, as the engine names it: "Downloading", "Pull complete".
        doing: &'a str,
        /// Bytes done and bytes in total, if the engine reports them.
        bytes: Option<(u64, u64)>,
    },
}

/// The receiver of an operation's events. Several threads call it.
pub type OnEvent = Arc<dyn Fn(Event<'_>) + Send + Sync>;
