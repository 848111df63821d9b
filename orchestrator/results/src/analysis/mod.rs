//! Analysis of a run's results: numbers, their uncertainty, and differences between runs.
//!
//! Everything is computed from records on disk. This module does not play, score or change
//! anything; only `merge` writes, into a new folder.

pub mod compare;
pub mod facts;
pub mod gaps;
pub mod groups;
pub mod measures;
pub mod merge;
pub mod nondeterminism;
pub mod order;
pub mod pairing;
pub mod sensitivity;
pub mod statistics;
pub mod stopped;
pub mod summary;
pub mod table;
pub mod totals;
