//! The daemon's folder on disk, with its socket, lock and log.

use std::fs::{self, File};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use container_images::Engine;
use sites::{SweepReport, SweepScope};

use crate::Error;

/// The maximum length of a socket path on Linux, in bytes.
const LONGEST: usize = 107;

/// The folder of a daemon: `control` is its socket, `lock` is locked while it runs, and `log` is
/// its log. The file `containers` exists while the daemon may have resources on a container engine.
#[derive(Debug, Clone)]
pub struct Folder(Utf8PathBuf);

impl Folder {
    /// The folder at `path`, which need not exist.
    pub fn new(path: Utf8PathBuf) -> Folder {
        Folder(path)
    }

    /// Its path.
    pub fn path(&self) -> &Utf8Path {
        &self.0
    }

    /// Creates the folder if it is missing.
    ///
    /// # Errors
    /// When the folder cannot be created, or its path is too long for a socket in it.
    pub fn make(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.0).map_err(Error::file("make", &self.0))?;
        let socket = self.socket();
        if socket.as_str().len() > LONGEST {
            return Err(Error::PathTooLong { path: socket, most: LONGEST });
        }
        Ok(())
    }

    /// The log of the running daemon, or of the last one.
    pub fn log(&self) -> Utf8PathBuf {
        self.0.join("log")
    }

    /// Whether a daemon holds the folder: from before its socket accepts connections until
    /// everything is removed.
    ///
    /// # Errors
    /// When the lock cannot be checked.
    pub fn is_held(&self) -> Result<bool, Error> {
        if !self.0.exists() {
            return Ok(false);
        }
        match self.lock() {
            Ok(_) => Ok(false),
            Err(Error::AlreadyUp) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Removes what a killed daemon has left: its socket, and the processes and folders of its
    /// instances.
    ///
    /// # Errors
    /// When a daemon holds the folder, or something cannot be removed.
    pub async fn sweep(&self) -> Result<(), Error> {
        if !self.0.exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        sites::sweep_folder(&self.0).await?;
        self.clear()
    }

    /// Whether a daemon of this folder may have left resources on a container engine that nobody
    /// has removed yet.
    pub fn has_containers(&self) -> bool {
        self.containers().exists()
    }

    /// Removes containers and networks that daemons and runs have left on the container engine.
    /// None if there is no engine and nothing of this folder on it, or if only resources of others
    /// could not be removed: this daemon is down all the same.
    ///
    /// # Errors
    /// When something of this folder may be left.
    pub async fn sweep_engine(&self, whose: SweepScope) -> Result<Option<SweepReport>, Error> {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(source) if self.has_containers() => return Err(Error::NotSwept { source }),
            Err(_) => return Ok(None),
        };
        match sites::sweep(&engine, whose).await {
            Err(error) if whose == SweepScope::Orphans && !self.has_containers() => {
                tracing::warn!(%error, "what dead daemons have left could not be removed");
                Ok(None)
            }
            swept => swept.map(Some).map_err(|source| Error::Sweep { source }),
        }
    }

    /// Records that this folder has no resources on a container engine.
    ///
    /// # Errors
    /// When the marker file cannot be removed.
    pub fn forget_containers(&self) -> Result<(), Error> {
        remove(&self.containers())
    }

    /// Records that this folder will have resources on a container engine.
    pub(crate) fn note_containers(&self) -> Result<(), Error> {
        let path = self.containers();
        File::create(&path).map(drop).map_err(Error::file("write", &path))
    }

    fn containers(&self) -> Utf8PathBuf {
        self.0.join("containers")
    }

    /// Truncates the log of the last daemon.
    pub(crate) fn begin_log(&self) -> Result<(), Error> {
        let path = self.log();
        let emptied = File::options().write(true).create(true).truncate(true).open(&path);
        emptied.map(drop).map_err(Error::file("empty", &path))
    }

    pub(crate) fn socket(&self) -> Utf8PathBuf {
        self.0.join("control")
    }

    /// The socket of the gateway, for browsers of this user.
    pub fn gateway(&self) -> Utf8PathBuf {
        self.0.join("gateway")
    }

    /// Takes the lock, which excludes other daemons as long as the file is open.
    pub(crate) fn lock(&self) -> Result<File, Error> {
        let path = self.0.join("lock");
        let file = File::create(&path).map_err(Error::file("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Err(Error::AlreadyUp),
            Err(fs::TryLockError::Error(source)) => Err(Error::file("lock", &path)(source)),
        }
    }

    /// Removes the socket of a dead daemon.
    pub(crate) fn clear(&self) -> Result<(), Error> {
        remove(&self.gateway())?;
        remove(&self.socket())
    }
}

/// Removes a file if it exists.
fn remove(path: &Utf8Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}
