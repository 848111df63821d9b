//! The forum outside our process, as a program and in a container, beside the one inside.

#![allow(clippy::unwrap_used, missing_docs)] // a test that cannot go on says so

mod container;
mod process;
mod visitor;
