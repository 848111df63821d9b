//! File trees: copied, and put back file by file where they differ.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};

use super::StateError;
use super::dir::{Access, Dir, Entry, Kind, give};

/// The name under which a file is written before it takes its place.
const PART: &str = ".sandbox-part";

/// A tree and what it is to be like.
pub(super) struct TreeRestore<'a> {
    /// Which paths, relative to the state, stay as they are.
    pub(super) keep: &'a dyn Fn(&Utf8Path) -> bool,
    pub(super) access: Access,
    /// How many more entries may be removed.
    pub(super) most: usize,
}

/// Copies what stands in a folder into another one, with all that is below it.
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
    /// Makes the tree at a path in `live` like that in `golden`, with the folders on the way there.
    pub(super) fn restore_at(&mut self, golden: &Dir, live: &Dir, tree: &Utf8Path) -> Result<(), StateError> {
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

    /// Makes what stands under `name` in `live` like what stands there in `golden`. `path` is what
    /// that is relative to the state.
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
                Some(there) if same_kind && same_content(golden, live, name, &wanted, &there)? => Ok(()),
                _ => put(golden, live, name, &wanted, self.access),
            };
        }
        if !same_kind {
            put(golden, live, name, &wanted, self.access)?;
        }
        self.restore_within(&golden.folder(name)?, &live.folder(name)?, path)
    }

    /// Makes what stands in `live` like what stands in `golden`; both are at `path`.
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

/// A path below another one. What is no text is shown as well as it can be, and no path of a
/// manifest.
pub(super) fn below(path: &Utf8Path, name: &OsStr) -> Utf8PathBuf {
    path.join(&*name.to_string_lossy())
}

/// Writes one entry: a folder without what is in it, a link, or a file, which takes its place at
/// once and whole.
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
        // Whoever needs one makes it.
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
            // What an application has put there, or an interrupted restore has left.
            to.unlink(part)?;
            let mut file = to.create(part)?;
            io::copy(&mut source, &mut file).map_err(StateError::io("write", &path))?;
            give(&file, access, entry.mode, &path)?;
            let modified = source.metadata().and_then(|source| file.set_modified(source.modified()?));
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
        // Something else may have it under another name.
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
