//! Suites and tasks from outside: read from disk, from documentation and from stored runs.
#![allow(clippy::unwrap_used)]

mod examples;
mod load;
mod stored_runs;
mod warcbench;
