//! Handles on folders that somebody else can change while we read them.
//!
//! Every step goes from one handle to one name in it and follows no link. So replacing a folder by
//! a link never leads out of the tree. New files are created only under unused names. Only regular
//! files are opened for reading: a pipe or a device would block the reader.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, RawMode, Uid};
use rustix::io::Errno;

use super::StateError;

/// An open folder. Its path is for messages only.
#[derive(Debug)]
pub(crate) struct Dir {
    handle: OwnedFd,
    path: Utf8PathBuf,
}

/// The type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A socket, which has no content.
    Socket,
    /// A pipe or a device.
    Special,
}

/// One entry of a folder, at the time it was read.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    /// The bytes that it occupies.
    disk: u64,
    /// Its permissions.
    pub(crate) mode: RawMode,
    /// Whether the file has only this name.
    pub(crate) single: bool,
    owner: (u32, u32),
    /// Identifies the file on this machine.
    identity: (u64, u64),
}

/// The users who can access a copied file besides this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only this user and group.
    Only(u32, u32),
    /// Only the user of this process.
    Own,
    /// Everybody who reaches the folder: the programs of one container may have several users.
    Everybody,
}

impl Dir {
    /// Opens the folder at a path that only we can change.
    pub(crate) fn open(path: &Utf8Path) -> Result<Dir, StateError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let handle = fs::open(path.as_std_path(), flags, Mode::empty());
        Ok(Dir { handle: handle.map_err(failed("open", path))?, path: path.to_owned() })
    }

    /// The handle itself, to pass the folder to the kernel.
    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Whether its file system is in memory.
    pub(crate) fn is_in_memory(&self) -> Result<bool, StateError> {
        let found = fs::fstatfs(&self.handle).map_err(failed("look at", &self.path))?;
        Ok(found.f_type == TMPFS)
    }

    /// Whether it is this folder of the machine, and not one of a container.
    pub(crate) fn is_of_this_machine(&self, path: &Utf8Path) -> Result<bool, StateError> {
        let own = Entry::of(&fs::fstat(&self.handle).map_err(failed("look at", &self.path))?);
        // If the machine does not have the folder, it is a different one.
        Ok(fs::stat(path.as_std_path())
            .is_ok_and(|there| Entry::of(&there).identity == own.identity))
    }

    /// The path of an entry, for messages.
    pub(crate) fn path_of(&self, name: &OsStr) -> Utf8PathBuf {
        self.path.join(&*name.to_string_lossy())
    }

    /// Opens the folder of this name.
    ///
    /// # Errors
    /// Also when the entry is a link.
    pub(crate) fn folder(&self, name: &OsStr) -> Result<Dir, StateError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let path = self.path_of(name);
        let handle =
            fs::openat(&self.handle, name, flags, Mode::empty()).map_err(failed("open", &path))?;
        Ok(Dir { handle, path })
    }

    /// Opens the folder at a relative path, through folders only.
    pub(crate) fn folder_at(&self, path: &Utf8Path) -> Result<Dir, StateError> {
        let mut dir = self.again()?;
        for part in path.components() {
            dir = dir.folder(part.as_str().as_ref())?;
        }
        Ok(dir)
    }

    /// Opens another handle on the same folder.
    pub(crate) fn again(&self) -> Result<Dir, StateError> {
        let handle = self.handle.try_clone().map_err(StateError::io("open", &self.path))?;
        Ok(Dir { handle, path: self.path.clone() })
    }

    /// The names of its entries, sorted. More than `most` names are an error.
    pub(crate) fn names(&self, most: usize) -> Result<Vec<OsString>, StateError> {
        let listing = || failed("list", &self.path);
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.handle).map_err(listing())? {
            let entry = entry.map_err(listing())?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == most {
                let what = format!("it holds more than {most} entries");
                return Err(StateError::Odd { path: self.path.clone(), what });
            }
            names.push(OsString::from_vec(name.to_owned()));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Its entries, by name.
    pub(crate) fn entries(&self, most: usize) -> Result<BTreeMap<OsString, Entry>, StateError> {
        let mut found = BTreeMap::new();
        for name in self.names(most)? {
            // An entry that disappears after the listing is skipped.
            if let Some(entry) = self.entry(&name)? {
                found.insert(name, entry);
            }
        }
        Ok(found)
    }

    /// The entry of this name, if it exists.
    pub(crate) fn entry(&self, name: &OsStr) -> Result<Option<Entry>, StateError> {
        match fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Entry::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed("look at", &self.path_of(name))(error)),
        }
    }

    /// Opens a regular file for reading, and returns its entry.
    pub(crate) fn file(&self, name: &OsStr) -> Result<(File, Entry), StateError> {
        // With this flag a pipe opens at once; it is rejected below.
        self.open_regular(name, OFlags::RDONLY | OFlags::NONBLOCK)
    }

    /// A handle that refers to a regular file, but neither reads nor locks it.
    pub(crate) fn reference(&self, name: &OsStr) -> Result<(File, Entry), StateError> {
        self.open_regular(name, OFlags::PATH)
    }

    fn open_regular(&self, name: &OsStr, flags: OFlags) -> Result<(File, Entry), StateError> {
        let path = self.path_of(name);
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle =
            fs::openat(&self.handle, name, flags, Mode::empty()).map_err(failed("open", &path))?;
        let entry = Entry::of(&fs::fstat(&handle).map_err(failed("look at", &path))?);
        match entry.kind {
            Kind::File => Ok((File::from(handle), entry)),
            _ => Err(StateError::Odd { path, what: "it is no regular file".to_owned() }),
        }
    }

    /// Makes sure that an opened file has no other name. A file with another name may belong to
    /// somebody else.
    pub(crate) fn is_only_here(&self, name: &OsStr, opened: &Entry) -> Result<(), StateError> {
        // The link count at the time of opening may have been read between two link operations.
        match self.entry(name)? {
            Some(entry) if entry.identity == opened.identity && entry.single => Ok(()),
            _ => Err(StateError::Odd {
                path: self.path_of(name),
                what: "it has another name".to_owned(),
            }),
        }
    }

    /// Creates a file under an unused name.
    pub(crate) fn create(&self, name: &OsStr) -> Result<File, StateError> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let handle = fs::openat(&self.handle, name, flags, Mode::from_raw_mode(0o600));
        Ok(File::from(handle.map_err(failed("create", &self.path_of(name)))?))
    }

    /// Creates a folder. An existing folder stays.
    pub(crate) fn create_folder(&self, name: &OsStr) -> Result<(), StateError> {
        match fs::mkdirat(&self.handle, name, Mode::from_raw_mode(0o700)) {
            Err(error) if error != Errno::EXIST => {
                Err(failed("create", &self.path_of(name))(error))
            }
            _ => Ok(()),
        }
    }

    /// Creates a link under an unused name.
    pub(crate) fn create_link(&self, name: &OsStr, target: &OsStr) -> Result<(), StateError> {
        fs::symlinkat(target, &self.handle, name).map_err(failed("create", &self.path_of(name)))
    }

    /// The target of a link.
    pub(crate) fn link(&self, name: &OsStr) -> Result<OsString, StateError> {
        let target = fs::readlinkat(&self.handle, name, Vec::new());
        let target = target.map_err(failed("read", &self.path_of(name)))?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Renames an entry, and replaces an existing one.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<(), StateError> {
        fs::renameat(&self.handle, from, &self.handle, to)
            .map_err(failed("write", &self.path_of(to)))
    }

    /// Removes a file, a link or a special file, if it exists.
    pub(crate) fn unlink(&self, name: &OsStr) -> Result<(), StateError> {
        match fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => {
                Err(failed("remove", &self.path_of(name))(error))
            }
            _ => Ok(()),
        }
    }

    /// Restricts this folder itself to those with `access`.
    pub(crate) fn give(&self, access: Access) -> Result<(), StateError> {
        give(&self.handle, access, 0o111, &self.path)
    }

    /// The bytes that it occupies with everything below it; a value above `most` if it is more.
    /// Folders that are nested too deep count as above any limit.
    pub(crate) fn disk_usage(&self, most: u64, deepest: usize) -> Result<u64, StateError> {
        let Some(deepest) = deepest.checked_sub(1) else { return Ok(u64::MAX) };
        let mut bytes = 0_u64;
        let names = match self.names(usize::try_from(most / SMALLEST).unwrap_or(usize::MAX)) {
            Ok(names) => names,
            Err(StateError::Odd { .. }) => return Ok(u64::MAX),
            Err(error) => return Err(error),
        };
        for name in names {
            let Some(entry) = self.entry(&name)? else { continue };
            bytes = bytes.saturating_add(entry.disk.max(SMALLEST));
            if entry.kind == Kind::Folder {
                let left = most.saturating_sub(bytes);
                let inner = self.folder(&name).and_then(|inner| inner.disk_usage(left, deepest));
                bytes = match inner {
                    Ok(inner) => bytes.saturating_add(inner),
                    // The entry was replaced or removed during the measurement.
                    Err(StateError::Odd { .. } | StateError::Io { .. }) => bytes,
                    Err(error) => return Err(error),
                };
            }
            if bytes > most {
                break;
            }
        }
        Ok(bytes)
    }

    /// Removes an entry with everything below it.
    ///
    /// # Errors
    /// Also when it has more than `most` entries. Then some of them are removed already.
    pub(crate) fn remove(&self, name: &OsStr, most: &mut usize) -> Result<(), StateError> {
        match self.entry(name)? {
            None => return Ok(()),
            Some(Entry { kind: Kind::Folder, .. }) => {}
            Some(_) => return self.unlink(name),
        }
        let mut open = vec![Leaving::open(self, name, most)?];
        while let Some(last) = open.last_mut() {
            let Some(inner) = last.inner.pop() else {
                let name = std::mem::take(&mut last.name);
                open.pop();
                open.last().map_or(self, |parent| &parent.dir).remove_empty(&name)?;
                continue;
            };
            if open.len() < DEEP {
                let inner =
                    open.last().map(|last| Leaving::open(&last.dir, &inner, most)).transpose()?;
                open.extend(inner);
            } else {
                raise(&mut open, &inner)?;
            }
        }
        Ok(())
    }

    fn remove_empty(&self, name: &OsStr) -> Result<(), StateError> {
        match fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR) {
            Err(error) if error != Errno::NOENT => {
                Err(failed("remove", &self.path_of(name))(error))
            }
            _ => Ok(()),
        }
    }
}

