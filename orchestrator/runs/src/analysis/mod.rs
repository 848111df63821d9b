//! What the results of a run say: numbers, how sure they are, and where two runs differ.
//!
//! Everything here is computed from records that were read before. Nothing here plays, scores or
//! writes anything.

pub(crate) mod compare;
pub(crate) mod counted;
pub(crate) mod facts;
pub mod groups;
pub mod measures;
pub(crate) mod merge;
pub(crate) mod nondeterminism;
pub(crate) mod pairing;
pub mod sensitivity;
pub mod statistics;
pub(crate) mod summary;
pub(crate) mod table;
