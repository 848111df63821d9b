//! What goes wrong with a scheduler and with the files beside it.

use camino::Utf8PathBuf;

/// Why jobs could not be submitted or followed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program of the scheduler is not installed.
    #[error("find `{program}` in PATH: this is no machine from which Slurm's jobs are submitted")]
    Missing {
        /// The program.
        program: &'static str,
    },
    /// A program of the scheduler says no.
    #[error("run `{program}`: {said}")]
    Refused {
        /// The program.
        program: &'static str,
        /// What it printed, or how it ended.
        said: String,
    },
    /// The scheduler's controller does not answer. It may later.
    #[error("reach Slurm's controller by `{program}`: {said}")]
    Unreachable {
        /// The program.
        program: &'static str,
        /// What it printed.
        said: String,
    },
    /// A program of the scheduler prints what nobody here understands.
    #[error("read what `{program}` prints: {line:?} is not {expected}")]
    Output {
        /// The program.
        program: &'static str,
        /// The line.
        line: String,
        /// What it should have been.
        expected: &'static str,
    },
    /// An option that the command sets itself.
    #[error("use the option {option}: `sandbox run` sets it itself for each job")]
    Reserved {
        /// The option, as it was written.
        option: String,
    },
    /// An option with which the parts could not be played or found again.
    #[error("use the option {option}: {why}")]
    Unfit {
        /// The option, as it was written.
        option: String,
        /// Why not, and what to write.
        why: &'static str,
    },
    /// A file beside the run cannot be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file beside the run cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file beside the run has something else in it.
    #[error("read {path}: {source}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A file of a newer format.
    #[error("read {path}: {newer}")]
    NewerFormat {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        newer: file_version::NewerVersion,
    },
}
