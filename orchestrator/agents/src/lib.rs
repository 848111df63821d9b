//! What maps an observation to an action.
//!
//! An [`Agent`] lives for one episode. It is asked for one [`Reply`] per observation and never touches the browser itself: whoever drives the
//! episode performs the action, and tells the agent in the next [`View`] if it failed.
//!
//! - [`oracle`] plays the solution that a task brings along;
//! - [`noop`] stops at once, which shows what doing nothing earns;
//! - [`program`] is any program of the user's, spoken to over JSON lines.
//!
//! Nothing here scores, records, or knows where results are kept.

mod agent;
mod error;
mod kind;
pub mod noop;
pub mod oracle;
pub mod program;

pub use agent::{Agent, FirstLook, Goal, GoalImage, NextReply, Reply, Role, Speech, Utterance, View};
pub use error::Error;
pub use kind::{Kind, UnknownAgent};
