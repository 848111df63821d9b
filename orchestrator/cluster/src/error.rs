//! The errors of a run on a cluster: of its scheduler, of the files beside it, and of its options.

use std::time::Duration;

use camino::Utf8PathBuf;
use tokio::task::JoinError;

/// An error in submitting, following or playing a run on a cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program of the scheduler is not installed.
    #[error("find `{program}` in PATH: this is no machine from which Slurm's jobs are submitted")]
    Missing {
        /// The program.
        program: &'static str,
    },
    /// A program of the scheduler refuses.
    #[error("run `{program}`: {said}")]
    Refused {
        /// The program.
        program: &'static str,
        /// Its output, or its exit status.
        said: String,
    },
    /// The scheduler's controller does not answer. It may later.
    #[error("reach Slurm's controller by `{program}`: {said}")]
    Unreachable {
        /// The program.
        program: &'static str,
        /// Its output.
        said: String,
    },
    /// The output of a scheduler's program cannot be parsed.
    #[error("read what `{program}` prints: {line:?} is not {expected}")]
    Output {
        /// The program.
        program: &'static str,
        /// The line.
        line: String,
        /// The format that was expected.
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
        /// The reason, and the option to use instead.
        why: &'static str,
    },
    /// A file beside the run cannot be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file beside the run cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file beside the run has another content than it should.
    #[error("read {path}: {source}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// The cause, with its place in the file.
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
    /// The run cannot be prepared.
    #[error(transparent)]
    Runs(#[from] play::Error),
    /// The results cannot be written or read.
    #[error(transparent)]
    Results(#[from] results::Error),
    /// The images of the sites cannot be read or loaded.
    #[error(transparent)]
    Images(#[from] container_images::Error),
    /// The address for the results cannot be written to.
    #[error(transparent)]
    Mirror(#[from] results::mirror::Error),
    /// A call of this machine's system failed.
    #[error("{doing}: {source}")]
    Machine {
        /// The call, as a verb.
        doing: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The path of the program or of the current folder is not UTF-8.
    #[error("{doing}: {source}")]
    NotUtf8 {
        /// The path that was looked for, as a verb.
        doing: &'static str,
        /// The path.
        source: camino::FromPathBufError,
    },
    /// Work on a thread of its own panicked.
    #[error("{doing}: {source}")]
    BrokeDown {
        /// The work.
        doing: &'static str,
        /// The cause.
        source: JoinError,
    },
    /// The name of a run's folder cannot be written into a script.
    #[error("use {folder:?} for a run: its name has a line feed")]
    FolderName {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// A run that is to be resumed here is played by jobs.
    #[error(
        "continue the run in {run}: its parts are jobs of Slurm; continue with --scheduler slurm --resume"
    )]
    PlayedByJobs {
        /// The run.
        run: Utf8PathBuf,
    },
    /// The results are to be at an address, but jobs need a folder in common.
    #[error(
        "run on Slurm with the results at {output}: the jobs find one another in a folder of the shared file system; \
         name one with --output"
    )]
    AtAddress {
        /// The address.
        output: Utf8PathBuf,
    },
    /// A variable has its value on the command line, where others would read it.
    #[error(
        "set {option} on a cluster: the value would be written into {written}; {instead}, and name it alone"
    )]
    VariableValue {
        /// The option.
        option: String,
        /// The place into which the command line of parts is written.
        written: &'static str,
        /// The place where the variable belongs.
        instead: &'static str,
    },
    /// Several parts would add to one cassette at once.
    #[error(
        "set --cassette on a cluster: one process alone may add to a cassette; use one that is complete with \
         --offline, or none"
    )]
    SharedCassette,
    /// The processes of parts do not end.
    #[error(
        "gather {}: their processes do not end; once they have, continue with --scheduler slurm --resume",
        parts.join(", ")
    )]
    Busy {
        /// The names of the parts.
        parts: Vec<String>,
    },
    /// A part has not got its number or another option.
    #[error("play a part: there is no {lacks}; `sandbox run --scheduler slurm` starts parts")]
    NoPart {
        /// The missing option.
        lacks: &'static str,
    },
    /// The plan has an invalid name of an episode.
    #[error("read {path}: {source}")]
    EpisodeName {
        /// The plan.
        path: Utf8PathBuf,
        /// The cause.
        source: results::NoEpisode,
    },
    /// The part must not be played, or no longer. The text is a sentence of its own.
    #[error("{0}")]
    Over(String),
    /// The node lacks something.
    #[error("play here: {}", problems.join("; "))]
    UnfitNode {
        /// The problems, a sentence each.
        problems: Vec<String>,
    },
    /// Another process of this machine loads the same file of images.
    #[error("load {file}: another process has been loading for {} s", waited.as_secs())]
    Loading {
        /// The file.
        file: Utf8PathBuf,
        /// The time that was spent waiting.
        waited: Duration,
    },
    /// The files that parts read cannot be listed.
    #[error("read what parts need: {source}")]
    Inputs {
        /// The cause.
        source: results::Error,
    },
    /// An invalid address of an object store or of a web server.
    #[error("run on Kubernetes: {source}")]
    Address {
        /// The cause.
        source: object_files::Error,
    },
    /// Pods need something that no option names.
    #[error("run on Kubernetes{with}: {needs}")]
    PodsLack {
        /// The part of the run that needs it, or empty.
        with: String,
        /// The missing thing, and the option that names it.
        needs: String,
    },
    /// A path means something else in a pod.
    #[error(
        "use {path} in a pod: the claim holds a copy of this folder; name it, here and in the suite, by a path that \
         stays below"
    )]
    OutsideClaim {
        /// The path.
        path: Utf8PathBuf,
    },
    /// There is a manifest already.
    #[error("write {file}: it exists; apply it, or name another --output")]
    ManifestExists {
        /// The manifest.
        file: Utf8PathBuf,
    },
}

impl Error {
    /// Returns advice, if the text has none.
    pub fn cure(&self) -> Option<&'static str> {
        match self {
            Error::Missing { .. } => Some("run this on a login node, or install Slurm's clients"),
            Error::Refused { said, .. } if is_about_size(said) => {
                Some("use fewer parts (--parts), or wait until other jobs of yours have ended")
            }
            _ => None,
        }
    }

    /// The error as a sentence, with its causes and advice.
    pub(crate) fn sentence(&self) -> String {
        let cure = self.cure().map(|cure| format!("; {cure}")).unwrap_or_default();
        format!("failed to {}{cure}", error_text::with_causes(self))
    }
}

/// Returns whether Slurm refuses the number of jobs, by a limit of the user's or by that of arrays.
fn is_about_size(said: &str) -> bool {
    ["limit", "Limit", "job array index"].iter().any(|word| said.contains(word))
}
