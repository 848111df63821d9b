//! The errors of packing a run, and of reading a packed run.

use camino::Utf8PathBuf;

/// An error in packing a run, or in reading a packed run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run or a file of it.
    #[error(transparent)]
    Run(#[from] crate::Error),
    /// The user has interrupted it.
    #[error("go on: interrupted")]
    Interrupted,
    /// The run has not ended.
    #[error(
        "pack {run}: {missing} of its {planned} episodes are missing; finish it with `sandbox run --resume`, then pack it"
    )]
    Unfinished {
        /// The folder of the run.
        run: Utf8PathBuf,
        /// Number of missing episodes.
        missing: usize,
        /// Number of planned episodes.
        planned: usize,
    },
    /// The folder of the suite is unknown.
    #[error("pack {run}: it does not say where its suite is; name the folder with --suite")]
    NoSuite {
        /// The folder of the run.
        run: Utf8PathBuf,
    },
    /// The suite cannot be loaded.
    #[error("load the suite of the run: {source}; if it has moved, name its folder with --suite")]
    Suite {
        /// The cause.
        source: tasks::Error,
    },
    /// The suite has changed since the run.
    #[error(
        "pack {run}: the suite in {suite} is not as it was run, since its tasks, world or snapshots have changed; name a \
         folder with the old state with --suite, or play the run again"
    )]
    SuiteChanged {
        /// The folder of the run.
        run: Utf8PathBuf,
        /// The folder of the suite.
        suite: Utf8PathBuf,
    },
    /// A snapshot is at an address, and no file of this machine.
    #[error(
        "pack {run}: its snapshot {address} is on a server, and a packed run has files of this machine; download it, \
         and name the folder of a suite that names the file with --suite"
    )]
    Remote {
        /// The folder of the run.
        run: Utf8PathBuf,
        /// The snapshot.
        address: Utf8PathBuf,
    },
    /// The run names a file of this machine that is neither its own nor of its suite.
    #[error(
        "pack {run}: it names {path} as {what}, which is neither in the run nor in its suite; a run or a suite from \
         somebody else may name any file of yours, so if others may have it, name it yourself with {flag}"
    )]
    Outside {
        /// The folder of the run.
        run: Utf8PathBuf,
        /// The purpose of the file.
        what: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// The option that names it.
        flag: &'static str,
    },
    /// A link of a suite that leads out of its folder.
    #[error(
        "pack {path}: it is a link that leads out of {folder}; a suite from somebody else may lead to any file of yours, \
         so put the file itself there, or name the suite yourself with --suite"
    )]
    LeadsOut {
        /// The link.
        path: Utf8PathBuf,
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// A file has changed while it was read.
    #[error(
        "pack {path}: it changed while it was read; wait until nothing writes to it, then pack again"
    )]
    Changing {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A file has a name that no packed run may have.
    #[error("pack {path}: its name is too long or not UTF-8; rename it")]
    UnfitName {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The file is no packed run.
    #[error("read {path}: it is not a packed run ({reason}); `sandbox pack` writes one")]
    NotPacked {
        /// The file.
        path: Utf8PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is of a newer format.
    #[error("read {path}: {newer}")]
    NewerFormat {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        newer: file_version::NewerVersion,
    },
    /// The file ends too early or is damaged.
    #[error("read {member} of {path}: {source}; the file is cut short or damaged, so get it again")]
    Damaged {
        /// The file.
        path: Utf8PathBuf,
        /// The member.
        member: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The file breaks a rule of packed runs.
    #[error("read {path}: {reason}; `sandbox pack` writes no such file, so do not trust it")]
    Hostile {
        /// The file.
        path: Utf8PathBuf,
        /// The rule.
        reason: String,
    },
    /// A member is not what the manifest says.
    #[error(
        "verify {member} of {path}: its digest is {found}, not {expected}; the file was changed after it was packed"
    )]
    Differs {
        /// The file.
        path: Utf8PathBuf,
        /// The member.
        member: String,
        /// Its digest.
        found: String,
        /// The digest in the manifest.
        expected: String,
    },
    /// The disk has no room.
    #[error(
        "unpack {path}: it needs {needed} bytes, and {folder} has {free} beside a reserve of {reserve}; make room, or name \
         another folder with TMPDIR"
    )]
    NoRoom {
        /// The file.
        path: Utf8PathBuf,
        /// The folder.
        folder: Utf8PathBuf,
        /// Needed bytes.
        needed: u64,
        /// Free bytes less the reserve.
        free: u64,
        /// Bytes that stay free.
        reserve: u64,
    },
    /// A snapshot is not in the file and was not found.
    #[error(
        "find the snapshot {name} with SHA-256 {sha256}: the file has only its digest; name a folder that has it with \
         --snapshots"
    )]
    NoSnapshot {
        /// Its name.
        name: String,
        /// Its digest.
        sha256: String,
    },
}
