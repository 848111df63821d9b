//! Suites of tasks and the rules that score them.
//!
//! A [`Suite`] is a folder: `suite.yaml` describes the world its episodes start in, and every other
//! YAML file beside it is one [`Task`]. Reading is strict; whatever is not understood is an error
//! with file, line and key. What decides a task's score is the crate `scoring`'s; [`import`] makes
//! suites of benchmarks' own files.
//!
//! This crate never opens a snapshot, a browser or a socket: it maps files and values to values.

#![allow(missing_docs, reason = "not published: some names say it all")]

mod attempt_fallback;
mod relative;
mod suite;

pub mod import;
pub mod saved;
pub mod scaffold;
pub mod schema;

pub use attempt_fallback::AttemptFallback;
pub use relative::relative;
pub use suite::{
    DATE, DeviceSpec, Error, GoalText, MatchLevel, Pace, SiteSearch, StatePolicy, StopRules, Suite,
    Task, UNDATED, UnknownTask, UserMessage, WorldSpec, read_task,
};
