//! Playing episodes, alone and in runs. What they leave on disk, and what it says, is the crate
//! [`results`].
//!
//! [`run()`] plays every task of a suite, each time from a pristine world. Each episode is kept on
//! disk the moment it has ended. A later crash, interrupt or full disk cannot take it back:
//!
//! ```text
//! planned -> begun (world pristine, start page open) -> step* -> ended -> scored -> written -> kept (renamed)
//!               |                                         |        ^                  |
//!               +----- error, time-out -------------------+--------+                  +-- interrupted before: as if never begun
//! ```
//!
//! ```text
//! run/                workers, which episode is next, a run in parts, what it is played from
//! episode/            one episode from its first observation to its end, and what it is worth
//! attach/             an episode that another program drives, and its answer
//! world/              what an episode's world is made of: Chromium, snapshots, running sites
//! environment         what an episode drives: the trait that a world implements
//! options, progress   what a run is told, and what it tells
//! evidence/           what rules ask of an episode's environment
//! consent/            what a suite would do besides, and what is agreed to
//! fidelity, changes   how well a snapshot replays; what has changed between two
//! rescore/            scoring what was saved
//! again               a packed run, played again
//! solutions           whether tasks can be solved
//! suites              suites as they are named on a command line
//! uploaded            a run whose results go to an object store while it is played
//! machine             what a machine has for runs, and what it lacks
//! ```
//!
//! The crate never judges an answer: the task's scorer does. It drives a browser only through
//! [`Environment`].

mod again;
pub mod attach;
mod blocking;
pub mod changes;
mod confinement;
pub mod consent;
pub mod environment;
pub mod episode;
mod error;
mod evidence;
pub mod fidelity;
pub mod machine;
mod offline_visit;
mod options;
mod progress;
mod rescore;
pub mod run;
pub mod solutions;
pub mod suites;
mod uploaded;
pub mod world;

pub use again::{AgentAgain, agent_again, options_again};
pub use blocking::blocking;
pub use environment::Environment;
pub use episode::deadline::SCORING;
pub use episode::log;
pub use error::Error;
pub use evidence::workarena_session::WorkArenaSession;
pub use options::{ConfinementOptions, Limits, LiveFill, Options};
pub use progress::{Event, Progress, silent};
pub use rescore::{
    ChosenAttempts, FieldScores, FieldsError, LineError, Means, TaskScores, TraceScores,
    TracesError, UnscoredLine, choose_attempts, score_again, score_fields, score_saved,
    score_traces,
};
pub use run::{HostFacts, parts, run, run_in};
pub use uploaded::UploadedRun;
pub use world::browser_state;
