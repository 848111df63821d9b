//! Suites of tasks and the rules that score them.
//!
//! A [`Suite`] is a folder: `suite.yaml` describes the world its episodes start in, and every other YAML file
//! beside it is one [`Task`]. Reading is strict; whatever is not understood is an error with file, line and key.
//! A [`Scorer`] is fed the steps of an episode and gives a [`Score`] by the published rules of a benchmark,
//! its bugs included.
//!
//! This crate never opens a snapshot, a browser or a socket: it maps files and values to values.

mod fall_back;
mod suite;

pub mod import;
pub mod saved;
pub mod schema;
pub mod scoring;
pub mod tables;
pub mod vectors;

pub use fall_back::FallBack;
pub use scoring::mind2web_live::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};
pub use scoring::webarena::{Fetch, Fetched, Pages};
pub use scoring::{
    Decision, Ended, Expectation, PageCheck, Pattern, ProgramCheck, Score, ScoreError, ScoreState, Scorer,
    StateCheck, Step, Texts, UrlCheck, UrlRule, Verdict,
};
pub use suite::{
    DeviceSpec, Element, Error, Fill, FormField, GoalText, Interjection, MatchLevel, OracleStep, Place,
    Press, Scroll, Select, StopRules, Suite, Task, UNDATED, UnknownTask, WorldSpec,
};
