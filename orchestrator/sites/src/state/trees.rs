//! Copies file trees, and restores them by replacing only the files that differ.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};

use super::StateError;
use super::dir::{Access, Dir, Entry, Kind, give};

/// The temporary name of a file before it replaces its target.
const PART: &str = ".sandbox-part";

/// The settings of restoring a tree.
pub(super) struct TreeRestore<'a> {
    /// Selects the paths, relative to the state, that are not changed.
    pub(super) keep: &'a dyn Fn(&Utf8Path) -> bool,
    pub(super) access: Access,
    /// How many more entries may be removed.
    pub(super) most: usize,
}

/// Copies the content of a folder into another one, recursively.
pub(super) fn copy(from: &Dir, to: &Dir, access: Access) -> Result<(), StateError> {
    for (name, entry) in from.entries(usize::MAX)? {
        put(from, to, &name, &entry, access)?;
        if entry.kind == Kind::Folder {
            copy(&from.folder(&name)?, &to.folder(&name)?, access)?;
        }
    }
    Ok(())
}

impl TreeRestore<'_> {
    /// Makes the tree at a path in `live` equal to that in `golden`, including the folders on the
    /// way there.
    pub(super) fn restore_at(
        &mut self,
        golden: &Dir,
        live: &Dir,
        tree: &Utf8Path,
    ) -> Result<(), StateError> {
        let (mut golden, mut live) = (golden.again()?, live.again()?);
        for part in tree.parent().into_iter().flat_map(Utf8Path::components) {
            let part: &OsStr = part.as_str().as_ref();
            if live.entry(part)?.is_none()
                && let Some(wanted) = golden.entry(part)?
            {
                put(&golden, &live, part, &wanted, self.access)?;
            }
            (golden, live) = (golden.folder(part)?, live.folder(part)?);
        }
        self.restore(&golden, &live, tree.file_name().unwrap_or_default().as_ref(), tree)
    }

    /// Makes the entry `name` in `live` equal to that in `golden`. `path` is the entry's path
    /// relative to the state.
    pub(super) fn restore(
        &mut self,
        golden: &Dir,
        live: &Dir,
        name: &OsStr,
        path: &Utf8Path,
    ) -> Result<(), StateError> {
        if (self.keep)(path) {
            return Ok(());
        }
        let there = live.entry(name)?;
        let Some(wanted) = golden.entry(name)?.filter(|wanted| wanted.kind != Kind::Socket) else {
            return live.remove(name, &mut self.most);
        };
        let same_kind = there.as_ref().is_some_and(|there| there.kind == wanted.kind);
        if there.is_some() && !same_kind {
            live.remove(name, &mut self.most)?;
        }
        if wanted.kind != Kind::Folder {
            return match there {
                Some(there) if same_kind && same_content(golden, live, name, &wanted, &there)? => {
                    Ok(())
                }
                _ => put(golden, live, name, &wanted, self.access),
            };
        }
        if !same_kind {
            put(golden, live, name, &wanted, self.access)?;
        }
        self.restore_within(&golden.folder(name)?, &live.folder(name)?, path)
    }

    /// Makes the content of `live` equal to that of `golden`; both are at `path`.
    pub(super) fn restore_within(
        &mut self,
        golden: &Dir,
        live: &Dir,
        path: &Utf8Path,
    ) -> Result<(), StateError> {
        let wanted = golden.names(usize::MAX)?;
        for name in live.names(wanted.len() + self.most)? {
            if wanted.binary_search(&name).is_err() && !(self.keep)(&below(path, &name)) {
                live.remove(&name, &mut self.most)?;
            }
        }
        for name in wanted {
            self.restore(golden, live, &name, &below(path, &name))?;
        }
        Ok(())
    }
}

/// The path of an entry of a folder. A name that is not valid text is shown with replacement
/// characters, and never equals a path of a manifest.
pub(super) fn below(path: &Utf8Path, name: &OsStr) -> Utf8PathBuf {
    path.join(&*name.to_string_lossy())
}

/// Writes one entry: a folder without its content, a link, or a file. A file replaces its target
/// atomically.
pub(super) fn put(
    from: &Dir,
    to: &Dir,
    name: &OsStr,
    entry: &Entry,
    access: Access,
) -> Result<(), StateError> {
    let part = OsStr::new(PART);
    match entry.kind {
        Kind::Folder => {
            to.create_folder(name)?;
            return to.folder(name)?.give(access);
        }
        // An application creates its own sockets.
        Kind::Socket => return Ok(()),
        Kind::Special => {
            let what = "it is a pipe or a device, which no copy can have".to_owned();
            return Err(StateError::Odd { path: from.path_of(name), what });
        }
        Kind::Link => {
            to.unlink(part)?;
            to.create_link(part, &from.link(name)?)?;
        }
        Kind::File => {
            let path = to.path_of(name);
            let (mut source, _) = from.file(name)?;
            // Left by an application or by an interrupted restore.
            to.unlink(part)?;
            let mut file = to.create(part)?;
            io::copy(&mut source, &mut file).map_err(StateError::io("write", &path))?;
            give(&file, access, entry.mode, &path)?;
            let modified =
                source.metadata().and_then(|source| file.set_modified(source.modified()?));
            modified.map_err(StateError::io("write", &path))?;
        }
    }
    to.rename(part, name)
}

fn same_content(
    golden: &Dir,
    live: &Dir,
    name: &OsStr,
    wanted: &Entry,
    there: &Entry,
) -> Result<bool, StateError> {
    match wanted.kind {
        Kind::Link => Ok(golden.link(name)? == live.link(name)?),
        // With another name, the file may be shared with something else.
        Kind::File if wanted.size == there.size && there.single => {
            let (a, b) = (golden.file(name)?.0, live.file(name)?.0);
            equal_files(a, b).map_err(StateError::io("compare", &live.path_of(name)))
        }
        _ => Ok(false),
    }
}

fn equal_files(mut a: File, mut b: File) -> io::Result<bool> {
    let (mut from_a, mut from_b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = a.read(&mut from_a)?;
        if count == 0 {
            return Ok(b.read(&mut from_b[..1])? == 0);
        }
        if b.read_exact(&mut from_b[..count]).is_err() || from_a[..count] != from_b[..count] {
            return Ok(false);
        }
    }
}
