//! The first member of a packed run: what is in it, with a digest of every member.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::RepeatFingerprint;
use crate::stored::{Format, PlaySettings};

/// The version of packed runs that this program writes.
pub const FORMAT: Format = Format { major: 1, minor: 0 };

/// The name of the member.
pub(super) const NAME: &str = "manifest.json";
/// The name of the member with recorded replies of models.
pub(super) const CASSETTE: &str = "cassette.jsonl";
/// The folder of the run.
pub(super) const RUN: &str = "run";
/// The folder of the suite.
pub(super) const SUITE: &str = "suite";

/// The manifest of a packed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the file.
    pub format: Format,
    /// The version of the program that packed it.
    pub sandbox: String,
    /// The run, and its fingerprints.
    pub run: PackedRun,
    /// The options of the run that `run.json` does not have.
    #[serde(default)]
    pub settings: PlaySettings,
    /// The places of files that the suite names outside of its folder: paths as in its YAML files,
    /// and members.
    #[serde(default)]
    pub paths: BTreeMap<String, String>,
    /// The snapshots of the run.
    #[serde(default)]
    pub snapshots: Vec<SnapshotMember>,
    /// Whether the suite and everything that tells its solutions was left out. Omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_solutions: bool,
    /// All other members, sorted by path.
    pub members: Vec<Member>,
}

/// A run in few words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedRun {
    /// The name of the suite.
    pub suite: String,
    /// The agent.
    pub agent: String,
    /// The version of the program that played it.
    pub sandbox: String,
    /// Number of episodes.
    pub episodes: usize,
    /// The fingerprint of each repeat.
    pub fingerprints: Vec<RepeatFingerprint>,
}

/// A snapshot, which may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotMember {
    /// Its place in the file, also if it is left out.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 over all of it, in hexadecimal.
    pub sha256: String,
    /// Whether it is in the file.
    pub inside: bool,
}

/// A member of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Whether it is a program. Omitted if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}
