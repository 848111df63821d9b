//! What stops a run. What goes wrong inside one episode does not: it is recorded as that episode's
//! outcome.

use camino::Utf8PathBuf;

/// Why a run, a report or a comparison could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The results cannot be written or read.
    #[error(transparent)]
    Results(#[from] results::Error),
    /// The suite cannot be loaded.
    #[error(transparent)]
    Suite(#[from] crate::suites::SuiteError),
    /// The suite would do what its user has not agreed to.
    #[error("play the suite: nobody has agreed to what it would do: it {list}")]
    NotAgreed {
        /// All of it, in words.
        list: String,
    },
    /// A file or folder of what would be started cannot be read.
    #[error("look at what would be started: read {path}: {source}")]
    Started {
        /// The file or folder.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The answers of earlier questions cannot be read or written.
    #[error("keep what was agreed to in {path}: {source}")]
    Agreements {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong.
        source: std::io::Error,
    },
    /// The selection names a task that the suite does not have.
    #[error("select a task: {0}")]
    UnknownTask(#[from] tasks::UnknownTask),
    /// The agent plays what is written down, and nothing is.
    #[error("{source}{}", same(*.tasks))]
    NothingToPlay {
        /// What the first of the tasks lacks.
        source: agents::Error,
        /// How many tasks there are.
        tasks: usize,
    },
    /// The agent's program cannot be started.
    #[error(
        "{message}; the run ends here, as each episode would: once that is mended, continue with --resume --retry-errors --output {folder}"
    )]
    Unstartable {
        /// What the system said.
        message: String,
        /// The run.
        folder: Utf8PathBuf,
    },
    /// The world of the suite could not be brought up.
    #[error("bring up the world: {source}")]
    World {
        /// Why.
        source: crate::environment::EnvironmentError,
    },
    /// A manifest of a site cannot be read.
    #[error("read the sites: {source}")]
    Manifests {
        /// What is wrong with it.
        source: yaml::Error,
    },
    /// A task asks for what its sites do not have.
    #[error("prepare task {id}: {message}")]
    Task {
        /// The task.
        id: String,
        /// What is missing.
        message: String,
    },
    /// The sites could not be brought up.
    #[error("bring up the sites: {source}")]
    Sites {
        /// Why.
        source: sites::Error,
    },
    /// The snapshots cannot be opened.
    #[error("open the snapshots: {source}")]
    Snapshots {
        /// Why.
        source: crate::environment::EnvironmentError,
    },
    /// A packed run that cannot be played again.
    #[error(
        "play the run: it was driven in attach mode (`sandbox attach`), where actions are not seen; check its digests alone with --digests"
    )]
    Attached,
    /// The recorded replies of models cannot be read.
    #[error("use the cassette: {source}")]
    Cassette {
        /// Why.
        source: llm_client::Error,
    },
    /// A packed run, or what was recorded of it, cannot be read.
    #[error(transparent)]
    Pack(#[from] results::pack::Error),
}

fn same(tasks: usize) -> String {
    if tasks > 1 { format!(" (and so it is with all {tasks} tasks)") } else { String::new() }
}
