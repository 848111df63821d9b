//! A run whose parts are jobs of a scheduler on a shared file system.
//!
//! ```text
//!             +--> playing --+--> ended                    the part is done
//!   submitted |              +--> failed, died, silent --> submitted again (at most TRIES times
//!     ^       |                                            without an episode more)
//!     |       +--> unfit ------> its node is left out ---> submitted again
//!     +-------+--> cancelled                               somebody wants it to end: it stays
//! ```
//!
//! The state of a part comes from two sources: the scheduler's list of jobs ([`slurm`]), and the
//! file that the part itself writes on the shared file system ([`status`]). Neither alone shows
//! that a part is dead: a scheduler notices a dead node late, and may give up a node whose jobs go
//! on. [`decide`] has the rules. A part that was submitted again in the meantime ends itself
//! ([`submissions`]).
//!
//! [`slurm_run`] is all of it where a run is submitted: plan, submit, follow ([`follow`]), and make
//! one run of the parts. [`part`] is the other side, on a node. For Kubernetes a manifest is
//! written ([`kubernetes`]), and the user does the rest.
//!
//! *Invariants:* the crate plays nothing: who holds a part plays it. It schedules nothing: which
//! job runs where and when is the scheduler's. It prints nothing: who follows a run is told events.

pub mod decide;
mod error;
mod files;
pub mod folder;
pub mod follow;
mod gather;
pub mod kubernetes;
pub mod lock;
mod node;
mod options;
pub mod part;
pub mod plan;
pub mod site_images;
pub mod slurm;
pub mod slurm_run;
pub mod status;
pub mod submissions;
mod submit;

pub use error::Error;
pub use options::PartOptions;

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    // A word with a zero byte cannot come from a command line.
    shlex::try_quote(word).map_or_else(|_| "''".to_owned(), |word| word.into_owned())
}
