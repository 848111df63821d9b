//! Covering files and folders with nothing, for all that this process starts.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_remount, move_mount,
    open_tree,
};

use super::mounts::{self, Mount};
use super::{Plan, Shown};

/// What a process sees of a folder that is covered, as options of `tmpfs`.
const EMPTY: &str = "mode=755,size=1m,nr_inodes=4k";
/// A folder that may be filled.
const SCRATCH: &str = "mode=1777";
/// What no covering may stand for.
const FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// What stays in a folder that is covered.
struct Kept {
    path: PathBuf,
    what: What,
    writable: bool,
}

enum What {
    /// The file or folder itself.
    Mount { tree: OwnedFd, is_folder: bool },
    /// A link, which leads where it led.
    Link(PathBuf),
}

/// Covers what the plan hides. Everything that stays is taken out before anything is covered: what
/// the plan shows, and what nobody has named, for which it is no error that it cannot stay.
pub(super) fn apply(plan: &Plan, unnamed: &[Shown]) -> io::Result<()> {
    let mounts = mounts::all()?;
    // In this order, so that what the plan shows is above the rest.
    let mut kept: Vec<Kept> =
        unnamed.iter().filter_map(|shown| keep(shown).ok().flatten()).collect();
    let shown = plan.shown.iter().filter_map(|shown| keep(shown).transpose());
    kept.extend(shown.collect::<io::Result<Vec<_>>>()?);
    let scratch: BTreeSet<PathBuf> =
        plan.scratch.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut covered: BTreeSet<PathBuf> = scratch.clone();
    for path in &plan.hidden {
        covered.extend(names_of(&mounts, path)?);
    }
    let mut covered: Vec<PathBuf> = covered.into_iter().collect();
    // What is in a folder that stays in a covered one is covered after it.
    covered.sort_by_key(|path| path.components().count());
    let paths: Vec<PathBuf> = kept.iter().map(|kept| kept.path.clone()).collect();
    // What is not there is not made again only to be covered.
    let there: Vec<PathBuf> =
        covered.iter().filter(|folder| is_there(folder, &covered, &paths)).cloned().collect();
    let mut inside: Vec<Vec<Kept>> = there.iter().map(|_| Vec::new()).collect();
    for kept in kept {
        let holds = |folder: &PathBuf| kept.path.starts_with(folder) && kept.path != *folder;
        if let Some(place) = there.iter().rposition(holds) {
            inside[place].push(kept);
        }
    }
    for (path, kept) in there.iter().zip(inside) {
        cover(path, kept, scratch.contains(path)).map_err(|error| naming("hide", path, &error))?;
    }
    Ok(())
}

/// Whether a folder that is to be covered is there by then: not in another one that is covered
/// before it, unless what stays of that brings it back.
fn is_there(folder: &Path, covered: &[PathBuf], kept: &[PathBuf]) -> bool {
    let outer =
        covered.iter().rfind(|outer| folder.starts_with(outer) && outer.as_path() != folder);
    outer.is_none_or(|outer| {
        let brings_back = |path: &PathBuf| folder.starts_with(path) && path.starts_with(outer);
        is_there(outer, covered, kept) && kept.iter().any(brings_back)
    })
}

/// The paths of a file or folder: without links, and by all mounts.
fn names_of(mounts: &[Mount], path: &Path) -> io::Result<Vec<PathBuf>> {
    match path.canonicalize() {
        Ok(path) => {
            let mut names = mounts::other_paths(mounts, &path);
            names.push(path);
            Ok(names)
        }
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        // What this user cannot come to, the program cannot either.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Vec::new()),
        Err(error) => Err(naming("look at", path, &error)),
    }
}

/// Takes out what stays; nothing where it is not there.
fn keep(shown: &Shown) -> io::Result<Option<Kept>> {
    let failed = |error: io::Error| naming("keep", &shown.path, &error);
    // The folder without links, the name as it is.
    let (Some(folder), Some(name)) = (shown.path.parent(), shown.path.file_name()) else {
        return Ok(None);
    };
    let folder = match folder.canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let path = folder.join(name);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let what = if metadata.is_symlink() {
        What::Link(fs::read_link(&path).map_err(failed)?)
    } else {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        let tree = open_tree(CWD, &path, flags).map_err(|error| failed(error.into()))?;
        What::Mount { tree, is_folder: metadata.is_dir() }
    };
    Ok(Some(Kept { path, what, writable: shown.writable }))
}

fn cover(path: &Path, kept: Vec<Kept>, is_scratch: bool) -> io::Result<()> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        // It was in a folder that is covered by now.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.is_dir() {
        return Ok(mount_bind("/dev/null", path)?);
    }
    let (flags, options) =
        if is_scratch { (FLAGS, SCRATCH) } else { (FLAGS | MountFlags::NOEXEC, EMPTY) };
    let data = CString::new(options).map_err(io::Error::other)?;
    mount("tmpfs", path, "tmpfs", flags, data.as_c_str())?;
    for Kept { path, what, writable } in kept {
        put_back(&path, what, writable).map_err(|error| naming("keep", &path, &error))?;
    }
    if is_scratch { Ok(()) } else { read_only(path) }
}

fn put_back(path: &Path, what: What, writable: bool) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match what {
        What::Link(target) => std::os::unix::fs::symlink(target, path),
        What::Mount { tree, is_folder } => {
            if is_folder {
                // Another may be there already, which this one is then in.
                fs::create_dir_all(path)?;
            } else if !path.exists() {
                File::create(path)?;
            }
            move_mount(&tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
            if writable { Ok(()) } else { read_only(path) }
        }
    }
}

/// Makes a mount read-only, and leaves it as it is otherwise: an ordinary user may not take
/// anything else from it.
pub(super) fn read_only(path: &Path) -> io::Result<()> {
    let known = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let is = statvfs(path)?.f_flag;
    let flags = known.into_iter().filter(|(known, _)| is.contains(*known)).map(|(_, flag)| flag);
    let flags = flags.fold(MountFlags::RDONLY | MountFlags::BIND, |all, flag| all | flag);
    Ok(mount_remount(path, flags, c"")?)
}

/// Binds a folder to its own place, where it is no mount, and makes it read-only.
pub(super) fn freeze(path: &Path) -> io::Result<()> {
    mount_bind(path, path)?;
    read_only(path)
}

pub(super) fn naming(doing: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{doing} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_covered_before_is_there_only_where_it_stays() {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
        let covered = paths(&["/tmp", "/tmp/suite", "/tmp/suite/runs/a/episodes"]);
        let is_there =
            |folder: &str, kept: &[&str]| is_there(Path::new(folder), &covered, &paths(kept));
        assert!(is_there("/tmp", &[]));
        assert!(!is_there("/tmp/suite", &["/tmp/suite/agent.py"]));
        assert!(is_there("/tmp/suite", &["/tmp/suite"]));
        assert!(!is_there("/tmp/suite/runs/a/episodes", &["/tmp/suite/runs"]));
        assert!(is_there("/tmp/suite/runs/a/episodes", &["/tmp/suite", "/tmp/suite/runs"]));
    }
}
