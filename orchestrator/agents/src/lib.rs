//! Agents: they map observations to actions.
//!
//! An [`Agent`] lives for one episode. It gives one [`Reply`] for each observation. It never uses
//! the browser itself: the episode performs the action and reports a failure in the next [`View`].
//!
//! - [`oracle`] plays the solution of the task.
//! - [`noop`] stops at once. Its score is what doing nothing earns.
//! - [`random`] acts at random.
//! - [`llm`] has the agents of published papers, which use a language model.
//! - [`program`] runs an external agent: a program that speaks JSON lines, or an HTTP server.
//! - [`recorded`] gives the replies of a run again.
//! - [`fallback`] plays agents one after the other until one answers.
//!
//! This crate does not score, record or store anything.

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
pub mod recorded;
mod spec;

pub use agent::{
    ActionFormat, Agent, BeginOptions, Goal, GoalImage, NextReply, Reply, Role, Utterance, View,
};
pub use call::Call;
pub use error::{Error, Fault};
pub use oracle::action as oracle_action;
pub use spec::{AgentSpec, EpisodeContext, LlmAgent, UnknownAgent, is_random};
