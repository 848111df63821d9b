//! An output that appears whole or not at all.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::Error;

/// A hidden work folder beside the target, deleted when dropped.
#[derive(Debug)]
pub(super) struct Output {
    target: Utf8PathBuf,
    path: Utf8PathBuf,
    _folder: TempDir,
}

impl Output {
    /// Rejects an existing target before any work is done.
    pub(super) fn create(target: &Utf8Path) -> Result<Output, Error> {
        if target.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: target.to_owned() });
        }
        let parent = target
            .parent()
            .filter(|parent| !parent.as_str().is_empty())
            .unwrap_or(Utf8Path::new("."));
        let name = target.file_name().unwrap_or("snapshot");
        // Beside the target, so that the result gets there by a rename within one file system.
        let made = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".part")
            .tempdir_in(parent);
        let folder = made.map_err(|source| Error::io("create a folder in", parent, source))?;
        let path = Utf8PathBuf::from_path_buf(folder.path().join(name)).map_err(|_| {
            Error::io("create a folder in", parent, io::ErrorKind::InvalidFilename.into())
        })?;
        Ok(Output { target: target.to_owned(), path, _folder: folder })
    }

    /// Where to create the result: a file or folder with the target's name.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Moves the result to the target. If a file has appeared there meanwhile, that file is kept.
    pub(super) fn keep(self) -> Result<(), Error> {
        let moved = match renameat_with(
            CWD,
            self.path.as_std_path(),
            CWD,
            self.target.as_std_path(),
            RenameFlags::NOREPLACE,
        ) {
            // Some file systems cannot refuse to replace a file.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                self.rename_by_hand()
            }
            other => other.map_err(io::Error::from),
        };
        moved.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: self.target.clone() },
            _ => Error::io("move the result to", &self.target, source),
        })
    }

    /// For file systems without a rename that refuses to replace.
    fn rename_by_hand(&self) -> io::Result<()> {
        if self.target.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        std::fs::rename(&self.path, &self.target)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn appears_whole_and_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let target = root.join("x.wacz");
        let dropped = Output::create(&target).unwrap();
        std::fs::write(dropped.path(), "half").unwrap();
        drop(dropped);
        assert_eq!(root.read_dir_utf8().unwrap().count(), 0);

        let (first, second) = (Output::create(&target).unwrap(), Output::create(&target).unwrap());
        std::fs::write(first.path(), "first").unwrap();
        std::fs::write(second.path(), "second").unwrap();
        first.keep().unwrap();
        assert!(matches!(second.keep(), Err(Error::Exists { .. })));
        assert!(matches!(Output::create(&target), Err(Error::Exists { .. })));
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "first");
        assert_eq!(root.read_dir_utf8().unwrap().count(), 1);
    }
}
