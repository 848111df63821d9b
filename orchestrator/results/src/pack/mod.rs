//! Packed runs: one file that holds a run and all that is needed to play it again.
//!
//! ```text
//! manifest.json     format, program, suite, agent, fingerprints, and SHA-256 of every other member
//! cassette.jsonl    recorded replies of models, if the run has them
//! files/            files that agents may give to pages
//! run/              the run's folder, without credentials and without paths of the machine
//! sites/            the manifests of the sites, if tasks name any
//! snapshots/        the snapshots; with `Snapshots::ByDigest` only their digests are in the manifest
//! state/            cookies and storage with which episodes begin
//! suite/            suite.yaml, the tasks, and the programs that score them
//! ```
//!
//! The file is a tar in one Zstandard frame, and not a ZIP, for three reasons. The traces of a run
//! resemble each other, and a window over all members compresses them together. One pass checks
//! everything while it unpacks, in constant memory. A tar cannot hide a second directory: each
//! member has to be the next one that the manifest names. `tar --zstd` of any system reads it.
//!
//! The bytes depend only on the content: members are sorted, and have no times, owners or names.
//!
//! A packed run may come from a stranger. [`unpack`] creates regular files in a folder of its own
//! and nothing else. It never follows a link, and it stops at the declared sizes.

mod collect;
mod error;
mod manifest;
mod names;
mod read;
mod recorded;
mod suite;
#[cfg(test)]
mod tests;
mod write;

pub use collect::{Snapshots, Sources};
pub use error::Error;
pub use manifest::{FORMAT, Manifest, Member, PackedRun, SnapshotMember};
pub use read::{Part, is_packed, manifest, unpack};
pub use recorded::{recorded_replies, was_attached};
pub use suite::Unpacked;
pub use write::{PackReport, write};
