//! Playing episodes: the queue, the world, the loop of observation and action, and the result.
//!
//! ```text
//! run, worker, scheduler, options, progress
//!                                       workers, which episode is next, what a run is told and tells
//! episode, trace, early_stop, log       one episode from its first observation to its end
//! blame, deadline                       whose fault a failure is; how long scoring may take
//! attach, watch, answer_file            an episode that another program drives, and its answer
//! environment, world                    what an episode drives: the trait, and Chromium in a world
//! parts, inputs                         a run in parts; what a run is played from
//! start_pages, world_resources, world_snapshots, browser_state, device, running_sites
//!                                       what a world is made of
//! scored                                what an episode is worth, with a judge's help
//! ```
//!
//! Nothing here reads a run's folder again: that is [`results`](results) and
//! [`analysis`](results::analysis).

mod answer_file;
pub mod attach;
pub mod attached_program;
pub(crate) mod blame;
pub(crate) mod blocking;
pub mod browser_state;
pub(crate) mod deadline;
pub mod device;
pub(crate) mod early_stop;
pub mod environment;
pub(crate) mod episode;
mod inputs;
pub mod log;
mod memory;
pub(crate) mod options;
pub mod parts;
pub(crate) mod progress;
pub(crate) mod run;
pub(crate) mod running_sites;
mod scheduler;
pub(crate) mod scored;
pub(crate) mod start_pages;
mod trace;
mod watch;
mod worker;
pub mod world;
mod world_resources;
mod world_snapshots;
