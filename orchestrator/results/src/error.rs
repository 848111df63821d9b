//! The errors of writing, reading, comparing and showing results.

use camino::Utf8PathBuf;

/// An error with the results of runs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A result file could not be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A result file could not be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A result file has another content than it should.
    #[error("read {path}, line {line}: {source}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
    /// The folder of an episode has another episode's file.
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
        /// The cause.
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
    /// The folder holds a run already, and the run is not resumed.
    #[error(
        "begin a run in {path}: it holds one already; go on with it by `--resume`, or name another folder"
    )]
    Occupied {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// Two runs have no task in common.
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
    /// A folder exists that should be created.
    #[error("write {path}: it is there already; remove it or name another folder")]
    OutputExists {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// A file exists that should be created.
    #[error("write {path}: it exists; --force replaces it")]
    Exists {
        /// The file.
        path: Utf8PathBuf,
    },
    /// Another process adds to the run.
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
        /// The first part in which they differ.
        what: String,
        /// The value in the folder.
        there: String,
        /// The value of the run that should go there.
        here: String,
    },
    /// The address cannot be listened on.
    #[error("listen at {address}: {source}; name another address, or port 0 for a free one")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// No run was given to merge.
    #[error("put runs together: none was named")]
    NothingToMerge,
    /// A part is of another run than the first.
    #[error("put {path} together with the first run: its {what} is {here:?}, not {there:?}")]
    DifferentParts {
        /// The part.
        path: Utf8PathBuf,
        /// The first part in which they differ.
        what: String,
        /// The value of the first.
        there: String,
        /// The value of this one.
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
        /// The name that the user gave.
        name: String,
        /// The run.
        path: Utf8PathBuf,
        /// The similar name of an episode, in brackets.
        meant: String,
        /// The names of the existing episodes.
        known: String,
    },
    /// A page of the report or the viewer could not be drawn.
    #[error("draw the page: {source}")]
    Template {
        /// The error of the template engine.
        source: minijinja::Error,
    },
    /// The run has a task that its suite does not have.
    #[error("select a task: {0}")]
    UnknownTask(#[from] tasks::UnknownTask),
}
