//! Runs: playing episodes. What they leave on disk, and what it says, is the crate [`results`].
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
//! play/               workers, worlds, episodes
//! evidence/           what rules ask of an episode's environment
//! consent/            what a suite would do besides, and what is agreed to
//! gym/                episodes step by step over HTTP, for training
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
pub mod changes;
mod confinement;
pub mod consent;
mod error;
mod evidence;
pub mod fidelity;
pub mod gym;
pub mod machine;
mod offline_visit;
mod play;
mod rescore;
pub mod solutions;
pub mod suites;
mod uploaded;

pub use again::{AgentAgain, agent_again, options_again};
pub use error::Error;
pub use play::deadline::SCORING;
pub use play::environment::Environment;
pub use play::options::{ConfinementOptions, Limits, LiveFill, Options};
pub use play::progress::{Event, Progress, silent};
pub use play::run::{HostFacts, run, run_in};
pub use play::running_sites::session_cookie;
pub use play::{attach, attached_program, browser_state, device, environment, log, parts, world};
pub use rescore::{
    ChosenAttempts, FieldScores, FieldsError, LineError, Means, TaskScores, TraceScores,
    TracesError, UnscoredLine, choose_attempts, score_again, score_fields, score_saved,
    score_traces,
};
pub use uploaded::UploadedRun;
