//! Searches from outside, over recordings that are made here.
#![allow(clippy::unwrap_used)]

mod incremental;
mod search;