/// A folder that is being removed. Only subfolders are left in it.
struct Leaving {
    name: OsString,
    dir: Dir,
    inner: Vec<OsString>,
}

impl Leaving {
    fn open(parent: &Dir, name: &OsStr, most: &mut usize) -> Result<Leaving, StateError> {
        let dir = parent.folder(name)?;
        let names = dir.names(*most)?;
        *most -= names.len();
        let mut inner = Vec::new();
        for name in names {
            match dir.entry(&name)? {
                Some(Entry { kind: Kind::Folder, .. }) => inner.push(name),
                _ => dir.unlink(&name)?,
            }
        }
        Ok(Leaving { name: name.to_owned(), dir, inner })
    }
}

/// Moves a subfolder of the innermost folder up into the outermost one, because every level needs
/// an open handle.
fn raise(open: &mut [Leaving], name: &OsStr) -> Result<(), StateError> {
    let [top, .., last] = open else { return Ok(()) };
    let mut number = 0;
    let free = loop {
        let free = OsString::from(format!(".sandbox-raised-{number}"));
        match top.dir.entry(&free)? {
            None => break free,
            Some(_) => number += 1,
        }
    };
    let moved = fs::renameat(&last.dir.handle, name, &top.dir.handle, &*free);
    moved.map_err(failed("remove", &last.dir.path_of(name)))?;
    top.inner.push(free);
    Ok(())
}

