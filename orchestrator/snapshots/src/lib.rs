//! Snapshots of the web on disk.

pub mod matching;
