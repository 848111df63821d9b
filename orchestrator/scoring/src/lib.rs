//! Scorers: the published rules of benchmarks, reproduced with their bugs, and our own.
//!
//! A [`Scorer`] is what a task's file says of its score. An episode's [`ScoreState`] is a plain value:
//! it is fed one [`Step`] at a time, and can be saved and taken up again. What a rule wants to know
//! besides is asked when the episode has ended: pages through [`Pages`], the tables of a ServiceNow
//! instance through [`tables::Tables`], models through [`judge::Judge`].
//!
//! Each benchmark has a folder, and our own rules are in [`plain`]. Nothing here opens a browser, a
//! socket or a snapshot, and nothing reads the clock: values are mapped to values.

pub mod assistantbench;
pub mod judge;
pub mod mind2web_live;
pub mod plain;
mod reading;
pub mod rules;
mod score;
mod scorer;
pub mod solution;
pub mod tables;
pub mod turkingbench;
pub mod vectors;
pub mod visualwebarena;
pub mod warcbench;
pub mod webarena;
pub mod webarena_verified;
pub mod workarena;

pub use mind2web_live::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};
pub use plain::{
    Decision, Ended, Expectation, PageCheck, Pattern, ProgramCheck, StateCheck, Texts, UrlCheck, UrlRule,
    Verdict,
};
pub use reading::read_text;
pub use rules::Rules;
pub use score::{Score, ScoreError, ScoreState, Step};
pub use scorer::{Evaluation, Scorer};
pub use webarena::{Fetch, Fetched, Pages};

/// What sums of fractions may lose on their way to 1.
const ROUNDING: f64 = 1e-9;
