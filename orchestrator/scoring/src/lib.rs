//! Scorers: the published rules of benchmarks, reproduced with their bugs, and our own.
//!
//! A [`Scorer`] is what a task's file says of its score. An [`Assessment`] is a scorer at work on
//! one episode: it observes one [`Step`] at a time, collects [`Evidence`], consults a
//! [`Judge`](judge::Judge), and gives a [`Score`]. It is saved with the episode, so that the score
//! can be made again.
//!
//! Each benchmark has a folder whose types implement [`Rule`]; our own rules are in [`plain`].
//! Nothing here opens a browser, a socket or a snapshot.

#![allow(missing_docs, reason = "not published: some names say it all")]

mod assessment;
pub mod assistantbench;
mod beginning;
pub mod evidence;
pub mod judge;
pub mod mind2web_live;
pub mod mode;
pub mod plain;
mod reading;
mod rule;
mod score;
mod scorer;
mod scorer_table;
pub mod solution;
pub mod turkingbench;
pub mod vectors;
pub mod visualwebarena;
pub mod warcbench;
pub mod webarena;
pub mod webarena_verified;
pub mod workarena;

pub use assessment::Assessment;
pub use beginning::{LONGEST_TEXT, beginning};
pub use evidence::{
    Decision, Evidence, Fetch, FetchResponse, PageEvidence, Pages, PictureEvidence, ProbeQuestion,
    ProgramCheck, ProgramExit, Undecided, tables,
};
pub use mind2web_live::{KeyNode, KeyNodes, Method, PathNode, TextNode, UrlNode, ValueNode};
pub use mode::ScoringMode;
pub use plain::{
    Expectation, Infeasible, PageCheck, Pattern, StateCheck, Texts, UrlCheck, UrlRule, Verdict,
};
pub use reading::read_text;
pub use rule::{AgentRecord, EvidenceKind, Moment, Needs, NoState, Requirement, Rule};
pub use score::{Score, ScoreError, Step};
pub use scorer::Scorer;

/// The most that sums of fractions may lose on their way to 1.
const ROUNDING: f64 = 1e-9;
