//! Why results cannot be written, read, compared or shown.

use camino::Utf8PathBuf;

/// What goes wrong with the results of runs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A result file could not be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A result file could not be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A result file does not hold what it should.
    #[error("read {path}, line {line}: {source}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// An episode stands in another one's folder.
    #[error(
        "read {path}: its episode.json is that of the folder {belongs}; give the folder that name"
    )]
    Misplaced {
        /// The folder.
        path: Utf8PathBuf,
        /// The name of the folder that the episode belongs in.
        belongs: String,
    },
    /// A value cannot be written as JSON.
    #[error("encode a result: {source}")]
    Encode {
        /// Why.
        source: serde_json::Error,
    },
    /// Results of a newer format.
    #[error("read {path}: {newer}")]
    NewerFormat {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        newer: file_version::NewerVersion,
    },
    /// The folder holds a run already and was not to be resumed.
    #[error(
        "begin a run in {path}: it holds one already; go on with it by `--resume`, or name another folder"
    )]
    Occupied {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// Two runs that have nothing to compare.
    #[error(
        "find a task that is in both: {left} is of the suite {left_suite}, {right} of {right_suite}"
    )]
    NothingInCommon {
        /// A run.
        left: Utf8PathBuf,
        /// Another.
        right: Utf8PathBuf,
        /// The suite of the first.
        left_suite: String,
        /// The suite of the second.
        right_suite: String,
    },
    /// Two runs whose snapshots are not the same.
    #[error("mix snapshots: one run was played in {left}, the other in {right}")]
    DifferentSnapshots {
        /// The names of the first one's snapshots, with the beginning of their digests.
        left: String,
        /// Those of the second.
        right: String,
    },
    /// A folder that was to be made is there already.
    #[error("write {path}: it is there already; remove it or name another folder")]
    OutputExists {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// A file that was to be written is there already.
    #[error("write {path}: it exists; --force replaces it")]
    Exists {
        /// The file.
        path: Utf8PathBuf,
    },
    /// Somebody else adds to the run.
    #[error(
        "add to the run in {path}: another process does so; wait until it has ended, or name another folder"
    )]
    InUse {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// The folder is no run.
    #[error("read a run in {path}: there is no run.json")]
    NotARun {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// The run in the folder is of something else.
    #[error("resume the run in {path}: its {what} is {there:?}, not {here:?}")]
    DifferentRun {
        /// The folder.
        path: Utf8PathBuf,
        /// In what they differ.
        what: String,
        /// What the folder says.
        there: String,
        /// What was asked for.
        here: String,
    },
    /// Nothing can be heard at the address.
    #[error("listen at {address}: {source}; name another address, or port 0 for a free one")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// No run was named to put together.
    #[error("put runs together: none was named")]
    NothingToMerge,
    /// A part is of another run than the first.
    #[error("put {path} together with the first run: its {what} is {here:?}, not {there:?}")]
    DifferentParts {
        /// The part.
        path: Utf8PathBuf,
        /// In what they differ.
        what: String,
        /// What the first says.
        there: String,
        /// What this one says.
        here: String,
    },
    /// Two parts have the same episode.
    #[error("put runs together: {path} has episode {id}, and so has one before it")]
    TwiceInParts {
        /// The folder of the second.
        path: Utf8PathBuf,
        /// The episode.
        id: String,
    },
    /// The run has no such episode.
    #[error("find episode {name:?}{meant}: {path} has {known}")]
    UnknownEpisode {
        /// How it was named.
        name: String,
        /// The run.
        path: Utf8PathBuf,
        /// The episode that may have been meant, in brackets.
        meant: String,
        /// The episodes that there are.
        known: String,
    },
    /// A page of the report or the viewer could not be drawn.
    #[error("draw the page: {source}")]
    Template {
        /// What the template engine said.
        source: minijinja::Error,
    },
    /// The run has a task that its suite does not have.
    #[error("select a task: {0}")]
    UnknownTask(#[from] tasks::UnknownTask),
}
