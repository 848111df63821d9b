//! Errors of annotations.

use std::io;
use std::net::SocketAddr;

use camino::{Utf8Path, Utf8PathBuf};

/// An error that ends an annotation. The texts read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("read {path}: {why}")]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// The reason.
        why: String,
    },
    /// A suite or task cannot be read.
    #[error("load the suite: {0}")]
    Suite(#[from] tasks::Error),
    /// A task or suite file is wrong.
    #[error("load the task: {0}")]
    Task(#[from] yaml::Error),
    /// A task that cannot be annotated.
    #[error("edit {path}: {why}")]
    Unfit {
        /// The task's file.
        path: Utf8PathBuf,
        /// Why not.
        why: String,
    },
    /// An unfinished annotation has the folder.
    #[error(
        "begin: {folder} has an unfinished annotation of `{task}`; go on with --resume, or remove {folder}/.annotate"
    )]
    Unfinished {
        /// The suite's folder.
        folder: Utf8PathBuf,
        /// The task's id.
        task: String,
    },
    /// Another process works on an annotation in the folder.
    #[error(
        "annotate in {folder}: another `sandbox annotate` works there; save or discard in its panel, or end it \
         with Ctrl-C and go on with --resume, or use another folder"
    )]
    InUse {
        /// The suite's folder.
        folder: Utf8PathBuf,
    },
    /// There is no annotation to go on with.
    #[error("resume: {folder} has no unfinished annotation; leave --resume out to begin one")]
    NothingToResume {
        /// The suite's folder.
        folder: Utf8PathBuf,
    },
    /// The draft is of another version of the program.
    #[error("read {path}: {source}")]
    NewerFormat {
        /// The draft.
        path: Utf8PathBuf,
        /// The two versions.
        source: file_version::NewerVersion,
    },
    /// Another snapshot has the name of one that is to be copied.
    #[error(
        "copy {file}: {copy} is there already; leave --copy-snapshot out, or rename one of them"
    )]
    CopyExists {
        /// The snapshot.
        file: Utf8PathBuf,
        /// The file that has its name.
        copy: Utf8PathBuf,
    },
    /// A snapshot cannot be copied.
    #[error("copy {file} to {copy}: {source}")]
    Copy {
        /// The snapshot.
        file: Utf8PathBuf,
        /// The path of the copy.
        copy: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something has the place of what is to be written.
    #[error("write {path}: it is there already; choose another id, or edit it with --task")]
    Exists {
        /// The file.
        path: Utf8PathBuf,
    },
    /// Its world has something else than pages.
    #[error(
        "annotate {folder}: its world has sites that run here, and only pages of snapshots and of the live web can be \
         annotated"
    )]
    HasSites {
        /// The suite's folder.
        folder: Utf8PathBuf,
    },
    /// Nothing says what is annotated.
    #[error(
        "annotate: {folder} is no suite yet; name the first page on the live web, or a snapshot"
    )]
    NoSuite {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// A snapshot that is named is not there.
    #[error("open the snapshot {path}")]
    OpenSnapshot {
        /// The snapshot.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Neither a snapshot nor the address of a page.
    #[error("open {web}: {why}")]
    Address {
        /// What was named.
        web: String,
        /// What is wrong with it.
        why: String,
    },
    /// Snapshots do not say which page is their first.
    #[error("choose the first page: {files} has no list of pages; name it with --url")]
    NoPages {
        /// The snapshots.
        files: String,
    },
    /// The time of the world is not known.
    #[error(transparent)]
    World(Box<play::suites::SuiteError>),
    /// The task that is edited cannot be read.
    #[error("load the task")]
    EditedTask {
        /// Why not.
        source: tasks::Error,
    },
    /// The file of the task that is edited has none.
    #[error("load the task: {file} has none")]
    NoTask {
        /// The file.
        file: Utf8PathBuf,
    },
    /// The gateway before the snapshots cannot be started.
    #[error("start the gateway")]
    Gateway {
        /// Why not.
        source: gateway::StartError,
    },
    /// The live web cannot be recorded.
    #[error(transparent)]
    Recording(#[from] recorder::Error),
    /// The browser does not take the cookies and storage that pages had kept.
    #[error("give the browser what pages had kept")]
    Restore {
        /// Why not.
        source: browser::Error,
    },
    /// The recording that is to be gone on with cannot be closed.
    #[error("close the recording of {path}")]
    Close {
        /// The snapshot.
        path: Utf8PathBuf,
        /// Why not.
        source: Box<recorder::Error>,
    },
    /// The recording cannot be removed.
    #[error("remove the recording of {path}")]
    Remove {
        /// The snapshot.
        path: Utf8PathBuf,
        /// Why not.
        source: Box<recorder::Error>,
    },
    /// The panel cannot listen.
    #[error("serve the panel at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The panel's page cannot be made.
    #[error("make the panel: {0}")]
    Template(#[from] minijinja::Error),
    /// The browser is gone, or does not do what it should.
    #[error(transparent)]
    Browser(#[from] browser::Error),
    /// The first page could not be opened.
    #[error("open {url}: {source}")]
    Open {
        /// The page.
        url: String,
        /// Why not.
        source: browser::ActionError,
    },
    /// The content cannot be written as YAML or JSON.
    #[error("write {what}: {why}")]
    Encode {
        /// The file's kind, for people.
        what: String,
        /// Why not.
        why: String,
    },
}

impl From<play::suites::SuiteError> for Error {
    fn from(error: play::suites::SuiteError) -> Error {
        Error::World(Box::new(error))
    }
}

impl Error {
    pub(crate) fn read(path: &Utf8Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Read { path, source }
    }

    pub(crate) fn write(path: &Utf8Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Write { path, source }
    }
}