/// The kernel's magic number of an in-memory file system.
const TMPFS: fs::FsWord = 0x0102_1994;

/// The minimum size that an entry counts for: empty files also use space of the file system.
const SMALLEST: u64 = 4096;

/// How many nested folders are held open during a removal.
const DEEP: usize = 64;

impl Entry {
    fn of(stat: &fs::Stat) -> Entry {
        Entry {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => Kind::Folder,
                FileType::RegularFile => Kind::File,
                FileType::Symlink => Kind::Link,
                FileType::Socket => Kind::Socket,
                _ => Kind::Special,
            },
            size: u64::try_from(stat.st_size).unwrap_or(0),
            disk: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512),
            mode: stat.st_mode & 0o7777,
            single: stat.st_nlink == 1,
            owner: (stat.st_uid, stat.st_gid),
            identity: (stat.st_dev, stat.st_ino),
        }
    }

    /// Gives a new file the owner of this entry, for example a database's log the owner of the
    /// database.
    pub(crate) fn give_alike(&self, file: &File, path: &Utf8Path) -> Result<(), StateError> {
        fs::fchmod(file, Mode::from_raw_mode(self.mode & 0o666)).map_err(failed("write", path))?;
        own(file, self.owner, path)
    }
}

/// Sets who can access a file or folder; `executable` are its bits of 0o111.
pub(crate) fn give(
    handle: impl std::os::fd::AsFd,
    access: Access,
    executable: RawMode,
    path: &Utf8Path,
) -> Result<(), StateError> {
    let mode = match access {
        Access::Everybody => 0o666 | executable & 0o111,
        Access::Only(..) | Access::Own => 0o600 | executable & 0o100,
    };
    fs::fchmod(&handle, Mode::from_raw_mode(mode)).map_err(failed("write", path))?;
    match access {
        Access::Only(user, group) => own(handle, (user, group), path),
        Access::Own | Access::Everybody => Ok(()),
    }
}

fn own(
    handle: impl std::os::fd::AsFd,
    (user, group): (u32, u32),
    path: &Utf8Path,
) -> Result<(), StateError> {
    // Without root, everything that we create already belongs to us.
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owned = fs::fchown(handle, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
    owned.map_err(failed("write", path))
}

/// An entry of an unexpected type is the application's doing; all other errors are failures.
fn failed(doing: &'static str, path: &Utf8Path) -> impl FnOnce(Errno) -> StateError {
    let path = path.to_owned();
    move |error| match error {
        Errno::LOOP
        | Errno::NOTDIR
        | Errno::ISDIR
        | Errno::EXIST
        | Errno::NOTEMPTY
        | Errno::NXIO
        | Errno::ACCESS => {
            StateError::Odd { path, what: format!("{doing}: {}", io::Error::from(error)) }
        }
        _ => StateError::Io { doing, path, source: error.into() },
    }
}
