//! Episodes, runs, their results on disk, and what they say.
//!
//! [`run`] attempts every task of a suite, each time from a pristine world, and keeps each episode the moment it has ended, so that nothing that
//! comes after (a crash, an interrupt, a broken disk) can take it back:
//!
//! ```text
//! planned -> begun (world pristine, start page open) -> step* -> ended -> scored -> written -> kept (renamed)
//!               |                                         |        ^                  |
//!               +----- error, time-out -------------------+--------+                  +-- interrupted before: as if never begun
//! ```
//!
//! Everything else reads those results: [`Summary`] counts them, [`fingerprint`] digests what must repeat, [`compare`](fn@compare) names the first
//! difference, [`report`] and [`viewer`] draw them, [`server`] shows them. The crate never judges an answer itself (that is the task's scorer) and never speaks to a browser but
//! through [`Environment`].

mod blocking;
mod compare;
mod counted;
mod digest;
pub mod door;
pub mod environment;
mod episode;
mod error;
pub mod export;
mod facts;
pub mod fidelity;
mod files;
pub mod fingerprint;
pub mod groups;
pub mod gym;
mod html;
pub mod kept;
pub mod log;
pub mod measures;
mod merge;
mod nondeterminism;
mod options;
mod pairing;
mod progress;
mod reading;
mod recorded;
pub mod report;
pub mod results;
mod room;
mod run;
mod saved;
mod scored;
pub mod sensitivity;
pub mod server;
mod servicenow;
mod starts;
pub mod statistics;
mod stay;
mod stuck;
mod suite_digest;
mod summary;
mod table;
mod town;
mod trace;
mod verifier;
pub mod viewer;
pub mod world;

pub use compare::{Comparison, Difference, compare, compare_repeats};
pub use counted::counted;
pub use environment::Environment;
pub use error::Error;
pub use merge::merge;
pub use nondeterminism::Nondeterminism;
pub use options::{Limits, Options};
pub use pairing::{Flip, Pairing, Side, pair};
pub use progress::{Event, Progress, silent};
pub use run::{Sites, run, run_in};
pub use saved::{score_again, score_saved};
pub use servicenow::ServiceNow;
pub use summary::{RepeatFingerprint, Summary, TaskSummary};
pub use table::short_url;
pub use town::session_cookie;
