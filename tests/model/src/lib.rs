//! A language model that is not there: a server on loopback that speaks OpenAI's chat completions
//! and replies by a script.
//!
//! [`Server`] is the server, for tests; [`walker`] is a script that plays each of the built-in
//! agents badly but entirely. The program of this crate serves that script in a process of its own,
//! so that it can be killed.

mod server;
pub mod walker;

pub use server::{ModelRequest, Reply, Server};
