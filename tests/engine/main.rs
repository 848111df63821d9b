//! The built binary on a real container engine and a real registry, both on this machine. No
//! network is needed: the base image is made of this machine's shell.

mod build;
#[path = "../sites/tests/shared/daemon.rs"]
#[allow(clippy::unwrap_used)]
mod daemon;
mod files;
mod gone;
mod harness;
mod missing;
mod pull;
mod registry;
