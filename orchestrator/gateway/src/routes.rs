//! Which host is answered by what.
//!
//! The most specific pattern wins whatever the order: host and port, then host, then the longest wildcard (`*.example.test`, which
//! `example.test` itself does not match), then `*`. Of two equal patterns the first one stands.

use std::{fmt, sync::Arc};

use crate::Replay;

/// What answers the requests of a route.
#[derive(Clone)]
pub enum Target {
    /// A snapshot; what it does not hold is a miss.
    Replay(Arc<Replay>),
    /// A readable refusal, counted.
    Refuse,
}

/// A host pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the route pattern {pattern:?}: {reason}")]
pub struct BadPattern {
    /// The text given.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Replay(_) => "Replay",
            Target::Refuse => "Refuse",
        })
    }
}
