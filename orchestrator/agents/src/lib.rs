//! What maps an observation to an action.
//!
//! An [`Agent`] lives for one episode. It is asked for one [`Reply`] per observation and never touches the browser itself: whoever drives the
//! episode performs the action, and tells the agent in the next [`View`] if it failed.
//!
//! - [`oracle`] plays the solution that a task brings along;
//! - [`noop`] stops at once, which shows what doing nothing earns, and [`random`] does anything;
//! - [`llm`] asks a language model, after the papers;
//! - [`program`] is any program of the user's, spoken to over JSON lines;
//! - [`fallback`] is one after the other, until one answers.
//!
//! Nothing here scores, records, or knows where results are kept.

mod agent;
mod call;
mod error;
pub mod fallback;
pub mod llm;
pub mod noop;
pub mod oracle;
pub mod program;
mod quoted;
pub mod random;
mod spec;

pub use agent::{ActionFormat, Agent, FirstLook, Goal, GoalImage, NextReply, Reply, Role, Utterance, View};
pub use call::Call;
pub use error::Error;
pub use spec::{AgentSpec, EpisodeContext, LlmAgent, UnknownAgent, is_random};
