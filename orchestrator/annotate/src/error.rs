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
