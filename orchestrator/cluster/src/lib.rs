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
//! What is known of a part comes from two sides: the scheduler's list of jobs ([`slurm`]), and the
//! file that the part itself writes on the shared file system ([`status`]). Neither alone tells
//! that a part is dead: a scheduler notices a dead node late, and may give up a node whose jobs go
//! on. [`decide`] has the rules. A part that was submitted again in the meantime ends itself
//! ([`submissions`]).
//!
//! *Invariants:* the crate plays nothing and knows nothing of episodes but their names. It
//! schedules nothing: which job runs where and when is the scheduler's.

pub mod decide;
mod error;
mod files;
pub mod folder;
pub mod kubernetes;
pub mod lock;
pub mod plan;
pub mod slurm;
pub mod status;
pub mod submissions;

pub use error::Error;

/// The word as a shell reads it back.
fn quoted(word: &str) -> String {
    // A word with a zero byte cannot come from a command line.
    shlex::try_quote(word).map_or_else(|_| "''".to_owned(), |word| word.into_owned())
}
