//! A folder in a container's memory, such as its `/tmp`, put back as it was when it was first seen.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::dir::{Access, Dir, Kind};
use super::{REMOVED, StateError, trees};

/// What an application has there when it is ready is little: with more it is left alone.
const MOST_ENTRIES: usize = 1000;
const MOST_BYTES: u64 = 16 << 20;

/// The folder, held open: it stays the container's, whatever becomes of the container.
#[derive(Debug, Clone)]
pub(crate) struct Temporary {
    live: Arc<Dir>,
    kept: Arc<Dir>,
    /// Sockets and pipes, which cannot be copied.
    stay: BTreeSet<Utf8PathBuf>,
    access: Access,
}

impl Temporary {
    /// Copies what stands in a folder of a container, whose root is given, to a folder of ours.
    /// None where the container has no such folder in memory, or too much in it.
    pub(crate) fn remember(
        root: &Utf8Path,
        name: &str,
        kept: &Utf8Path,
        access: Access,
    ) -> Result<Option<Temporary>, StateError> {
        let root = Dir::open(root)?;
        if !root.entry(name.as_ref())?.is_some_and(|entry| entry.kind == Kind::Folder) {
            return Ok(None);
        }
        let live = root.folder(name.as_ref())?;
        if !live.is_in_memory()? || live.is_of_this_machine(&Utf8Path::new("/").join(name))? {
            return Ok(None);
        }
        std::fs::create_dir_all(kept).map_err(StateError::io("create", kept))?;
        let kept = Dir::open(kept)?;
        let mut copying =
            TreeCopy { access, entries: MOST_ENTRIES, bytes: MOST_BYTES, stay: BTreeSet::new() };
        if !copying.copy(&live, &kept, Utf8Path::new(""))? {
            return Ok(None);
        }
        Ok(Some(Temporary { live: Arc::new(live), kept: Arc::new(kept), stay: copying.stay, access }))
    }

    /// Makes the folder as it was.
    pub(crate) fn restore(&self) -> Result<(), StateError> {
        let keep = |path: &Utf8Path| self.stay.contains(path);
        let mut restoring = trees::TreeRestore { keep: &keep, access: self.access, most: REMOVED };
        restoring.restore_within(&self.kept, &self.live, Utf8Path::new(""))
    }
}

struct TreeCopy {
    access: Access,
    entries: usize,
    bytes: u64,
    stay: BTreeSet<Utf8PathBuf>,
}

impl TreeCopy {
    /// Whether all could be copied.
    fn copy(&mut self, from: &Dir, to: &Dir, below: &Utf8Path) -> Result<bool, StateError> {
        for (name, entry) in from.entries(self.entries)? {
            let name: &OsStr = &name;
            let size = if entry.kind == Kind::File { entry.size } else { 0 };
            let (Some(entries), Some(bytes)) = (self.entries.checked_sub(1), self.bytes.checked_sub(size))
            else {
                return Ok(false);
            };
            (self.entries, self.bytes) = (entries, bytes);
            let path = trees::below(below, name);
            match entry.kind {
                Kind::Socket | Kind::Special => drop(self.stay.insert(path)),
                Kind::File | Kind::Link => trees::put(from, to, name, &entry, self.access)?,
                Kind::Folder => {
                    trees::put(from, to, name, &entry, self.access)?;
                    if !self.copy(&from.folder(name)?, &to.folder(name)?, &path)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}
