//! What the programs that the sandbox starts see of the user's environment.
//!
//! Browsers, agents, verifiers and sites are not trusted with it: it holds keys and tokens, and
//! proxies that lead past the gateway. They get [`minimal`] and what the user names besides
//! ([`Variable`]). A command is started with
//!
//! ```
//! # let mut command = std::process::Command::new("true");
//! command.env_clear().envs(processes::minimal());
//! ```
//!
//! Programs that must not see everything are started by [`confine`], which also ends all that they
//! start. A [`Group`] ends with all that has stayed in it. [`end_all`] ends both kinds when our own
//! process is about to end. What is kept for a while is in the [`temporary`] folder.
//!
//! **Invariant.** No variable is passed on because nobody thought of it: what is not named here, by
//! the caller or by the user, is not there.

pub mod confine;
mod descriptors;
pub mod desktop;
mod environment;
mod group;
pub mod network;
pub mod own_network;
pub mod peers;
pub mod temporary;
mod users;
mod variable;

/// What a helper of ours ends with that could not start its program.
pub const NOT_STARTED: u8 = 127;

pub use environment::{display, minimal};
pub use group::{Group, end_all};
pub use variable::{BadVariable, Variable};
