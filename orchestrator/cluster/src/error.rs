//! What goes wrong with a run on a cluster: with its scheduler, with the files beside it, and with
//! what it was told.

use std::time::Duration;

use camino::Utf8PathBuf;
use tokio::task::JoinError;

/// Why a run on a cluster could not be submitted, followed or played.
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
    /// What would be played cannot be had.
    #[error(transparent)]
    Runs(#[from] play::Error),
    /// The results cannot be written or read.
    #[error(transparent)]
    Results(#[from] results::Error),
    /// The images of the sites cannot be read or loaded.
    #[error(transparent)]
    Images(#[from] container_images::Error),
    /// The results are to be where nothing can be written.
    #[error(transparent)]
    Mirror(#[from] results::mirror::Error),
    /// This machine does not say what it is asked.
    #[error("{doing}: {source}")]
    Machine {
        /// What it was asked.
        doing: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The path of the program or of the current folder is not UTF-8.
    #[error("{doing}: {source}")]
    NotUtf8 {
        /// What was looked for.
        doing: &'static str,
        /// The path.
        source: camino::FromPathBufError,
    },
    /// Work on a thread of its own broke down.
    #[error("{doing}: {source}")]
    BrokeDown {
        /// The work.
        doing: &'static str,
        /// Why.
        source: JoinError,
    },
    /// The name of a run's folder cannot be written into a script.
    #[error("use {folder:?} for a run: its name has a line feed")]
    FolderName {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// A run that is to go on here is played by jobs.
    #[error(
        "continue the run in {run}: its parts are jobs of Slurm; continue with --scheduler slurm --resume"
    )]
    PlayedByJobs {
        /// The run.
        run: Utf8PathBuf,
    },
    /// The results are to be at an address, where jobs tell one another by files.
    #[error(
        "run on Slurm with the results at {output}: the jobs find one another in a folder of the shared file system; \
         name one with --output"
    )]
    AtAddress {
        /// The address.
        output: Utf8PathBuf,
    },
    /// The value of a variable would be read by others.
    #[error(
        "set {option} on a cluster: the value would be written into {written}; {instead}, and name it alone"
    )]
    VariableValue {
        /// The option.
        option: String,
        /// What the command line of parts is written into.
        written: &'static str,
        /// Where the variable belongs.
        instead: &'static str,
    },
    /// Parts would add to one cassette at once.
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
    /// A part is not told which one it is.
    #[error("play a part: there is no {lacks}; `sandbox run --scheduler slurm` starts parts")]
    NoPart {
        /// What it is not told.
        lacks: &'static str,
    },
    /// The plan names an episode that cannot be one.
    #[error("read {path}: {source}")]
    EpisodeName {
        /// The plan.
        path: Utf8PathBuf,
        /// What is wrong.
        source: results::NoEpisode,
    },
    /// The part is not to be played, or no more. The text is a sentence of its own.
    #[error("{0}")]
    Over(String),
    /// The node lacks something.
    #[error("play here: {}", problems.join("; "))]
    UnfitNode {
        /// What it lacks.
        problems: Vec<String>,
    },
    /// Another process of this machine loads the same file of images.
    #[error("load {file}: another process has been loading for {} s", waited.as_secs())]
    Loading {
        /// The file.
        file: Utf8PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// What parts read cannot be listed.
    #[error("read what parts need: {source}")]
    Inputs {
        /// Why.
        source: results::Error,
    },
    /// An address of an object store or of a web server that is none.
    #[error("run on Kubernetes: {source}")]
    Address {
        /// What is wrong.
        source: object_files::Error,
    },
    /// Pods need what nobody has named.
    #[error("run on Kubernetes{with}: {needs}")]
    PodsLack {
        /// With what, or nothing.
        with: String,
        /// What is needed, and the option that names it.
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
    /// What to do about it, where the text does not say that.
    pub fn cure(&self) -> Option<&'static str> {
        match self {
            Error::Missing { .. } => Some("run this on a login node, or install Slurm's clients"),
            Error::Refused { said, .. } if is_about_size(said) => {
                Some("use fewer parts (--parts), or wait until other jobs of yours have ended")
            }
            _ => None,
        }
    }

    /// The sentence that tells it, with its causes and what to do about it.
    pub(crate) fn sentence(&self) -> String {
        let cure = self.cure().map(|cure| format!("; {cure}")).unwrap_or_default();
        format!("failed to {}{cure}", error_text::with_causes(self))
    }
}

/// Whether Slurm takes fewer jobs than these, by a limit of the user's or by that of arrays.
fn is_about_size(said: &str) -> bool {
    ["limit", "Limit", "job array index"].iter().any(|word| said.contains(word))
}
