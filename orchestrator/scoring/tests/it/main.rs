//! Scorers from outside: on whole episodes, on worlds that are not there, and on any input.
#![allow(clippy::unwrap_used)]

mod canned;
mod pages;
mod reading;
mod score_vectors;
mod scoring;
mod warcbench;
mod webarena;
mod webarena_verified;
mod workarena;
