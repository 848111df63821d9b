//! The results of runs: their files on disk, what they say, and the pages that show them.
//!
//! Nothing here plays: this crate knows no window and no site that runs.
//!
//! ```text
//! stored/                   a run's folder: its files, digests and fingerprints
//! analysis/                 summaries, statistics, comparisons
//! html/, report/, viewer/   pages about a run, as files
//! server/                   the same pages over HTTP (`sandbox show`)
//! export/                   tables for notebooks and other programs
//! pack/                     a run in one file, and read again
//! parts/                    the parts of a run, which several machines play, made one again
//! mirror                    a run's folder and the same in an object store
//! ```
//!
//! The crate never judges an answer: the task's scorer has.

pub mod analysis;
mod error;
pub mod export;
pub mod html;
pub mod mirror;
pub mod pack;
pub mod parts;
pub mod report;
pub mod server;
mod stored;
pub mod viewer;

pub use analysis::compare::{Comparison, Difference, check_snapshots, compare, compare_repeats};
pub use analysis::merge::merge;
pub use analysis::nondeterminism::Nondeterminism;
pub use analysis::order::OrderDifference;
pub use analysis::pairing::{Flip, Pairing, Side, pair};
pub use analysis::stopped::stopped_by_failures;
pub use analysis::summary::{RepeatFingerprint, Summary, TaskSummary};
pub use analysis::table::short_url;
pub use analysis::totals::Totals;
pub use analysis::{gaps, groups, measures, sensitivity, statistics};
pub use counted::counted;
pub use error::Error;
pub use stored::*;
