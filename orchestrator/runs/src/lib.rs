//! Runs: playing episodes, their results on disk, and what the results say.
//!
//! [`run`] plays every task of a suite, each time from a pristine world. Each episode is kept on
//! disk the moment it has ended. A later crash, interrupt or full disk cannot take it back:
//!
//! ```text
//! planned -> begun (world pristine, start page open) -> step* -> ended -> scored -> written -> kept (renamed)
//!               |                                         |        ^                  |
//!               +----- error, time-out -------------------+--------+                  +-- interrupted before: as if never begun
//! ```
//!
//! ```text
//! play/                     workers, worlds, episodes
//! evidence/                 what rules ask of an episode's environment
//! results/                  a run's folder: its files, digests and fingerprints
//! analysis/                 summaries, statistics, comparisons
//! html/, report/, viewer/   pages about a run, as files
//! server/                   the same pages over HTTP (`sandbox show`)
//! export/                   tables for notebooks and other programs
//! consent/                  what a suite would do besides, and what is agreed to
//! pack/                     a run in one file, and read again
//! parts/                    a run in parts on several machines, made one again
//! gym/                      episodes step by step over HTTP, for training
//! fidelity, changes          how well a snapshot replays; what has changed between two
//! rescore                   scoring what was saved
//! ```
//!
//! The crate never judges an answer: the task's scorer does. It drives a browser only through
//! [`Environment`].

mod analysis;
pub mod changes;
mod confinement;
pub mod consent;
mod error;
mod evidence;
pub mod export;
pub mod fidelity;
pub mod gym;
mod html;
pub mod mirror;
mod offline_visit;
pub mod pack;
pub mod parts;
mod play;
pub mod report;
mod rescore;
pub mod results;
pub mod server;
pub mod viewer;

pub use analysis::compare::{Comparison, Difference, check_snapshots, compare, compare_repeats};
pub use analysis::counted::counted;
pub use analysis::merge::merge;
pub use analysis::nondeterminism::Nondeterminism;
pub use analysis::order::OrderDifference;
pub use analysis::pairing::{Flip, Pairing, Side, pair};
pub use analysis::summary::{RepeatFingerprint, Summary, TaskSummary};
pub use analysis::table::short_url;
pub use analysis::{gaps, groups, measures, sensitivity, statistics};
pub use error::Error;
pub use play::deadline::SCORING;
pub use play::environment::Environment;
pub use play::options::{ConfinementOptions, Limits, LiveFill, Options};
pub use play::progress::{Event, Progress, silent};
pub use play::run::{Machine, run, run_in};
pub use play::running_sites::session_cookie;
pub use play::{attach, browser_state, device, environment, log, world};
pub use rescore::{score_again, score_saved};
pub use results::fingerprint;
