//! Analysis of a run's results: numbers, their uncertainty, and differences between runs.
//!
//! Everything is computed from records on disk. This module does not play, score or change
//! anything; only `merge` writes, into a new folder.

pub(crate) mod compare;
pub(crate) mod counted;
pub(crate) mod facts;
pub mod gaps;
pub mod groups;
pub mod measures;
pub(crate) mod merge;
pub(crate) mod nondeterminism;
pub(crate) mod order;
pub(crate) mod pairing;
pub mod sensitivity;
pub mod statistics;
pub(crate) mod summary;
pub(crate) mod table;
