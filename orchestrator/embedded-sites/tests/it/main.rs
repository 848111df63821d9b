//! Sites that are part of the program, as a browser and an evaluator see them.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so

mod crowd;
mod desk;
mod files;
mod forum;
mod itsm;
mod turkingbench;
