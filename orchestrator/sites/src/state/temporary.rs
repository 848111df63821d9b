//! Restores an in-memory folder of a container, such as its `/tmp`, from a snapshot of its content.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::dir::{Access, Dir, Kind};
use super::{REMOVED, StateError, trees};

/// The maximum number of entries of a snapshot. A ready application has only a few; a folder with
/// more is not restored.
const MOST_ENTRIES: usize = 1000;
const MOST_BYTES: u64 = 16 << 20;

/// The folder, held open. The handle stays valid whatever happens to the container.
#[derive(Debug, Clone)]
pub(crate) struct Temporary {
    live: Arc<Dir>,
    kept: Arc<Dir>,
    /// Sockets and pipes, which cannot be copied.
    stay: BTreeSet<Utf8PathBuf>,
    access: Access,
}

impl Temporary {
    /// Copies the content of a folder of a container, given the container's root, to a folder of
    /// ours. Returns `None` if the container has no such in-memory folder, or too many entries in
    /// it.
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
        // A folder of the machine that is mounted there is not the container's to put back.
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
        Ok(Some(Temporary {
            live: Arc::new(live),
            kept: Arc::new(kept),
            stay: copying.stay,
            access,
        }))
    }

    /// Restores the folder.
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
    /// Returns whether everything could be copied.
    fn copy(&mut self, from: &Dir, to: &Dir, below: &Utf8Path) -> Result<bool, StateError> {
        for (name, entry) in from.entries(self.entries)? {
            let name: &OsStr = &name;
            let size = if entry.kind == Kind::File { entry.size } else { 0 };
            let (Some(entries), Some(bytes)) =
                (self.entries.checked_sub(1), self.bytes.checked_sub(size))
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
